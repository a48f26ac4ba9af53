//! `TimeSeriesService`: events in, events out.

use api::convert::{
    EncodedPage, Read, read_request, read_response, search_request, write_request, write_response,
};
use api::v1;
use engine::{Error, ReadPage, Result as Answer, WriteAnswer, WriteRequest};
use futures::stream::BoxStream;
use tonic::{Request, Response, Status};

use super::Host;
use super::stream::pages;
use crate::generated::server::v1::time_series_service_server::TimeSeriesService;
use crate::status::status;

/// Pages of a stream have so many events where the client names no number.
const STREAM_PAGE_RECORDS: i32 = 4_000;

/// The service.
pub(crate) struct TimeSeries {
    pub(crate) host: Host,
}

impl TimeSeries {
    fn asked(&self, wire: v1::ReadEventRecordsRequest) -> Answer<Read> {
        read_request(wire, &self.host.keys, self.host.env.clock.wall())
    }
}

/// Writes by one of the engine's two ways.
async fn write<W: Future<Output = Answer<WriteAnswer>>>(
    wire: v1::WriteEventRecordsRequest,
    by: impl FnOnce(WriteRequest) -> W,
) -> Answer<v1::WriteEventRecordsResponse> {
    let request = write_request(wire)?;
    let namespace = request.namespace.clone();
    Ok(write_response(&namespace, by(request).await?))
}

/// Reads one page and shows it.
async fn read_page(host: &Host, read: &Read) -> Answer<EncodedPage> {
    show(host, read, host.engine.read(read.request.clone()).await?)
}

/// A page of `read` as it is sent.
pub(super) fn show(host: &Host, read: &Read, page: ReadPage) -> Answer<EncodedPage> {
    read_response(&read.request.namespace, page, &read.query, &host.keys, host.env.clock.wall())
}

#[tonic::async_trait]
impl TimeSeriesService for TimeSeries {
    async fn write_event_records_sync(
        &self,
        request: Request<v1::WriteEventRecordsRequest>,
    ) -> Result<Response<v1::WriteEventRecordsResponse>, Status> {
        answer(write(request.into_inner(), |request| self.host.engine.write_synced(request))).await
    }

    async fn write_event_records(
        &self,
        request: Request<v1::WriteEventRecordsRequest>,
    ) -> Result<Response<v1::WriteEventRecordsResponse>, Status> {
        answer(write(request.into_inner(), |request| self.host.engine.write_queued(request))).await
    }

    async fn read_event_records(
        &self,
        request: Request<v1::ReadEventRecordsRequest>,
    ) -> Result<Response<EncodedPage>, Status> {
        answer(async {
            let read = self.asked(request.into_inner())?;
            read_page(&self.host, &read).await
        })
        .await
    }

    async fn search_event_records(
        &self,
        request: Request<v1::SearchEventRecordsRequest>,
    ) -> Result<Response<EncodedPage>, Status> {
        answer(async {
            let read = search_request(request.into_inner(), &self.host.keys, self.host.env.clock.wall())?;
            read_page(&self.host, &read).await
        })
        .await
    }

    type StreamEventRecordsStream = BoxStream<'static, Result<EncodedPage, Status>>;

    async fn stream_event_records(
        &self,
        request: Request<v1::ReadEventRecordsRequest>,
    ) -> Result<Response<Self::StreamEventRecordsStream>, Status> {
        let mut wire = request.into_inner();
        if wire.page_size == 0 {
            wire.page_size = STREAM_PAGE_RECORDS;
        }
        answer(async {
            let read = self.asked(wire)?;
            // A namespace that does not exist is the answer to the call, not its first page.
            self.host.engine.get_namespace(&read.request.namespace)?;
            Ok(pages(self.host.clone(), read))
        })
        .await
    }
}

/// Shows an answer or its refusal.
pub(super) async fn answer<T>(call: impl Future<Output = Answer<T>>) -> Result<Response<T>, Status> {
    call.await.map(Response::new).map_err(|error: Error| status(&error))
}
