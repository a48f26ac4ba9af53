//! What operators ask of the tuner.

use ::tune::{Decision, Proposal, Settled, State, replay};
use model::{NamespaceName, ShapeSpec};

use super::metrics::Action;
use super::observe::Thoroughly;
use super::records::{Kept, incarnation, put};
use super::round::{decided, first_table, stale, values};
use super::tuner::{Namespaced, Simulation, Tuned, Tuner, TuningStatus};
use crate::catalog::{Dataset, Known};
use crate::view::{Cause, Decided};
use crate::{Error, Reason, Result};

/// A decision on a proposal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice<'a> {
    pub(crate) id: u64,
    pub(crate) etag: Option<&'a str>,
    pub(crate) validate_only: bool,
    /// A server decides, because the policy says so.
    pub(crate) by_policy: bool,
}

impl Tuner {
    /// The proposals of a namespace, or of all, newest first.
    pub(crate) async fn list(&self, name: Option<&NamespaceName>) -> Result<Vec<Namespaced<Tuned>>> {
        let mut found = Vec::new();
        for dataset in self.datasets(name).await? {
            for kept in self.catalog.proposals(&incarnation(&dataset)).await?.into_iter().rev() {
                let namespace = dataset.namespace.name.clone();
                found.push(Namespaced { namespace, of: tuned(&dataset, kept) });
            }
        }
        Ok(found)
    }

    /// How the tuner stands to a namespace, or to all.
    pub(crate) async fn status(&self, name: Option<&NamespaceName>) -> Result<Vec<Namespaced<TuningStatus>>> {
        let mut found = Vec::new();
        for dataset in self.datasets(name).await? {
            let which = incarnation(&dataset);
            let look = self.catalog.look(&which).await?.map(|(look, _)| look);
            let status = TuningStatus {
                policy: dataset.namespace.spec.tune.policy,
                looked: look.as_ref().map(|look| look.looked),
                finding: look.and_then(|look| look.finding).map(|finding| (finding.code, finding.message)),
                observations: values(self.catalog.observations(&which).await?),
            };
            found.push(Namespaced { namespace: which.0, of: status });
        }
        Ok(found)
    }

    async fn datasets(&self, name: Option<&NamespaceName>) -> Result<Vec<std::sync::Arc<Dataset>>> {
        match name {
            Some(name) => Ok(vec![self.catalog.find_or_look(name).await?]),
            None => Ok(self.catalog.all()),
        }
    }

    /// One proposal.
    pub(crate) async fn get(&self, name: &NamespaceName, id: u64) -> Result<Tuned> {
        let dataset = self.catalog.find_or_look(name).await?;
        let kept = self.kept(&dataset, id).await?;
        Ok(tuned(&dataset, kept))
    }

    async fn kept(&self, dataset: &Dataset, id: u64) -> Result<Kept<Proposal>> {
        let proposals = self.catalog.proposals(&incarnation(dataset)).await?;
        proposals.into_iter().find(|kept| kept.of.id == id).ok_or_else(|| {
            let name = dataset.namespace.name.as_str();
            let message = format!("namespace `{name}` has no proposal {id}; see `braid tune list -n {name}`");
            Error::new(Reason::ProposalNotFound, message)
        })
    }

    /// Looks at a namespace now; `measure` reads its newest slices whole where a store would only tell what it knows.
    pub(crate) async fn observe_now(
        &self,
        name: &NamespaceName,
        measure: bool,
        validate_only: bool,
    ) -> Result<TuningStatus> {
        let dataset = self.catalog.find_or_look(name).await?;
        if !validate_only {
            let thoroughly = if measure { Thoroughly::Measured } else { Thoroughly::Asked };
            self.look(&dataset, thoroughly).await?;
        }
        let found = self.status(Some(name)).await?.into_iter().next();
        found.map(|found| found.of).ok_or_else(|| {
            Error::new(Reason::NamespaceNotFound, "the namespace was deleted meanwhile; list namespaces")
        })
    }

