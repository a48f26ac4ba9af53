//! The calls, one function each.

use std::time::Duration;

use api::admin::v1 as admin;
use api::convert::{AUTHOR_CHARS_MAX, AUTHOR_HEADER};
use api::v1;
use tonic::metadata::AsciiMetadataValue;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Streaming};

use super::CallError;
use crate::generated::client::admin::block_service_client::BlockServiceClient;
use crate::generated::client::admin::export_service_client::ExportServiceClient;
use crate::generated::client::admin::filter_service_client::FilterServiceClient;
use crate::generated::client::admin::namespace_service_client::NamespaceServiceClient;
use crate::generated::client::admin::ops_service_client::OpsServiceClient;
use crate::generated::client::admin::read_mode_service_client::ReadModeServiceClient;
use crate::generated::client::admin::split_service_client::SplitServiceClient;
use crate::generated::client::admin::tuning_service_client::TuningServiceClient;
use crate::generated::client::v1::time_series_service_client::TimeSeriesServiceClient;

/// How long reaching the server may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Answers may be this large: a page is at most 3.5 MiB, other answers are lists of namespaces and slices.
pub(super) const ANSWER_BYTES_MAX: usize = 16 << 20;
/// A page of an export ends with the row that makes it full, and the largest row is a chunk with an event of many large items: the
/// most that a store takes in one batch, 16 MiB.
const EXPORT_BYTES_MAX: usize = 32 << 20;
/// A page travels without waiting for the reader.
const STREAM_WINDOW_BYTES: u32 = 4 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 8 << 20;
/// In few pieces: the protocol's own 16 KiB cost a page two hundred of them.
const FRAME_BYTES: u32 = 256 << 10;

/// Talks to one server. Clones share a connection, which is made at the first call and again when it is lost.
#[derive(Clone, Debug)]
pub struct Client {
    /// What all of these go through.
    pub(super) channel: Channel,
    events: TimeSeriesServiceClient<Channel>,
    namespaces: NamespaceServiceClient<Channel>,
    blocks: BlockServiceClient<Channel>,
    pub(super) splits: SplitServiceClient<Channel>,
    pub(super) read_modes: ReadModeServiceClient<Channel>,
    pub(super) filters: FilterServiceClient<Channel>,
    pub(super) tuning: TuningServiceClient<Channel>,
    pub(super) exports: ExportServiceClient<Channel>,
    ops: OpsServiceClient<Channel>,
    /// Who asks for changes.
    author: Option<AsciiMetadataValue>,
}

pub(super) type Answer<T> = Result<T, CallError>;

impl Client {
    /// A client for the server at `url`, such as `http://127.0.0.1:7420`; the scheme may be left out.
    pub fn new(url: &str) -> Answer<Self> {
        let full = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        let wrong = |problem: &dyn std::fmt::Display| {
            CallError::usage(format!("`{url}` is not the address of a server ({problem}); write host:port"))
        };
        if !full.starts_with("http://") {
            return Err(wrong(&"only http is served"));
        }
        let channel = Endpoint::from_shared(full)
            .map_err(|error| wrong(&error))?
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_nodelay(true)
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .max_frame_size(FRAME_BYTES)
            .connect_lazy();
        Ok(Self {
            events: TimeSeriesServiceClient::new(channel.clone()).max_decoding_message_size(ANSWER_BYTES_MAX),
            namespaces: NamespaceServiceClient::new(channel.clone())
                .max_decoding_message_size(ANSWER_BYTES_MAX),
            blocks: BlockServiceClient::new(channel.clone()).max_decoding_message_size(ANSWER_BYTES_MAX),
            splits: SplitServiceClient::new(channel.clone()).max_decoding_message_size(ANSWER_BYTES_MAX),
            read_modes: ReadModeServiceClient::new(channel.clone())
                .max_decoding_message_size(ANSWER_BYTES_MAX),
            filters: FilterServiceClient::new(channel.clone()).max_decoding_message_size(ANSWER_BYTES_MAX),
            tuning: TuningServiceClient::new(channel.clone()).max_decoding_message_size(ANSWER_BYTES_MAX),
            exports: ExportServiceClient::new(channel.clone()).max_decoding_message_size(EXPORT_BYTES_MAX),
            ops: OpsServiceClient::new(channel.clone()).max_decoding_message_size(ANSWER_BYTES_MAX),
            channel,
            author: None,
        })
    }

