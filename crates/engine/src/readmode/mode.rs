//! The steps of a namespace: on through the gates, back at any time.

use std::sync::Arc;
use std::time::Duration;

use model::NamespaceName;
use store::Named;

use super::compare::Comparer;
use super::evidence::Evidence;
use super::gates::{Gate, gates};
use super::mismatch::Mismatch;
use crate::catalog::{Dataset, Known, ModeChange};
use crate::namespace::{ReadMode, ReadModePolicy};
use crate::view::{Cause, Standing};
use crate::{Error, Reason, Result};

/// How far reads of a namespace have moved, and what the next step needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadModeInfo {
    /// Of which namespace.
    pub namespace: NamespaceName,
    /// How far.
    pub mode: ReadMode,
    /// Who moves them on.
    pub policy: ReadModePolicy,
    /// They stay until somebody says otherwise.
    pub held: bool,
    /// Since when, nanoseconds since 1970.
    pub since: i64,
    /// What the next step needs.
    pub gates: Vec<Gate>,
    /// What all servers have seen since.
    pub evidence: Evidence,
}

impl Comparer {
    /// How far reads of a namespace have moved.
    pub(crate) async fn info(&self, name: &NamespaceName) -> Result<ReadModeInfo> {
        let dataset = self.catalog.find_or_look(name).await?;
        self.info_of(&dataset).await
    }

    async fn info_of(&self, dataset: &Dataset) -> Result<ReadModeInfo> {
        let (evidence, spec) = (self.notes.of(&self.catalog, dataset).await?, &dataset.namespace.spec.read);
        let since = Some(dataset.record.mode.since).filter(|since| *since > 0);
        let since = since.unwrap_or(dataset.namespace.created);
        let age = self.env.clock.wall().saturating_sub(since);
        let age = Duration::from_nanos(u64::try_from(age).unwrap_or(0));
        Ok(ReadModeInfo {
            namespace: dataset.namespace.name.clone(),
            mode: spec.mode,
            policy: spec.policy,
            held: dataset.record.mode.held,
            since,
            gates: gates(spec.mode, &spec.gates, &evidence, age),
            evidence,
        })
    }

    /// The next step, if its gates let reads through.
    pub(crate) async fn advance(
        &self,
        name: &NamespaceName,
        validate_only: bool,
        cause: &Cause,
    ) -> Result<ReadModeInfo> {
        let dataset = self.catalog.find_or_look(name).await?;
        let info = self.info_of(&dataset).await?;
        let Some(next) = info.mode.next() else {
            let message = format!("reads of `{}` are on; there is no step behind that", name.as_str());
            return Err(Error::new(Reason::ReadModeGateFailed, message));
        };
        let failing: Vec<String> = info
            .gates
            .iter()
            .filter(|gate| !gate.passed && !gate.automatic_only)
            .map(|gate| format!("{} is {}, wanted {}", gate.name, gate.found, gate.wanted))
            .collect();
        if !failing.is_empty() {
            let differs = info.gates.iter().any(|gate| gate.name == "max_differ_bytes" && !gate.passed);
            let advice = if differs {
                "see `braid readmode mismatches`, and when the cause is found begin anew with `braid readmode rollback --to shadow`"
            } else {
                "let them be read, or compare all splits with `braid readmode compare`"
            };
            let (name, mode, failing) = (name.as_str(), info.mode.name(), failing.join("; "));
            let message = format!("reads of `{name}` stay {mode}: {failing}; {advice}");
            return Err(Error::new(Reason::ReadModeGateFailed, message));
        }
        if !validate_only {
            self.step(&dataset, ModeChange::To(next), cause).await?;
        }
        self.info(name).await
    }

    /// Keeps reads in their mode, or lets them go on by themselves again.
    pub(crate) async fn hold(
        &self,
        name: &NamespaceName,
        held: bool,
        validate_only: bool,
        cause: &Cause,
    ) -> Result<ReadModeInfo> {
        let dataset = self.catalog.find_or_look(name).await?;
        if !validate_only {
            self.step(&dataset, ModeChange::Held(held), cause).await?;
        }
        self.info(name).await
    }