    /// What recorded slices would have been under another shape.
    pub(crate) async fn simulate(&self, name: &NamespaceName, to: ShapeSpec) -> Result<Simulation> {
        to.freeze().map_err(|error| Error::field("shape", error))?;
        let dataset = self.catalog.find_or_look(name).await?;
        let observations = values(self.catalog.observations(&incarnation(&dataset)).await?);
        let first = dataset.end_of_slices().map(|end| first_table(&dataset, end));
        let from = ShapeSpec::from(dataset.namespace.spec.shape);
        Ok(Simulation { from, to, replay: replay(&observations, to), first_slice: first })
    }

    /// Accepts or rejects a proposal.
    pub(crate) async fn settle(
        &self,
        name: &NamespaceName,
        choice: &Choice<'_>,
        to: State,
        cause: &Cause,
    ) -> Result<Tuned> {
        let dataset = self.catalog.find_or_look(name).await?;
        let kept = self.kept(&dataset, choice.id).await?;
        check(&kept, choice)?;
        if to == State::Accepted {
            self.check_evidence(&dataset, &kept).await?;
        }
        if choice.validate_only {
            return Ok(tuned(&dataset, kept));
        }
        let (which, now) = (incarnation(&dataset), self.now());
        let settled = |effective| Settled {
            time: now,
            author: cause.author.clone(),
            reason: cause.reason.clone(),
            effective,
        };
        let decide = |known: &Known, epoch| {
            let present = known.find_same(&which)?;
            if present.record.tuned >= choice.id {
                return Err(stale(choice.id, "somebody decided meanwhile"));
            }
            if to == State::Rejected {
                let rejected = kept.of.settled(to, settled(None));
                let put = put(&which, &rejected, epoch)?;
                return Ok(Decided { puts: vec![present.tuned(epoch, choice.id)?, put], answer: () });
            }
            if ShapeSpec::from(present.namespace.spec.shape) != kept.of.draft.from {
                return Err(stale(choice.id, "the namespace has another shape by now"));
            }
            let (namespace, effective) = present.reshaped(epoch, choice.id, kept.of.draft.to)?;
            let accepted = kept.of.settled(to, settled(Some(effective)));
            Ok(Decided { puts: vec![namespace, put(&which, &accepted, epoch)?], answer: () })
        };
        self.catalog.change(Some(cause), decide).await?;
        self.metrics.did(match to {
            State::Rejected => Action::Rejected,
            _ if choice.by_policy => Action::Applied,
            _ => Action::Accepted,
        });
        self.get(name, choice.id).await
    }

    /// A proposal is accepted only while what is known still asks for it.
    async fn check_evidence(&self, dataset: &Dataset, kept: &Kept<Proposal>) -> Result<()> {
        let which = incarnation(dataset);
        let observations = values(self.catalog.observations(&which).await?);
        let proposals = self.catalog.proposals(&which).await?;
        let why = match decided(dataset, &observations, &proposals, self.now()) {
            Decision::Propose(draft) if draft.to == kept.of.draft.to => return Ok(()),
            Decision::Propose(_) => "sizes have changed, and so has what is proposed".to_owned(),
            Decision::Leave(finding) => finding.to_string(),
        };
        self.end_stale(dataset, Some(kept), &why).await?;
        Err(stale(kept.of.id, &why))
    }
}

/// Whether the proposal is one that can be decided on, and the one that was meant.
fn check(kept: &Kept<Proposal>, choice: &Choice<'_>) -> Result<()> {
    if choice.etag.is_some_and(|etag| etag != etag_of(kept)) {
        let message = format!("proposal {} changed since it was read; read it again and repeat", choice.id);
        return Err(Error::new(Reason::EtagMismatch, message));
    }
    match kept.of.state {
        State::Open => Ok(()),
        state => Err(stale(choice.id, &format!("it is {}", state.as_str()))),
    }
}

fn etag_of(kept: &Kept<Proposal>) -> String {
    kept.version.0.to_string()
}

fn tuned(dataset: &Dataset, kept: Kept<Proposal>) -> Tuned {
    let etag = etag_of(&kept);
    let start = kept.of.settled.as_ref().and_then(|settled| settled.effective);
    let first_slice = first_table(dataset, start.unwrap_or(kept.of.first_slice));
    Tuned { proposal: kept.of, first_slice, etag }
}
