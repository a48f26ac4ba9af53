//! `ReadModeService`: show, advance, hold, roll back; compare, list differences.

use api::admin::v1 as wire;
use api::convert::{
    CompareAsked, compare_request, compare_response, mismatch_to_wire, namespace_name, read_mode_to_wire,
    rollback_to,
};
use engine::{Named, ReadModeInfo, Result as Answer};
use tonic::{Request, Response, Status};

use super::Host;
use super::timeseries::answer;
use crate::generated::server::admin::read_mode_service_server::ReadModeService;

/// The service.
pub(crate) struct ReadModes {
    pub(crate) host: Host,
}

impl ReadModes {
    async fn advance(&self, request: Request<wire::AdvanceReadModeRequest>) -> Answer<wire::ReadMode> {
        let (metadata, _, request) = request.into_parts();
        let engine = self.host.because(&metadata, &request.reason)?;
        let name = namespace_name("namespace", &request.namespace)?;
        let info = engine.advance_read_mode(&name, request.validate_only).await?;
        told(request.validate_only, "moved on", &info, &request.reason);
        Ok(read_mode_to_wire(info))
    }

    async fn hold(&self, request: Request<wire::HoldReadModeRequest>) -> Answer<wire::ReadMode> {
        let (metadata, _, request) = request.into_parts();
        let engine = self.host.because(&metadata, &request.reason)?;
        let name = namespace_name("namespace", &request.namespace)?;
        let info = engine.hold_read_mode(&name, !request.release, request.validate_only).await?;
        let what = if request.release { "released" } else { "held" };
        told(request.validate_only, what, &info, &request.reason);
        Ok(read_mode_to_wire(info))
    }

    async fn roll_back(&self, request: Request<wire::RollbackReadModeRequest>) -> Answer<wire::ReadMode> {
        let (metadata, _, request) = request.into_parts();
        let engine = self.host.because(&metadata, &request.reason)?;
        let name = namespace_name("namespace", &request.namespace)?;
        let to = rollback_to(&request.to)?;
        let info = engine.roll_back_read_mode(&name, to, request.validate_only).await?;
        told(request.validate_only, "taken back", &info, &request.reason);
        Ok(read_mode_to_wire(info))
    }

    async fn compare(&self, request: wire::CompareReadModeRequest) -> Answer<wire::CompareReadModeResponse> {
        let CompareAsked { namespace, after, splits_max } = compare_request(request)?;
        let swept = self.host.engine.compare_splits(&namespace, after.as_deref(), splits_max).await?;
        Ok(compare_response(swept))
    }
}

fn told(validate_only: bool, what: &str, info: &ReadModeInfo, reason: &str) {
    if !validate_only {
        let (namespace, mode) = (info.namespace.as_str(), info.mode.name());
        tracing::info!(namespace, mode, reason, "reads {what}");
    }
}

#[tonic::async_trait]
impl ReadModeService for ReadModes {
    async fn get_read_mode(
        &self,
        request: Request<wire::GetReadModeRequest>,
    ) -> Result<Response<wire::ReadMode>, Status> {
        answer(async {
            let name = namespace_name("namespace", &request.into_inner().namespace)?;
            Ok(read_mode_to_wire(self.host.engine.read_mode(&name).await?))
        })
        .await
    }

    async fn advance_read_mode(
        &self,
        request: Request<wire::AdvanceReadModeRequest>,
    ) -> Result<Response<wire::ReadMode>, Status> {
        answer(self.advance(request)).await
    }

    async fn hold_read_mode(
        &self,
        request: Request<wire::HoldReadModeRequest>,
    ) -> Result<Response<wire::ReadMode>, Status> {
        answer(self.hold(request)).await
    }

    async fn rollback_read_mode(
        &self,
        request: Request<wire::RollbackReadModeRequest>,
    ) -> Result<Response<wire::ReadMode>, Status> {
        answer(self.roll_back(request)).await
    }

    async fn compare_read_mode(
        &self,
        request: Request<wire::CompareReadModeRequest>,
    ) -> Result<Response<wire::CompareReadModeResponse>, Status> {
        answer(self.compare(request.into_inner())).await
    }

    async fn list_mismatches(
        &self,
        request: Request<wire::ListMismatchesRequest>,
    ) -> Result<Response<wire::ListMismatchesResponse>, Status> {
        answer(async {
            let name = namespace_name("namespace", &request.into_inner().namespace)?;
            let found = self.host.engine.mismatches(&name).await?;
            let mismatches = found.into_iter().map(mismatch_to_wire).collect();
            Ok(wire::ListMismatchesResponse { mismatches })
        })
        .await
    }
}
