//! `NamespaceService`: make, show, change, delete; list slices and the sizes of their partitions. Backfills are in
//! [`super::backfill`], plans in [`super::plan`].

use api::admin::v1 as wire;
use api::convert::{
    WideAsked, changed_spec, histogram_to_wire, namespace_name, namespace_to_wire, new_namespace,
    slice_to_wire, wide_request, wide_to_wire,
};
use engine::{Error, Namespace, NamespaceSpec, Reason, Result as Answer};
use tonic::{Request, Response, Status};

use super::plan::Planner;
use super::timeseries::answer;
use super::{Host, backfill};
use crate::generated::server::admin::namespace_service_server::NamespaceService;

/// The service.
pub(crate) struct Namespaces {
    host: Host,
    planner: Planner,
}

impl Namespaces {
    pub(crate) fn new(host: Host) -> Self {
        Self { host, planner: Planner::new() }
    }

    async fn create(&self, request: Request<wire::CreateNamespaceRequest>) -> Answer<wire::Namespace> {
        let (metadata, _, request) = request.into_parts();
        let engine = self.host.because(&metadata, &request.reason)?;
        let (name, spec) = new_namespace(request.namespace.as_ref())?;
        if request.validate_only {
            spec.check()?;
            if engine.get_namespace(&name).is_ok() {
                let message = format!("namespace `{}` exists; choose another name", name.as_str());
                return Err(Error::new(Reason::NamespaceExists, message));
            }
            let created = self.host.env.clock.wall();
            let would = Namespace { name, incarnation: 0, spec, created, etag: String::new() };
            return Ok(namespace_to_wire(&would));
        }
        let made = engine.create_namespace(&name, spec).await?;
        tracing::info!(namespace = name.as_str(), reason = request.reason, "namespace created");
        Ok(namespace_to_wire(&made))
    }

    async fn update(&self, request: Request<wire::UpdateNamespaceRequest>) -> Answer<wire::Namespace> {
        let (metadata, _, request) = request.into_parts();
        let engine = self.host.because(&metadata, &request.reason)?;
        let asked = request
            .namespace
            .ok_or_else(|| Error::field("namespace", "is missing; send its name and the fields to change"))?;
        let name = namespace_name("namespace.name", &asked.name)?;
        let present = engine.get_namespace(&name)?;
        let spec = changed_spec(&present.spec, &asked, request.update_mask.as_ref())?;
        // The change was computed from this state, so it holds for no other, whether or not the client named one.
        let etag = if asked.etag.is_empty() { present.etag.clone() } else { asked.etag };
        if request.validate_only {
            return would_be(present, spec, &etag);
        }
        let changed = engine.update_namespace(&name, spec, Some(&etag)).await?;
        tracing::info!(namespace = name.as_str(), reason = request.reason, "namespace changed");
        Ok(namespace_to_wire(&changed))
    }

    async fn delete(
        &self,
        request: Request<wire::DeleteNamespaceRequest>,
    ) -> Answer<wire::DeleteNamespaceResponse> {
        let (metadata, _, request) = request.into_parts();
        let engine = self.host.because(&metadata, &request.reason)?;
        let name = namespace_name("name", &request.name)?;
        let etag = Some(request.etag.as_str()).filter(|etag| !etag.is_empty());
        if request.validate_only {
            let present = engine.get_namespace(&name)?;
            let spec = present.spec.clone();
            let etag = etag.unwrap_or(&present.etag).to_owned();
            return would_be(present, spec, &etag).map(|_| wire::DeleteNamespaceResponse {});
        }
        engine.delete_namespace(&name, etag).await?;
        tracing::info!(namespace = name.as_str(), reason = request.reason, "namespace deleted");
        Ok(wire::DeleteNamespaceResponse {})
    }
}

/// What a change would make of `present`; refused as the change would be.
fn would_be(present: Namespace, spec: NamespaceSpec, etag: &str) -> Answer<wire::Namespace> {
    spec.check()?;
    if etag != present.etag {
        let name = present.name.as_str();
        let message = format!("namespace `{name}` changed since it was read; read it again and repeat");
        return Err(Error::new(Reason::EtagMismatch, message));
    }
    Ok(namespace_to_wire(&Namespace { spec, ..present }))
}

