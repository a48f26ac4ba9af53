//! What happens to the slice from outside: announcements, age, a longer retention, deletion and re-creation of the
//! namespace, and calls that arrive late at the store.

use super::machine::Slices;
use super::state::{Deletion, Extension, INCARNATIONS, Listed, Slice, Stage, State};
use crate::{Guard, Mark};

/// A drop call and its retry.
const DROP_CALLS: u8 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperatorStep {
    /// A slice that is made, or taken back, is announced.
    Announce,
    /// The slice becomes older than base limit and margin.
    Age,
    /// Retention becomes longer: the row is written.
    Extend,
    /// The slices are listed behind it, and the operator is answered.
    ExtendLists,
    /// The drop is published.
    ListDropped,
    /// The record of the dropped slice is deleted, which the protocol forbids.
    Forget,
    /// A call to drop the table of this incarnation arrives at the store.
    DropLands(u8),
    /// A slow call that makes the table of this incarnation arrives at the store.
    CreateLands(u8),
    /// The namespace is deleted, and that is published.
    Delete,
    /// The deletion has passed its barrier.
    DeletePassed,
    /// The namespace is made again.
    Remake,
}

impl Slices {
    pub(super) fn operator_steps(&self, state: &State, mut offer: impl FnMut(OperatorStep)) {
        for incarnation in 0..INCARNATIONS {
            if state.slices[incarnation].dropping > 0 {
                offer(OperatorStep::DropLands(incarnation));
            }
            if state.slices[incarnation].creating {
                offer(OperatorStep::CreateLands(incarnation));
            }
        }
        let slice = state.slice();
        match state.deletion {
            Deletion::Published(epoch) => {
                if self.barrier(state, epoch) || self.lacks(Guard::DropAfterBarrier) {
                    offer(OperatorStep::DeletePassed);
                }
                return;
            }
            Deletion::Done => {
                if !slice.table {
                    offer(OperatorStep::Remake);
                }
                return;
            }
            Deletion::None if self.bounds.remakes && slice.stage == Stage::Open => {
                offer(OperatorStep::Delete)
            }
            Deletion::None | Deletion::Remade => {}
        }
        if slice.stage == Stage::Open && slice.table && !matches!(state.view.listed, Listed::Open(_)) {
            offer(OperatorStep::Announce);
        }
        if !state.old && self.bounds.keepers > 0 {
            offer(OperatorStep::Age);
        }
        if state.extension == Extension::None && self.bounds.extends {
            offer(OperatorStep::Extend);
        }
        if state.extension == Extension::Written {
            offer(OperatorStep::ExtendLists);
        }
        if slice.stage == Stage::Dropped {
            if state.view.listed == Listed::Closing {
                offer(OperatorStep::ListDropped);
            }
            if self.lacks(Guard::KeepTombstone) && !slice.table {
                offer(OperatorStep::Forget);
            }
        }
    }

    pub(super) fn operator_step(&self, state: &mut State, step: OperatorStep) {
        match step {
            OperatorStep::Announce => {
                let epoch = state.view.epoch + 1;
                state.publish(Listed::Open(epoch));
            }
            OperatorStep::Age => state.old = true,
            OperatorStep::Extend => {
                let lists = self.keeps(Guard::ExtensionLists);
                state.extension = if lists { Extension::Written } else { Extension::Promised };
            }
            OperatorStep::ExtendLists => self.list(state),
            OperatorStep::ListDropped => {
                state.publish(Listed::Dropped);
            }
            OperatorStep::Forget => {
                let slice = state.slice_mut();
                slice.set(Stage::Absent);
                slice.acked = 0;
                state.publish(Listed::Absent);
            }
            OperatorStep::DropLands(incarnation) => {
                let slice = &mut state.slices[incarnation];
                (slice.table, slice.rows) = (false, 0);
                slice.dropping -= 1;
            }
            OperatorStep::CreateLands(incarnation) => {
                let slice = &mut state.slices[incarnation];
                (slice.table, slice.creating) = (true, false);
            }
            OperatorStep::Delete => {
                let epoch = state.publish(Listed::Closing);
                state.deletion = Deletion::Published(epoch);
            }
            OperatorStep::DeletePassed => {
                state.deletion = Deletion::Done;
                let slice = state.slice_mut();
                slice.set(Stage::Dropped);
                slice.dropping = DROP_CALLS;
            }
            OperatorStep::Remake => self.remake(state),
        }
    }

    /// Behind the change of the row: what is CLOSING is taken back, what is DROPPED is told.
    fn list(&self, state: &mut State) {
        let slice = state.slice_mut();
        state.extension = match slice.stage {
            Stage::Open => Extension::Promised,
            Stage::Closing => {
                slice.set(Stage::Open);
                self.marks.hit(Mark::SliceRescued);
                Extension::Promised
            }
            Stage::Absent | Stage::Dropped => Extension::TooLate,
        };
        self.marks.hit_if(state.extension == Extension::Promised, Mark::RetentionPromised);
    }

    fn remake(&self, state: &mut State) {
        self.marks.hit(Mark::Remade);
        state.deletion = Deletion::Remade;
        if self.keeps(Guard::NewIncarnation) {
            state.view.incarnation += 1;
        } else {
            let slice = state.slice_mut();
            *slice = Slice { dropping: slice.dropping, ..Slice::ABSENT };
        }
        state.publish(Listed::Absent);
    }
}
