//! Workers: take what is due, one thing at a time.

use std::time::Duration;

use split::{Reason, Record, SplitId, State, Why};

use super::held::{Held, Stop};
use super::records::{Due, FORGOTTEN_AFTER, Stored};
use super::splits::{Splits, layout_of};
use crate::Result;
use crate::catalog::nanos;

/// What could not be done is looked at again after so long.
const AFTER_ERROR: Duration = Duration::from_secs(60);

impl Splits {
    /// Takes up one thing that is due and does it; whether there was any.
    pub(crate) async fn work_once(&self) -> Result<bool> {
        let (now, mut after, mut failed) = (self.env.clock.wall(), None::<Due>, None);
        loop {
            let page = self.catalog.due_splits(now, after.as_ref()).await?;
            let Some(last) = page.last().cloned() else { break };
            for due in page {
                match self.take_up(&due).await {
                    Ok(true) => return Ok(true),
                    Ok(false) => {}
                    // One that fails does not keep the others from theirs.
                    Err(error) => failed = Some(error),
                }
            }
            after = Some(last);
        }
        failed.map_or(Ok(false), Err)
    }

    /// Does what is due of one split; false where there is nothing to do for this server.
    async fn take_up(&self, due: &Due) -> Result<bool> {
        let Some(id) = &due.id else {
            return self.forget(due).await;
        };
        let Some(_running) = self.take(id) else { return Ok(false) };
        let Some(stored) = self.catalog.split_record(id).await? else {
            return self.forget(due).await;
        };
        if stored.record.due() != Some(due.time) {
            return self.forget(due).await;
        }
        let is_at_work = stored.record.state.is_attempt() && stored.record.owner.is_some();
        if is_at_work && !self.is_silent(id, stored.version) {
            return Ok(false);
        }
        Box::pin(self.look_after(id, stored)).await?;
        Ok(true)
    }

    /// Removes an entry that no record agrees with, once it is old: before that somebody may be about to write the record that
    /// it was made for.
    async fn forget(&self, due: &Due) -> Result<bool> {
        if due.time <= self.env.clock.wall().saturating_sub(nanos(FORGOTTEN_AFTER)) {
            self.catalog.forget_due(due).await?;
        }
        Ok(false)
    }

    /// Does what the state of a split asks for.
    async fn look_after(&self, id: &SplitId, stored: Stored) -> Result<()> {
        let state = stored.record.state;
        let mut held = Held::new(self, id.clone(), stored);
        let done = match self.is_gone(id).await? {
            true => self.expire(&mut held).await,
            false => self.advance(&mut held).await,
        };
        match done {
            Ok(()) | Err(Stop::Lost) => Ok(()),
            Err(Stop::Left) => self.put_off(held, Duration::from_secs(10), None).await,
            Err(Stop::Failed(why)) if held.record().state.is_attempt() => self.fail(held, why).await,
            // A comparison that could not be ended says nothing of the split: servers may read its targets until it is retired.
            Err(Stop::Failed(_)) => {
                let kept = held.record().reason.clone();
                self.put_off(held, AFTER_ERROR, kept).await
            }
            Err(Stop::Rejected(why)) => {
                let server = self.catalog.me.id();
                let rejected = held.record().rejected(why, self.moment(&server));
                self.settle(held, rejected).await
            }
            Err(Stop::Error(error)) => {
                tracing::warn!(split = %id, state = state.as_str(), %error, "a split could not go on");
                if !held.is_ours().await? && held.record().state.is_attempt() {
                    return Ok(());
                }
                let why = Why::new(Reason::Store, error.to_string());
                match held.record().state {
                    state if state.is_attempt() && error.may_pass() => self.interrupt(held, why).await,
                    state if state.is_attempt() => self.fail(held, why).await,
                    State::Candidate => self.put_off(held, AFTER_ERROR, Some(why)).await,
                    // Why it failed or retired still counts.
                    _ => {
                        let kept = held.record().reason.clone();
                        self.put_off(held, AFTER_ERROR, kept).await
                    }
                }
            }
        }
    }

    async fn advance(&self, held: &mut Held<'_>) -> std::result::Result<(), Stop> {
        self.clean(held).await?;
        let now = self.env.clock.wall();
        if held.record().next.is_none_or(|next| next > now) {
            return Ok(());
        }
        match held.record().state {
            State::Candidate | State::Failed => {
                if self.may_begin(held).await? {
                    self.attempt(held).await?;
                }
                Ok(())
            }
            State::Planning | State::Planned | State::Copying | State::Verifying => self.attempt(held).await,
            State::Completed => self.recheck(held).await.map(|_| ()),
            State::Retiring => self.finish_retiring(held).await,
            State::Retired if held.record().again => self.begin_again(held).await,
            State::Retired | State::Rejected | State::Expired => Ok(()),
        }
    }

    /// Whether the slice of a split, or its namespace, is no more.
    async fn is_gone(&self, id: &SplitId) -> Result<bool> {
        let gone = || {
            let dataset = self.catalog.find_same(&id.namespace, id.incarnation);
            dataset.map_or(true, |dataset| layout_of(&dataset, &id.time_slice).is_none())
        };
        if gone() {
            // It may have been made a moment ago by another server.
            self.catalog.refresh().await?;
        }
        Ok(gone())
    }

    /// Leaves it alone for a while.
    pub(super) async fn put_off(&self, held: Held<'_>, wait: Duration, why: Option<Why>) -> Result<()> {
        let next = self.env.clock.wall().saturating_add(nanos(wait));
        let later = held.record().put_off_with_garbage(next, why);
        self.settle(held, later).await
    }

    async fn fail(&self, held: Held<'_>, why: Why) -> Result<()> {
        tracing::warn!(split = %held.id, reason = why.code.as_str(), "an attempt to split failed: {}", why.message);
        self.metrics.failed(why.code);
        let server = self.catalog.me.id();
        let failed = held.record().failed(why, self.moment(&server));
        self.settle(held, failed).await
    }

    /// Leaves an attempt for a while, which is the end of it only where that happened too often.
    async fn interrupt(&self, held: Held<'_>, why: Why) -> Result<()> {
        let server = self.catalog.me.id();
        let interrupted = held.record().interrupted(why.clone(), self.moment(&server));
        if interrupted.state == State::Failed {
            return self.fail(held, why).await;
        }
        self.metrics.interrupted();
        self.settle(held, interrupted).await
    }

    /// Writes the last record of what a worker did; whoever took it over meanwhile knows better.
    async fn settle(&self, mut held: Held<'_>, record: Record) -> Result<()> {
        match held.write(record).await {
            Ok(()) | Err(Stop::Lost | Stop::Left | Stop::Failed(_) | Stop::Rejected(_)) => Ok(()),
            Err(Stop::Error(error)) => Err(error),
        }
    }
}