#[tonic::async_trait]
impl NamespaceService for Namespaces {
    async fn create_namespace(
        &self,
        request: Request<wire::CreateNamespaceRequest>,
    ) -> Result<Response<wire::Namespace>, Status> {
        answer(self.create(request)).await
    }

    async fn get_namespace(
        &self,
        request: Request<wire::GetNamespaceRequest>,
    ) -> Result<Response<wire::Namespace>, Status> {
        answer(async {
            let name = namespace_name("name", &request.into_inner().name)?;
            Ok(namespace_to_wire(&self.host.engine.get_namespace(&name)?))
        })
        .await
    }

    async fn list_namespaces(
        &self,
        _request: Request<wire::ListNamespacesRequest>,
    ) -> Result<Response<wire::ListNamespacesResponse>, Status> {
        let namespaces = self.host.engine.list_namespaces().iter().map(namespace_to_wire).collect();
        Ok(Response::new(wire::ListNamespacesResponse { namespaces }))
    }

    async fn update_namespace(
        &self,
        request: Request<wire::UpdateNamespaceRequest>,
    ) -> Result<Response<wire::Namespace>, Status> {
        answer(self.update(request)).await
    }

    async fn delete_namespace(
        &self,
        request: Request<wire::DeleteNamespaceRequest>,
    ) -> Result<Response<wire::DeleteNamespaceResponse>, Status> {
        answer(self.delete(request)).await
    }

    async fn plan_namespace(
        &self,
        request: Request<wire::PlanNamespaceRequest>,
    ) -> Result<Response<wire::PlanNamespaceResponse>, Status> {
        answer(self.planner.plan(&*self.host.env.spawn, &request.into_inner())).await
    }

    async fn list_slices(
        &self,
        request: Request<wire::ListSlicesRequest>,
    ) -> Result<Response<wire::ListSlicesResponse>, Status> {
        answer(async {
            let name = namespace_name("namespace", &request.into_inner().namespace)?;
            let slices = self.host.engine.list_slices(&name)?.into_iter().map(slice_to_wire).collect();
            Ok(wire::ListSlicesResponse { slices })
        })
        .await
    }

    async fn get_partition_histogram(
        &self,
        request: Request<wire::GetPartitionHistogramRequest>,
    ) -> Result<Response<wire::GetPartitionHistogramResponse>, Status> {
        answer(async {
            let wire::GetPartitionHistogramRequest { namespace, table, measure } = request.into_inner();
            let name = namespace_name("namespace", &namespace)?;
            let table = Some(table.as_str()).filter(|table| !table.is_empty());
            let found = self.host.engine.partition_histogram(&name, table, measure).await?;
            let histograms = found.into_iter().map(histogram_to_wire).collect();
            Ok(wire::GetPartitionHistogramResponse { histograms })
        })
        .await
    }

    async fn list_wide_partitions(
        &self,
        request: Request<wire::ListWidePartitionsRequest>,
    ) -> Result<Response<wire::ListWidePartitionsResponse>, Status> {
        answer(async {
            let WideAsked { namespace, table, measure, partitions_max } = wide_request(request.into_inner())?;
            let found = self
                .host
                .engine
                .wide_partitions(&namespace, table.as_deref(), measure, partitions_max)
                .await?;
            let partitions = found.into_iter().map(wide_to_wire).collect();
            Ok(wire::ListWidePartitionsResponse { partitions })
        })
        .await
    }

    async fn begin_backfill(
        &self,
        request: Request<wire::BeginBackfillRequest>,
    ) -> Result<Response<wire::Backfill>, Status> {
        answer(backfill::begin(&self.host, request)).await
    }

    async fn end_backfill(
        &self,
        request: Request<wire::EndBackfillRequest>,
    ) -> Result<Response<wire::EndBackfillResponse>, Status> {
        answer(backfill::end(&self.host, request)).await
    }

    async fn list_backfills(
        &self,
        request: Request<wire::ListBackfillsRequest>,
    ) -> Result<Response<wire::ListBackfillsResponse>, Status> {
        answer(async { backfill::list(&self.host, &request.into_inner()) }).await
    }
}