    /// Goes back, or begins the same mode anew; without a wish to shadow, and from there to off.
    pub(crate) async fn roll_back(
        &self,
        name: &NamespaceName,
        to: Option<ReadMode>,
        validate_only: bool,
        cause: &Cause,
    ) -> Result<ReadModeInfo> {
        let dataset = self.catalog.find_or_look(name).await?;
        let mode = dataset.namespace.spec.read.mode;
        let to = to.unwrap_or(if mode > ReadMode::Shadow { ReadMode::Shadow } else { ReadMode::Off });
        if to > mode {
            let problem = format!(
                "reads are {}, which is before {}; use `braid readmode advance`",
                mode.name(),
                to.name()
            );
            return Err(Error::field("to", problem));
        }
        if !validate_only {
            self.step(&dataset, ModeChange::To(to), cause).await?;
        }
        self.info(name).await
    }

    /// Makes a change, if the mode is still the one that was looked at.
    async fn step(&self, seen: &Arc<Dataset>, change: ModeChange, cause: &Cause) -> Result<()> {
        let (which, epoch_seen) =
            ((seen.namespace.name.clone(), seen.namespace.incarnation), seen.record.mode.epoch);
        let now = self.env.clock.wall();
        let decide = |known: &Known, epoch| {
            let present = known.find_same(&which)?;
            if present.record.mode.epoch != epoch_seen {
                let message = format!("the read mode of `{}` was just changed; look again", which.0.as_str());
                return Err(Error::new(Reason::EtagMismatch, message));
            }
            present.change_mode(change, now, epoch)
        };
        self.catalog.change(Some(cause), decide).await?;
        Ok(())
    }

    /// Moves on what may move on by itself, and writes down what was seen; gives back how many moved.
    pub(crate) async fn advance_due(&self) -> Result<usize> {
        self.notes.write(&self.catalog).await?;
        let mut moved = 0;
        for dataset in self.catalog.all() {
            let spec = &dataset.namespace.spec.read;
            let moves = spec.policy == ReadModePolicy::Auto
                && matches!(spec.mode, ReadMode::Shadow | ReadMode::Canary)
                && !dataset.record.mode.held
                && self.router.has_splits(&dataset);
            if !moves || self.catalog.standing() != Standing::Leased {
                continue;
            }
            let info = self.info_of(&dataset).await?;
            let Some(next) = info.mode.next().filter(|_| info.gates.iter().all(|gate| gate.passed)) else {
                continue;
            };
            let shown = |gate: &Gate| format!("{} {}", gate.name, gate.found);
            let reason = info.gates.iter().map(shown).collect::<Vec<_>>().join(", ");
            let cause = Cause { author: "braid".to_owned(), reason: format!("gates passed: {reason}") };
            match self.step(&dataset, ModeChange::To(next), &cause).await {
                Ok(()) => {
                    moved += 1;
                    let namespace = dataset.namespace.name.as_str();
                    tracing::info!(namespace, mode = next.name(), %reason, "reads moved on");
                }
                // Another server was faster.
                Err(error) if error.reason() == Reason::EtagMismatch => {}
                Err(error) => return Err(error),
            }
            let which = (dataset.namespace.name.clone(), dataset.namespace.incarnation);
            self.catalog.forget_evidence(&which, dataset.record.mode.epoch).await?;
        }
        Ok(moved)
    }

    /// Writes down what was seen, before this server leaves the others.
    pub(crate) async fn write_down(&self) -> Result<()> {
        self.notes.write(&self.catalog).await
    }

    /// The confirmed differences of a namespace, newest first.
    pub(crate) async fn mismatches(&self, name: &NamespaceName) -> Result<Vec<Mismatch>> {
        let dataset = self.catalog.find_or_look(name).await?;
        self.catalog.mismatches(&dataset).await
    }
}
