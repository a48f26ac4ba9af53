//! `TuningService`: list, show, simulate, accept, reject, look now.

use api::admin::v1 as wire;
use api::convert::{
    namespace_name, one_or_all, proposal_named, proposal_states, proposal_to_wire, proposals_response,
    simulated_shape, simulation_to_wire, tuning_to_wire,
};
use engine::{Namespaced, ProposalState, Result as Answer, Tuned};
use model::{NamespaceName, ShapeSpec};
use tonic::{Request, Response, Status};

use super::Host;
use super::timeseries::answer;
use crate::generated::server::admin::tuning_service_server::TuningService;

/// The service.
pub(crate) struct Tuning {
    pub(crate) host: Host,
}

impl Tuning {
    async fn list(&self, request: wire::ListProposalsRequest) -> Answer<wire::ListProposalsResponse> {
        let (name, states) = (one_or_all(&request.namespace)?, proposal_states(&request.states)?);
        let engine = &self.host.engine;
        let proposals = engine.list_proposals(name.as_ref()).await?;
        Ok(proposals_response(&states, proposals, engine.tuning_status(name.as_ref()).await?))
    }

    async fn simulate(
        &self,
        request: wire::SimulateProposalRequest,
    ) -> Answer<wire::SimulateProposalResponse> {
        let name = namespace_name("namespace", &request.namespace)?;
        let engine = &self.host.engine;
        let spec = engine.get_namespace(&name)?.spec;
        let base = match request.id {
            0 => ShapeSpec::from(spec.shape),
            id => engine.get_proposal(&name, id).await?.proposal.draft.to,
        };
        let to = simulated_shape(base, request.shape.as_ref())?;
        let density = spec.tune.density_min_bytes..=spec.tune.density_max_bytes;
        Ok(simulation_to_wire(&name, engine.simulate_shape(&name, to).await?, density))
    }

    async fn accept(&self, request: Request<wire::AcceptProposalRequest>) -> Answer<wire::Proposal> {
        let (metadata, _, request) = request.into_parts();
        let engine = self.host.because(&metadata, &request.reason)?;
        let (name, id) = proposal_named(&request.namespace, request.id)?;
        let etag = given(&request.etag);
        let accepted = engine.accept_proposal(&name, id, etag, request.validate_only).await?;
        told(request.validate_only, "accepted", &name, id, &request.reason);
        Ok(proposal_to_wire(&name, accepted))
    }

    async fn reject(&self, request: Request<wire::RejectProposalRequest>) -> Answer<wire::Proposal> {
        let (metadata, _, request) = request.into_parts();
        let engine = self.host.because(&metadata, &request.reason)?;
        let (name, id) = proposal_named(&request.namespace, request.id)?;
        let etag = given(&request.etag);
        let rejected = engine.reject_proposal(&name, id, etag, request.validate_only).await?;
        told(request.validate_only, "rejected", &name, id, &request.reason);
        Ok(proposal_to_wire(&name, rejected))
    }

    async fn look(&self, request: Request<wire::ObserveRequest>) -> Answer<wire::ObserveResponse> {
        let (metadata, _, request) = request.into_parts();
        let engine = self.host.because(&metadata, &request.reason)?;
        let name = namespace_name("namespace", &request.namespace)?;
        let status = engine.observe_slices(&name, request.measure, request.validate_only).await?;
        let is_open = |found: &Namespaced<Tuned>| found.of.proposal.state == ProposalState::Open;
        let open = engine.list_proposals(Some(&name)).await?.into_iter().find(is_open);
        Ok(wire::ObserveResponse {
            status: Some(tuning_to_wire(&name, status)),
            proposal: open.map(|found| proposal_to_wire(&name, found.of)),
        })
    }
}

fn given(etag: &str) -> Option<&str> {
    Some(etag).filter(|etag| !etag.is_empty())
}

fn told(validate_only: bool, what: &str, name: &NamespaceName, proposal: u64, reason: &str) {
    if !validate_only {
        tracing::info!(namespace = name.as_str(), proposal, reason, "proposal {what}");
    }
}

#[tonic::async_trait]
impl TuningService for Tuning {
    async fn list_proposals(
        &self,
        request: Request<wire::ListProposalsRequest>,
    ) -> Result<Response<wire::ListProposalsResponse>, Status> {
        answer(self.list(request.into_inner())).await
    }

    async fn get_proposal(
        &self,
        request: Request<wire::GetProposalRequest>,
    ) -> Result<Response<wire::Proposal>, Status> {
        answer(async {
            let request = request.into_inner();
            let (name, id) = proposal_named(&request.namespace, request.id)?;
            Ok(proposal_to_wire(&name, self.host.engine.get_proposal(&name, id).await?))
        })
        .await
    }

    async fn simulate_proposal(
        &self,
        request: Request<wire::SimulateProposalRequest>,
    ) -> Result<Response<wire::SimulateProposalResponse>, Status> {
        answer(self.simulate(request.into_inner())).await
    }

    async fn accept_proposal(
        &self,
        request: Request<wire::AcceptProposalRequest>,
    ) -> Result<Response<wire::Proposal>, Status> {
        answer(self.accept(request)).await
    }

    async fn reject_proposal(
        &self,
        request: Request<wire::RejectProposalRequest>,
    ) -> Result<Response<wire::Proposal>, Status> {
        answer(self.reject(request)).await
    }

    async fn observe(
        &self,
        request: Request<wire::ObserveRequest>,
    ) -> Result<Response<wire::ObserveResponse>, Status> {
        answer(self.look(request)).await
    }
}
