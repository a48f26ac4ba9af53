//! `OpsService`: the server itself, the others, and who changed what.

use api::admin::v1 as wire;
use api::convert::{audit_request, timestamp_to_wire, worker_to_wire};
use tonic::{Request, Response, Status};

use super::timeseries::answer;
use super::{Host, QueueState, Readiness};
use crate::generated::server::admin::ops_service_server::OpsService;

/// The service.
pub(crate) struct Ops {
    pub(crate) host: Host,
}

impl Ops {
    fn queue(&self) -> wire::Queue {
        let QueueState { backend, topic, group, lag, dead_letters, problem } =
            self.host.queue.borrow().clone();
        let (backend, dropped) = (backend.to_owned(), self.host.engine.detections_dropped());
        wire::Queue { backend, topic, group, lag, dead_letters, dropped, problem }
    }
}

#[tonic::async_trait]
impl OpsService for Ops {
    async fn get_server_info(
        &self,
        _request: Request<wire::GetServerInfoRequest>,
    ) -> Result<Response<wire::ServerInfo>, Status> {
        let not_ready_reason = match &*self.host.readiness.borrow() {
            Readiness::Ready => String::new(),
            Readiness::NotReady(reason) => reason.clone(),
        };
        Ok(Response::new(wire::ServerInfo {
            version: self.host.version.to_owned(),
            store_backend: self.host.backend.to_owned(),
            started: Some(timestamp_to_wire(self.host.started)),
            ready: not_ready_reason.is_empty(),
            not_ready_reason,
            namespaces: u32::try_from(self.host.engine.list_namespaces().len()).unwrap_or(u32::MAX),
            epoch: self.host.engine.epoch(),
            leased: self.host.engine.is_leased(),
            server_id: self.host.engine.server_id(),
        }))
    }

    async fn list_workers(
        &self,
        _request: Request<wire::ListWorkersRequest>,
    ) -> Result<Response<wire::ListWorkersResponse>, Status> {
        answer(async {
            let workers = self.host.engine.servers().await?.into_iter().map(worker_to_wire).collect();
            Ok(wire::ListWorkersResponse { workers, queue: Some(self.queue()) })
        })
        .await
    }

    async fn list_audit(
        &self,
        request: Request<wire::ListAuditRequest>,
    ) -> Result<Response<wire::ListAuditResponse>, Status> {
        answer(async {
            let page = audit_request(&request.into_inner())?;
            Ok(page.response(self.host.engine.audit(page.before, page.wanted()).await?))
        })
        .await
    }
}
