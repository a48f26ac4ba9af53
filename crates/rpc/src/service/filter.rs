//! `FilterService`: list, read anew, probe.

use api::admin::v1 as wire;
use api::convert::{filter_to_wire, one_or_all, probe_request, probe_to_wire};
use engine::Result as Answer;
use tonic::{Request, Response, Status};

use super::Host;
use super::timeseries::answer;
use crate::generated::server::admin::filter_service_server::FilterService;

/// The service.
pub(crate) struct Filters {
    pub(crate) host: Host,
}

impl Filters {
    async fn reload(
        &self,
        request: Request<wire::ReloadFiltersRequest>,
    ) -> Answer<wire::ReloadFiltersResponse> {
        let (metadata, _, request) = request.into_parts();
        let engine = self.host.because(&metadata, &request.reason)?;
        let name = one_or_all(&request.namespace)?;
        // What is not there is refused before anything is read.
        let mut filters = engine.list_filters(name.as_ref())?;
        if !request.validate_only {
            filters = engine.reload_filters(name.as_ref()).await?;
            tracing::info!(filters = filters.len(), reason = request.reason, "filters read anew");
        }
        Ok(wire::ReloadFiltersResponse { filters: filters.into_iter().map(filter_to_wire).collect() })
    }
}

#[tonic::async_trait]
impl FilterService for Filters {
    async fn list_filters(
        &self,
        request: Request<wire::ListFiltersRequest>,
    ) -> Result<Response<wire::ListFiltersResponse>, Status> {
        answer(async {
            let name = one_or_all(&request.into_inner().namespace)?;
            let filters = self.host.engine.list_filters(name.as_ref())?;
            Ok(wire::ListFiltersResponse { filters: filters.into_iter().map(filter_to_wire).collect() })
        })
        .await
    }

    async fn reload_filters(
        &self,
        request: Request<wire::ReloadFiltersRequest>,
    ) -> Result<Response<wire::ReloadFiltersResponse>, Status> {
        answer(self.reload(request)).await
    }

    async fn probe_filter(
        &self,
        request: Request<wire::ProbeFilterRequest>,
    ) -> Result<Response<wire::ProbeFilterResponse>, Status> {
        answer(async {
            let (name, series, interval) = probe_request(&request.into_inner())?;
            let probes = self.host.engine.probe_filter(&name, &series, interval).await?;
            Ok(wire::ProbeFilterResponse { partitions: probes.into_iter().map(probe_to_wire).collect() })
        })
        .await
    }
}
