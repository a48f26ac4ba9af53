//! What the cluster publishes of its own accord: closed time, retirements, the end of a slice; and the deletion of targets
//! and the rechecks that go with it.

use super::machine::Cover;
use super::state::{DESTINATIONS, Reopened, Stage, State};
use crate::cells::Cells;
use crate::{Guard, Mark};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RetirementStep {
    /// Closed time moves to this key.
    Close(u8),
    /// COMPLETED to RETIRING, by hand.
    Retire,
    /// RETIRING is published.
    Publish,
    /// RETIRING to RETIRED.
    Retired,
    /// The retired split leaves the view.
    LeaveView,
    /// Targets that no record names are deleted.
    DeleteTargets(u8),
    /// A deletion that was sent arrives.
    DeletionArrives(u8),
    /// A recheck copies a key forward that only the origin has.
    CopyForward(u8),
    /// The slice is published as CLOSING.
    CloseSlice,
    /// The slice is dropped.
    DropSlice,
}

impl State {
    /// COMPLETED to RETIRING, whoever wants it.
    pub(super) fn retire(&mut self, published: Option<u8>) {
        self.record.stage = Stage::Retiring(published);
        self.record.attempt = None;
        self.record.version += 1;
    }

    fn names(&self, destination: u8) -> bool {
        let record = &self.record;
        record.attempt.is_some_and(|attempt| attempt.destination == destination)
            || record.stage != Stage::Absent
                && (0..record.covered_until).any(|key| record.destination[key] == destination)
    }
}

impl Cover {
    pub(super) fn retirement_steps(&self, state: &State, mut offer: impl FnMut(RetirementStep)) {
        let bounds = &self.bounds;
        for destination in (0..state.record.fresh.min(DESTINATIONS)).filter(|at| !state.deleted[*at]) {
            let deletes = bounds.retirements > 0 || bounds.reopens > 0 || bounds.failures > 0;
            if state.deleting[destination] {
                offer(RetirementStep::DeletionArrives(destination));
            } else if deletes && !state.names(destination) {
                offer(RetirementStep::DeleteTargets(destination));
            }
        }
        if state.view.closing {
            let barrier = self.lacks(Guard::DropAfterBarrier) || self.barrier(state, state.view.epoch);
            if !state.dropped && barrier {
                offer(RetirementStep::DropSlice);
            }
            return;
        }
        let closed = state.view.closed;
        let back = if self.lacks(Guard::ClosedMonotone) { 0..closed } else { 0..0 };
        for key in (closed + 1..bounds.closes + 1).chain(back) {
            offer(RetirementStep::Close(key));
        }
        match state.record.stage {
            Stage::Completed if state.left.retirements > 0 => offer(RetirementStep::Retire),
            Stage::Retiring(None) => offer(RetirementStep::Publish),
            Stage::Retiring(Some(epoch))
                if self.lacks(Guard::RetireAfterBarrier) || self.barrier(state, epoch) =>
            {
                offer(RetirementStep::Retired);
            }
            _ => {}
        }
        if state.view.retiring && !matches!(state.record.stage, Stage::Retiring(_)) {
            offer(RetirementStep::LeaveView);
        }
        if bounds.rechecks && state.record.stage == Stage::Completed {
            let copied = |key: u8| state.targets[state.record.destination[key]][key];
            for key in (0..state.record.covered_until).filter(|key| copied(*key) < state.origin[*key]) {
                offer(RetirementStep::CopyForward(key));
            }
        }
        if bounds.drops_slice && state.view.closed == bounds.closes && state.view.reopened == Reopened::None {
            offer(RetirementStep::CloseSlice);
        }
    }

    pub(super) fn retirement_step(&self, state: &mut State, step: RetirementStep) {
        match step {
            RetirementStep::Close(key) => {
                state.view.closed = key;
                state.publish();
            }
            RetirementStep::Retire => {
                state.left.retirements -= 1;
                let epoch = self.lacks(Guard::RetireEpoch).then_some(state.view.epoch);
                state.retire(epoch);
            }
            RetirementStep::Publish => {
                state.view.retiring = true;
                let epoch = state.publish();
                state.record.stage = Stage::Retiring(Some(epoch));
            }
            RetirementStep::Retired => {
                state.record.stage = Stage::Absent;
                state.record.covered_until = 0;
                state.record.destination = Cells::all(0);
                state.record.version += 1;
                self.marks.hit(Mark::Retired);
            }
            RetirementStep::LeaveView => {
                state.view.retiring = false;
                state.publish();
            }
            RetirementStep::DeleteTargets(destination) if self.bounds.slow_deletions => {
                state.deleting[destination] = true;
            }
            RetirementStep::DeleteTargets(destination) | RetirementStep::DeletionArrives(destination) => {
                self.delete(state, destination);
            }
            RetirementStep::CopyForward(key) => {
                state.targets[state.record.destination[key]][key] = state.origin[key];
                self.marks.hit(Mark::StragglerCopied);
            }
            RetirementStep::CloseSlice => {
                state.view.closing = true;
                state.publish();
            }
            RetirementStep::DropSlice => {
                state.dropped = true;
                state.origin = Cells::all(0);
                state.targets = Cells::all(Cells::all(0));
                state.deleted = Cells::all(true);
                state.deleting = Cells::all(false);
                self.marks.hit(Mark::SliceDropped);
            }
        }
    }

    fn delete(&self, state: &mut State, destination: u8) {
        state.deleting[destination] = false;
        state.deleted[destination] = true;
        state.targets[destination] = Cells::all(0);
        self.marks.hit(Mark::TargetsDeleted);
        let later = state.record.attempt.is_some() || state.record.stage == Stage::Completed;
        self.marks.hit_if(later, Mark::LateDeletion);
    }
}
