//! `ExportService`: what there is to export, its rows, its splits.
//!
//! One page of rows is read while the one before is on its way. A client that takes slowly stops the reading; one that goes away
//! ends it.

use api::admin::v1 as wire;
use api::convert::{
    ExportSplitsAsked, export_request, export_response, export_rows_request, export_rows_response,
    export_splits_request, export_splits_response,
};
use engine::{Result as Answer, RowExport};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tokio::sync::mpsc;
use tonic::{Request, Response, Status};

use super::Host;
use super::timeseries::answer;
use crate::generated::server::admin::export_service_server::ExportService;
use crate::status::status;

/// Pages that wait between the reading and the sending.
const WAITING_PAGES_MAX: usize = 1;

/// The service.
pub(crate) struct Exports {
    pub(crate) host: Host,
}

impl Exports {
    async fn splits(&self, request: wire::ExportSplitsRequest) -> Answer<wire::ExportSplitsResponse> {
        let engine = &self.host.engine;
        match export_splits_request(request)? {
            ExportSplitsAsked::Named(namespace, ids) => {
                let mut splits = Vec::with_capacity(ids.len());
                for id in ids {
                    splits.push(engine.get_split(&namespace, &id).await?);
                }
                Ok(export_splits_response(splits, None))
            }
            ExportSplitsAsked::Page(asked) => {
                let after = asked.after.as_deref();
                let page =
                    engine.list_splits(&asked.namespace, &asked.filter, after, asked.splits_max).await?;
                Ok(export_splits_response(page.splits, page.next))
            }
        }
    }
}

type Pages = BoxStream<'static, Result<wire::ExportRowsResponse, Status>>;

/// The pages of an export, as fast as they are taken.
fn pages(host: &Host, rows: RowExport) -> Pages {
    let (send, receive) = mpsc::channel(WAITING_PAGES_MAX);
    host.env.spawn.task("braid-export", Box::pin(produce(rows, send)));
    stream::unfold(receive, |mut receive| async move { Some((receive.recv().await?, receive)) })
        .map(|page: Answer<wire::ExportRowsResponse>| page.map_err(|error| status(&error)))
        .boxed()
}

async fn produce(mut rows: RowExport, send: mpsc::Sender<Answer<wire::ExportRowsResponse>>) {
    let all = async {
        while let Some(page) = rows.next().await.transpose() {
            let is_last = page.is_err();
            if send.send(page.map(export_rows_response)).await.is_err() || is_last {
                return;
            }
        }
    };
    tokio::select! {
        () = all => {}
        () = send.closed() => {}
    }
}

#[tonic::async_trait]
impl ExportService for Exports {
    async fn prepare_export(
        &self,
        request: Request<wire::PrepareExportRequest>,
    ) -> Result<Response<wire::PrepareExportResponse>, Status> {
        answer(async {
            let asked = export_request(request.into_inner())?;
            Ok(export_response(Box::pin(self.host.engine.prepare_export(asked)).await?))
        })
        .await
    }

    type ExportRowsStream = Pages;

    async fn export_rows(
        &self,
        request: Request<wire::ExportRowsRequest>,
    ) -> Result<Response<Self::ExportRowsStream>, Status> {
        answer(async {
            let rows = self.host.engine.export_rows(export_rows_request(request.into_inner())?)?;
            Ok(pages(&self.host, rows))
        })
        .await
    }

    async fn export_splits(
        &self,
        request: Request<wire::ExportSplitsRequest>,
    ) -> Result<Response<wire::ExportSplitsResponse>, Status> {
        answer(self.splits(request.into_inner())).await
    }
}
