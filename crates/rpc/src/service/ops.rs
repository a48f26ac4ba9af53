//! `OpsService`: the server itself.

use api::admin::v1 as wire;
use api::convert::timestamp_to_wire;
use tonic::{Request, Response, Status};

use super::{Host, Readiness};
use crate::generated::server::admin::ops_service_server::OpsService;

/// The service.
pub(crate) struct Ops {
    pub(crate) host: Host,
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
        }))
    }
}