    /// Asks for changes in this name, as far as it can be sent.
    #[must_use]
    pub fn with_author(self, author: &str) -> Self {
        let plain: String = author.chars().filter(|c| !c.is_control()).take(AUTHOR_CHARS_MAX).collect();
        let author = Some(plain).filter(|plain| !plain.trim().is_empty());
        Self {
            author: author.and_then(|plain| AsciiMetadataValue::try_from(plain.into_bytes()).ok()),
            ..self
        }
    }

    pub(super) fn asked<T>(&self, request: T) -> Request<T> {
        let mut request = Request::new(request);
        if let Some(author) = &self.author {
            request.metadata_mut().insert(AUTHOR_HEADER, author.clone());
        }
        request
    }

    /// Writes events; they are durable when this returns.
    pub async fn write_synced(
        &self,
        request: v1::WriteEventRecordsRequest,
    ) -> Answer<v1::WriteEventRecordsResponse> {
        Ok(self.events.clone().write_event_records_sync(request).await?.into_inner())
    }

    /// Queues events.
    pub async fn write_queued(
        &self,
        request: v1::WriteEventRecordsRequest,
    ) -> Answer<v1::WriteEventRecordsResponse> {
        Ok(self.events.clone().write_event_records(request).await?.into_inner())
    }

    /// Reads one page.
    pub async fn read(&self, request: v1::ReadEventRecordsRequest) -> Answer<v1::ReadEventRecordsResponse> {
        Ok(self.events.clone().read_event_records(request).await?.into_inner())
    }

    /// Reads one page of what matches a query.
    pub async fn search(
        &self,
        request: v1::SearchEventRecordsRequest,
    ) -> Answer<v1::ReadEventRecordsResponse> {
        Ok(self.events.clone().search_event_records(request).await?.into_inner())
    }

    /// Counts or sums up what matches a query: one answer.
    pub async fn aggregate(
        &self,
        request: v1::AggregateEventRecordsRequest,
    ) -> Answer<v1::AggregateEventRecordsResponse> {
        Ok(self.events.clone().aggregate_event_records(request).await?.into_inner())
    }

    /// Reads one page and tells what that took.
    pub async fn explain(&self, request: v1::ReadEventRecordsRequest) -> Answer<v1::ExplainReadResponse> {
        Ok(self.events.clone().explain_read(request).await?.into_inner())
    }

    /// Reads all pages.
    pub async fn stream(&self, request: v1::ReadEventRecordsRequest) -> Answer<Pages> {
        Ok(Pages { pages: self.events.clone().stream_event_records(request).await?.into_inner() })
    }

    /// Makes a namespace.
    pub async fn create_namespace(&self, request: admin::CreateNamespaceRequest) -> Answer<admin::Namespace> {
        Ok(self.namespaces.clone().create_namespace(self.asked(request)).await?.into_inner())
    }

    /// One namespace.
    pub async fn get_namespace(&self, name: &str) -> Answer<admin::Namespace> {
        let request = admin::GetNamespaceRequest { name: name.to_owned() };
        Ok(self.namespaces.clone().get_namespace(request).await?.into_inner())
    }

    /// All namespaces.
    pub async fn list_namespaces(&self) -> Answer<admin::ListNamespacesResponse> {
        Ok(self.namespaces.clone().list_namespaces(admin::ListNamespacesRequest {}).await?.into_inner())
    }

    /// Changes a namespace.
    pub async fn update_namespace(&self, request: admin::UpdateNamespaceRequest) -> Answer<admin::Namespace> {
        Ok(self.namespaces.clone().update_namespace(self.asked(request)).await?.into_inner())
    }

