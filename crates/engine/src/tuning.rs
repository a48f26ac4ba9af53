//! Tuning: what operators ask of it, and what servers do by themselves.

use ::tune::State;
use model::{NamespaceName, ShapeSpec};

use crate::tune::{Choice, Namespaced, Simulation, Tuned, TuningStatus};
use crate::{Engine, Result};

impl Engine {
    /// Looks at the sizes of closed slices of every namespace that is due, and proposes or applies what its policy says; gives
    /// back how many were looked at. To be called every minute: a namespace is due every ten minutes to an hour, on one server.
    pub async fn tune(&self) -> Result<usize> {
        self.tuner.look_around().await
    }

    /// The proposals of a namespace, or of all, newest first.
    pub async fn list_proposals(&self, name: Option<&NamespaceName>) -> Result<Vec<Namespaced<Tuned>>> {
        self.tuner.list(name).await
    }

    /// How the tuner stands to a namespace, or to all.
    pub async fn tuning_status(&self, name: Option<&NamespaceName>) -> Result<Vec<Namespaced<TuningStatus>>> {
        self.tuner.status(name).await
    }

    /// One proposal.
    pub async fn get_proposal(&self, name: &NamespaceName, id: u64) -> Result<Tuned> {
        self.tuner.get(name, id).await
    }

    /// What recorded slices would have been under another shape.
    pub async fn simulate_shape(&self, name: &NamespaceName, shape: ShapeSpec) -> Result<Simulation> {
        self.tuner.simulate(name, shape).await
    }

    /// Gives future slices the shape that is proposed, with an etag only if that names the proposal's present state. Refused with
    /// `PROPOSAL_STALE` where what it rests on holds no more.
    pub async fn accept_proposal(
        &self,
        name: &NamespaceName,
        id: u64,
        etag: Option<&str>,
        validate_only: bool,
    ) -> Result<Tuned> {
        let choice = Choice { id, etag, validate_only, by_policy: false };
        Box::pin(self.tuner.settle(name, &choice, State::Accepted, &self.cause)).await
    }

    /// Ends a proposal; the same shape is proposed again only when sizes have doubled or halved.
    pub async fn reject_proposal(
        &self,
        name: &NamespaceName,
        id: u64,
        etag: Option<&str>,
        validate_only: bool,
    ) -> Result<Tuned> {
        let choice = Choice { id, etag, validate_only, by_policy: false };
        Box::pin(self.tuner.settle(name, &choice, State::Rejected, &self.cause)).await
    }

    /// Looks at a namespace now, whatever its policy.
    pub async fn observe_slices(
        &self,
        name: &NamespaceName,
        measure: bool,
        validate_only: bool,
    ) -> Result<TuningStatus> {
        Box::pin(self.tuner.observe_now(name, measure, validate_only)).await
    }
}
