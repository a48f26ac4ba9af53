//! A backfill of closed time: ANNOUNCED, every record in the range, OPEN, removed. Closed time itself never goes back.

use super::machine::Cover;
use super::state::{Backfill, Reopened, Stage, State};
use crate::Guard;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BackfillStep {
    /// The range is published as ANNOUNCED.
    Announce,
    /// Every record that touches the range is changed: covers to RETIRING, attempts to FAILED.
    List,
    /// The range is published as OPEN.
    Open,
    /// The range is removed.
    End,
}

impl Cover {
    pub(super) fn backfill_steps(&self, state: &State, mut offer: impl FnMut(BackfillStep)) {
        let bounds = &self.bounds;
        if bounds.reopens == 0 || state.view.closing {
            return;
        }
        match state.backfill {
            Backfill::None if state.view.closed >= bounds.reopens => offer(BackfillStep::Announce),
            Backfill::Announced => offer(BackfillStep::List),
            Backfill::Listed => {
                let unused = match state.record.stage {
                    Stage::Retiring(None) => false,
                    Stage::Retiring(Some(epoch)) => self.barrier(state, epoch),
                    Stage::Absent | Stage::Completed => true,
                };
                if unused || self.lacks(Guard::OpenAfterBarrier) {
                    offer(BackfillStep::Open);
                }
            }
            Backfill::Open => offer(BackfillStep::End),
            Backfill::None | Backfill::Over => {}
        }
    }

    pub(super) fn backfill_step(&self, state: &mut State, step: BackfillStep) {
        match step {
            BackfillStep::Announce => {
                state.backfill = Backfill::Announced;
                if self.keeps(Guard::Announce) {
                    state.view.reopened = Reopened::Announced;
                    state.publish();
                }
            }
            BackfillStep::List => {
                state.backfill = Backfill::Listed;
                if state.record.stage == Stage::Completed {
                    state.retire(None);
                } else if state.record.attempt.is_some() && self.keeps(Guard::ListAttempts) {
                    state.record.attempt = None;
                    state.record.version += 1;
                }
            }
            BackfillStep::Open => {
                state.backfill = Backfill::Open;
                state.view.reopened = Reopened::Open;
                state.publish();
            }
            BackfillStep::End => {
                state.backfill = Backfill::Over;
                state.view.reopened = Reopened::None;
                state.publish();
            }
        }
    }
}
