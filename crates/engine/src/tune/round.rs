//! One look at a namespace: observe, decide, keep what came of it.

use ::tune::{Change, Decision, Draft, Finding, Observation, Proposal, Settled, Situation, State, decide};
use model::{NamespaceName, ShapeSpec};

use super::metrics::Action;
use super::observe::Thoroughly;
use super::records::{Kept, Look, LookFinding, incarnation};
use super::tuner::Tuner;
use super::verbs::Choice;
use crate::catalog::Dataset;
use crate::namespace::TunePolicy;
use crate::view::Cause;
use crate::{Error, Reason, Result};

/// A namespace is looked at so often at most, by whichever server comes first...
const LOOK_EVERY_MIN: u32 = 600;
/// ...and so often at least. In between it is a part of a slice.
const LOOK_EVERY_MAX: u32 = 3_600;
/// Which part.
const LOOKS_PER_SLICE: u32 = 24;

impl Tuner {
    /// Looks at every namespace that is due; gives back how many. One that fails does not keep the others from theirs.
    pub(crate) async fn look_around(&self) -> Result<usize> {
        let (mut looked, mut failed) = (0, None);
        for dataset in self.catalog.all() {
            match self.look_if_due(&dataset).await {
                Ok(done) => looked += usize::from(done),
                // Deleted meanwhile.
                Err(error) if error.reason() == Reason::NamespaceNotFound => {}
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(looked), Err)
    }

    async fn look_if_due(&self, dataset: &Dataset) -> Result<bool> {
        if dataset.namespace.spec.tune.policy == TunePolicy::Off {
            return Ok(false);
        }
        let which = incarnation(dataset);
        let (now, last) = (self.catalog.env.clock.wall(), self.catalog.look(&which).await?);
        let is_fresh = last.as_ref().is_some_and(|(look, _)| {
            // A clock that was ahead must not stop it for long.
            now.abs_diff(look.looked) < look_every(dataset)
        });
        if is_fresh {
            return Ok(false);
        }
        let finding = last.as_ref().and_then(|(look, _)| look.finding.clone());
        let claim = Look::new(now, self.catalog.me.id(), finding);
        let expected = last.map(|(_, version)| version);
        if self.catalog.keep_look(&which, &claim, expected).await?.is_none() {
            return Ok(false);
        }
        self.look(dataset, Thoroughly::No).await?;
        Ok(true)
    }

    /// Looks now.
    pub(super) async fn look(&self, dataset: &Dataset, thoroughly: Thoroughly) -> Result<()> {
        let which = incarnation(dataset);
        let observations = values(self.observe(dataset, thoroughly).await?);
        self.metrics.saw(&dataset.namespace.name, &observations);
        let finding = self.conclude(dataset, &observations).await?;
        let finding = finding
            .map(|finding| LookFinding { code: finding.as_str().to_owned(), message: finding.to_string() });
        let version = self.catalog.look(&which).await?.map(|(_, version)| version);
        let look = Look::new(self.catalog.env.clock.wall(), self.catalog.me.id(), finding);
        // Whoever was faster has seen the same.
        self.catalog.keep_look(&which, &look, version).await?;
        Ok(())
    }

    /// Makes, confirms or ends proposals by what is known; why there is none.
    async fn conclude(&self, dataset: &Dataset, observations: &[Observation]) -> Result<Option<Finding>> {
        let which = incarnation(dataset);
        let proposals = self.catalog.proposals(&which).await?;
        for kept in &proposals {
            if let Some(judged) = kept.of.with_outcome(observations) {
                self.catalog.keep_proposal(&which, &judged, Some(kept)).await?;
            }
        }
        let policy = dataset.namespace.spec.tune.policy;
        let decision = match policy {
            TunePolicy::Off => Decision::Leave(Finding::Off),
            TunePolicy::Propose | TunePolicy::Auto => decided(dataset, observations, &proposals, self.now()),
        };
        let open = proposals.last().filter(|kept| kept.of.state == State::Open);
        match decision {
            Decision::Leave(finding) => {
                self.end_stale(dataset, open, &finding.to_string()).await?;
                Ok(Some(finding))
            }
            Decision::Propose(draft) => {
                let id = self.propose(dataset, &proposals, open, *draft.clone()).await?;
                if let Some(id) = id.filter(|_| policy == TunePolicy::Auto && draft.may_apply) {
                    self.apply(&dataset.namespace.name, id).await?;
                }
                Ok(None)
            }
        }
    }

    /// Keeps the proposal, or confirms the one that is open; its id, none if another server was faster.
    async fn propose(
        &self,
        dataset: &Dataset,
        proposals: &[Kept<Proposal>],
        open: Option<&Kept<Proposal>>,
        draft: Draft,
    ) -> Result<Option<u64>> {
        let (which, now) = (incarnation(dataset), self.now());
        let first_slice = dataset.end_of_slices().unwrap_or(now);
        if let Some(kept) = open {
            if let Some(same) = kept.of.confirmed_by(&draft, now, first_slice) {
                let kept = self.catalog.keep_proposal(&which, &same, Some(kept)).await?;
                return Ok(kept.then_some(same.id));
            }
            self.end_stale(dataset, open, "sizes have changed, and so has what is proposed").await?;
        }
        let id = proposals.last().map_or(1, |kept| kept.of.id + 1);
        let proposal = Proposal::new(id, draft, now, first_slice);
        if !self.catalog.keep_proposal(&which, &proposal, None).await? {
            return Ok(None);
        }
        self.metrics.did(Action::Proposed);
        let text = proposal.rendered(which.0.as_str(), &first_table(dataset, first_slice));
        tracing::info!(namespace = which.0.as_str(), proposal = id, "{text}");
        Ok(Some(id))
    }

    /// Ends an open proposal because what it rested on holds no more.
    pub(super) async fn end_stale(
        &self,
        dataset: &Dataset,
        open: Option<&Kept<Proposal>>,
        why: &str,
    ) -> Result<()> {
        let Some(kept) = open else { return Ok(()) };
        let settled =
            Settled { time: self.now(), author: String::new(), reason: why.to_owned(), effective: None };
        let stale = kept.of.settled(State::Stale, settled);
        if self.catalog.keep_proposal(&incarnation(dataset), &stale, Some(kept)).await? {
            self.metrics.did(Action::Stale);
            tracing::info!(
                namespace = dataset.namespace.name.as_str(),
                proposal = stale.id,
                why,
                "a proposal is stale"
            );
        }
        Ok(())
    }

    /// Accepts a proposal because the policy says so.
    async fn apply(&self, name: &NamespaceName, id: u64) -> Result<()> {
        let cause = Cause { author: "tuner".to_owned(), reason: "tune.policy is auto".to_owned() };
        let choice = Choice { id, etag: None, validate_only: false, by_policy: true };
        match self.settle(name, &choice, State::Accepted, &cause).await {
            Ok(_) => Ok(()),
            // Somebody decided meanwhile.
            Err(error) if error.reason() == Reason::ProposalStale => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(super) fn now(&self) -> i64 {
        self.catalog.env.clock.wall()
    }
}

/// Nanoseconds between two looks at a namespace.
fn look_every(dataset: &Dataset) -> u64 {
    let part = dataset.namespace.spec.shape.seconds_per_slice / LOOKS_PER_SLICE;
    let seconds = part.clamp(LOOK_EVERY_MIN, LOOK_EVERY_MAX);
    u64::from(seconds) * model::time::NANOS_PER_SECOND.unsigned_abs()
}

/// What should be done now, whatever the policy.
pub(super) fn decided(
    dataset: &Dataset,
    observations: &[Observation],
    proposals: &[Kept<Proposal>],
    now: i64,
) -> Decision {
    let change = |segment: &crate::catalog::record::SegmentRecord| Change {
        from: segment.from,
        shape: ShapeSpec::from(segment.shape),
    };
    let changes: Vec<Change> = dataset.record.segments.iter().map(change).collect();
    let rejected: Vec<(u64, ShapeSpec, u64)> =
        proposals.iter().filter_map(|kept| kept.of.rejection()).collect();
    decide(&Situation {
        density: dataset.namespace.spec.tune.density(),
        shape: ShapeSpec::from(dataset.namespace.spec.shape),
        observations,
        changes: &changes,
        rejected: &rejected,
        now,
    })
}

/// The table of the slice that starts there.
pub(super) fn first_table(dataset: &Dataset, start: i64) -> String {
    let slice = model::Timestamp::from_nanos(start).map(|time| dataset.timeline.slice_of(time));
    slice.map_or_else(|_| String::new(), |slice| model::TableName::data(slice).as_str().to_owned())
}

/// What was stored, without how.
pub(super) fn values<T>(kept: Vec<Kept<T>>) -> Vec<T> {
    kept.into_iter().map(|kept| kept.of).collect()
}

/// A proposal that nobody can decide on any more.
pub(super) fn stale(id: u64, why: &str) -> Error {
    let message = format!("proposal {id} cannot be decided on: {why}; see `braid tune list`");
    Error::new(Reason::ProposalStale, message)
}
