//! The calls about tuning.

use api::admin::v1 as admin;

use super::Client;
use super::calls::Answer;

impl Client {
    /// Proposals of a namespace, or of all.
    pub async fn list_proposals(
        &self,
        request: admin::ListProposalsRequest,
    ) -> Answer<admin::ListProposalsResponse> {
        Ok(self.tuning.clone().list_proposals(request).await?.into_inner())
    }

    /// One proposal.
    pub async fn get_proposal(&self, namespace: &str, id: u64) -> Answer<admin::Proposal> {
        let request = admin::GetProposalRequest { namespace: namespace.to_owned(), id };
        Ok(self.tuning.clone().get_proposal(request).await?.into_inner())
    }

    /// What recorded slices would have been under another shape.
    pub async fn simulate_proposal(
        &self,
        request: admin::SimulateProposalRequest,
    ) -> Answer<admin::SimulateProposalResponse> {
        Ok(self.tuning.clone().simulate_proposal(request).await?.into_inner())
    }

    /// Gives future slices the proposed shape.
    pub async fn accept_proposal(&self, request: admin::AcceptProposalRequest) -> Answer<admin::Proposal> {
        Ok(self.tuning.clone().accept_proposal(self.asked(request)).await?.into_inner())
    }

    /// Ends a proposal.
    pub async fn reject_proposal(&self, request: admin::RejectProposalRequest) -> Answer<admin::Proposal> {
        Ok(self.tuning.clone().reject_proposal(self.asked(request)).await?.into_inner())
    }

    /// Looks at a namespace now.
    pub async fn observe(&self, request: admin::ObserveRequest) -> Answer<admin::ObserveResponse> {
        Ok(self.tuning.clone().observe(self.asked(request)).await?.into_inner())
    }
}
