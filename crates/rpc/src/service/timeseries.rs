//! `TimeSeriesService`: events in, events out.

use api::convert::{
    PageToSend, Read, aggregate_request, aggregate_response, explain_response, read_request, read_response,
    search_request, write_request, write_response,
};
use api::v1;
use engine::{Error, ReadPage, Result as Answer, WriteAnswer, WriteRequest};
use futures::stream::BoxStream;
use tonic::{Request, Response, Status};

use super::Host;
use super::stream::pages;
use crate::deadline::time_for;
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

    /// A read of one page: it is answered before its client is gone.
    fn asked_in_time(&self, request: Request<v1::ReadEventRecordsRequest>) -> Answer<Read> {
        let deadline = Some(time_for(request.metadata().as_ref()));
        let mut read = self.asked(request.into_inner())?;
        read.request.deadline = deadline;
        Ok(read)
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
async fn read_page(host: &Host, read: &Read) -> Answer<PageToSend> {
    show(host, read, host.engine.read(read.request.clone()).await?)
}

/// A page of `read` as it is sent.
pub(super) fn show(host: &Host, read: &Read, page: ReadPage) -> Answer<PageToSend> {
    read_response(read, page, &host.keys, host.env.clock.wall())
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
    ) -> Result<Response<PageToSend>, Status> {
        answer(async {
            let read = self.asked_in_time(request)?;
            read_page(&self.host, &read).await
        })
        .await
    }

    async fn search_event_records(
        &self,
        request: Request<v1::SearchEventRecordsRequest>,
    ) -> Result<Response<PageToSend>, Status> {
        answer(async {
            let deadline = Some(time_for(request.metadata().as_ref()));
            let mut read = search_request(request.into_inner(), &self.host.keys, self.host.env.clock.wall())?;
            read.request.deadline = deadline;
            read_page(&self.host, &read).await
        })
        .await
    }

    async fn aggregate_event_records(
        &self,
        request: Request<v1::AggregateEventRecordsRequest>,
    ) -> Result<Response<v1::AggregateEventRecordsResponse>, Status> {
        answer(async {
            let Host { engine, keys, env, .. } = &self.host;
            let deadline = Some(time_for(request.metadata().as_ref()));
            let mut asked = aggregate_request(request.into_inner(), keys, env.clock.wall())?;
            asked.request.read.deadline = deadline;
            let page = engine.aggregate(asked.request.clone()).await?;
            Ok(aggregate_response(&asked, page, keys, env.clock.wall()))
        })
        .await
    }

    async fn explain_read(
        &self,
        request: Request<v1::ReadEventRecordsRequest>,
    ) -> Result<Response<v1::ExplainReadResponse>, Status> {
        answer(async {
            let read = self.asked_in_time(request)?;
            let explanation = self.host.engine.explain(read.request.clone()).await?;
            Ok(explain_response(&read, explanation, &self.host.keys, self.host.env.clock.wall()))
        })
        .await
    }

    type StreamEventRecordsStream = BoxStream<'static, Result<PageToSend, Status>>;

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
            // Whatever is refused at once is the answer to the call, not its first page.
            let first = self.host.engine.read(read.request.clone()).await?;
            Ok(pages(self.host.clone(), read, first))
        })
        .await
    }
}

/// Shows an answer or its refusal.
pub(super) async fn answer<T>(call: impl Future<Output = Answer<T>>) -> Result<Response<T>, Status> {
    call.await.map(Response::new).map_err(|error: Error| status(&error))
}