    /// Deletes a namespace with its data.
    pub async fn delete_namespace(
        &self,
        request: admin::DeleteNamespaceRequest,
    ) -> Answer<admin::DeleteNamespaceResponse> {
        Ok(self.namespaces.clone().delete_namespace(self.asked(request)).await?.into_inner())
    }

    /// A shape and a cluster for a workload that is only guessed.
    pub async fn plan_namespace(
        &self,
        request: admin::PlanNamespaceRequest,
    ) -> Answer<admin::PlanNamespaceResponse> {
        Ok(self.namespaces.clone().plan_namespace(request).await?.into_inner())
    }

    /// The slices of a namespace.
    pub async fn list_slices(&self, namespace: &str) -> Answer<admin::ListSlicesResponse> {
        let request = admin::ListSlicesRequest { namespace: namespace.to_owned() };
        Ok(self.namespaces.clone().list_slices(request).await?.into_inner())
    }

    /// How large the partitions of slices are.
    pub async fn partition_histogram(
        &self,
        request: admin::GetPartitionHistogramRequest,
    ) -> Answer<admin::GetPartitionHistogramResponse> {
        Ok(self.namespaces.clone().get_partition_histogram(request).await?.into_inner())
    }

    /// The widest partitions that are known.
    pub async fn list_wide_partitions(
        &self,
        request: admin::ListWidePartitionsRequest,
    ) -> Answer<admin::ListWidePartitionsResponse> {
        Ok(self.namespaces.clone().list_wide_partitions(request).await?.into_inner())
    }

    /// Opens a range of time for old events.
    pub async fn begin_backfill(&self, request: admin::BeginBackfillRequest) -> Answer<admin::Backfill> {
        Ok(self.namespaces.clone().begin_backfill(self.asked(request)).await?.into_inner())
    }

    /// Ends a backfill.
    pub async fn end_backfill(
        &self,
        request: admin::EndBackfillRequest,
    ) -> Answer<admin::EndBackfillResponse> {
        Ok(self.namespaces.clone().end_backfill(self.asked(request)).await?.into_inner())
    }

    /// The backfills of a namespace.
    pub async fn list_backfills(&self, namespace: &str) -> Answer<admin::ListBackfillsResponse> {
        let request = admin::ListBackfillsRequest { namespace: namespace.to_owned() };
        Ok(self.namespaces.clone().list_backfills(request).await?.into_inner())
    }

    /// Blocks ids.
    pub async fn add_blocks(&self, request: admin::AddBlockRequest) -> Answer<admin::AddBlockResponse> {
        Ok(self.blocks.clone().add_block(self.asked(request)).await?.into_inner())
    }

    /// Unblocks ids.
    pub async fn remove_blocks(
        &self,
        request: admin::RemoveBlockRequest,
    ) -> Answer<admin::RemoveBlockResponse> {
        Ok(self.blocks.clone().remove_block(self.asked(request)).await?.into_inner())
    }

    /// One page of the blocked ids of a namespace.
    pub async fn list_blocks(&self, request: admin::ListBlocksRequest) -> Answer<admin::ListBlocksResponse> {
        Ok(self.blocks.clone().list_blocks(request).await?.into_inner())
    }

    /// What runs there.
    pub async fn server_info(&self) -> Answer<admin::ServerInfo> {
        Ok(self.ops.clone().get_server_info(admin::GetServerInfoRequest {}).await?.into_inner())
    }

    /// All servers.
    pub async fn list_workers(&self) -> Answer<admin::ListWorkersResponse> {
        Ok(self.ops.clone().list_workers(admin::ListWorkersRequest {}).await?.into_inner())
    }

    /// One page of who changed what.
    pub async fn list_audit(&self, request: admin::ListAuditRequest) -> Answer<admin::ListAuditResponse> {
        Ok(self.ops.clone().list_audit(request).await?.into_inner())
    }
}

/// Pages that are being read.
#[derive(Debug)]
pub struct Pages {
    pages: Streaming<v1::ReadEventRecordsResponse>,
}

impl Pages {
    /// The next page; none at the end.
    pub async fn next(&mut self) -> Answer<Option<v1::ReadEventRecordsResponse>> {
        Ok(self.pages.message().await?)
    }
}
