//! Keepers: they drop the slice once retention has let it go. Two of them race, and take each other's work over.
//!
//! OPEN to CLOSING by compare-and-set, the retention again, CLOSING published, its barrier, CLOSING to DROPPED by
//! compare-and-set on the same version, the table. They know the first incarnation of the namespace.

use super::machine::Slices;
use super::state::{Deletion, Extension, Listed, Phase, Stage, State};
use crate::{Guard, Mark};

/// The incarnation that keepers keep.
const KEPT: u8 = 0;
/// Drop calls under way at the same time.
const DROPS_MAX: u8 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeeperStep {
    /// Reads the retention: the slice may go.
    Decide,
    /// Finds the record CLOSING, and goes on with it.
    TakeOver,
    /// Finds the record DROPPED, and the table still there.
    Help,
    /// OPEN to CLOSING.
    Close,
    /// Reads the retention again, and turns back if it became longer.
    Look,
    /// Publishes CLOSING.
    Publish,
    /// CLOSING to DROPPED.
    Commit,
    /// Calls the store to drop the table.
    Drop,
}

impl Slices {
    pub(super) fn keeper_steps(&self, state: &State, at: u8, mut offer: impl FnMut(KeeperStep)) {
        let slice = &state.slices[KEPT];
        match state.keepers[at] {
            Phase::Idle if state.deletion != Deletion::None => {}
            Phase::Idle => match slice.stage {
                Stage::Open if state.old && state.extension == Extension::None => offer(KeeperStep::Decide),
                Stage::Closing => offer(KeeperStep::TakeOver),
                Stage::Dropped if slice.table && slice.dropping == 0 => offer(KeeperStep::Help),
                _ => {}
            },
            Phase::Decided(_) => offer(KeeperStep::Close),
            Phase::Closing(_) => offer(KeeperStep::Look),
            Phase::Looked(_) => offer(KeeperStep::Publish),
            Phase::Published { epoch, .. } => {
                if self.lacks(Guard::DropAfterBarrier) || self.barrier(state, epoch) {
                    offer(KeeperStep::Commit);
                }
            }
            Phase::Dropped if slice.dropping < DROPS_MAX => offer(KeeperStep::Drop),
            Phase::Dropped => {}
        }
    }

    pub(super) fn keeper_step(&self, state: &mut State, at: u8, step: KeeperStep) {
        let version = state.slices[KEPT].version;
        state.keepers[at] = match (step, state.keepers[at]) {
            (KeeperStep::Decide, _) => Phase::Decided(version),
            (KeeperStep::TakeOver, _) => {
                self.marks.hit(Mark::KeeperTookOver);
                if self.keeps(Guard::KeeperTakeoverLooks) {
                    Phase::Closing(version)
                } else {
                    Phase::Looked(version)
                }
            }
            (KeeperStep::Help, _) => Phase::Dropped,
            (KeeperStep::Close, Phase::Decided(known)) if known == version => {
                let version = state.slices[KEPT].set(Stage::Closing);
                if self.keeps(Guard::KeeperLooksAgain) {
                    Phase::Closing(version)
                } else {
                    Phase::Looked(version)
                }
            }
            (KeeperStep::Look, Phase::Closing(known)) => self.look(state, known),
            (KeeperStep::Publish, Phase::Looked(version)) => publish(state, version),
            (KeeperStep::Commit, Phase::Published { version: known, .. }) => self.commit(state, known),
            (KeeperStep::Drop, _) => {
                state.slices[KEPT].dropping += 1;
                Phase::Idle
            }
            _ => Phase::Idle,
        };
    }

    fn look(&self, state: &mut State, known: u8) -> Phase {
        let slice = &mut state.slices[KEPT];
        if state.extension == Extension::None {
            return Phase::Looked(known);
        }
        if slice.version == known {
            slice.set(Stage::Open);
            self.marks.hit(Mark::KeeperTurnedBack);
        }
        Phase::Idle
    }

    fn commit(&self, state: &mut State, known: u8) -> Phase {
        let slice = &mut state.slices[KEPT];
        if slice.version == known || self.lacks(Guard::DropByVersion) {
            slice.set(Stage::Dropped);
            self.marks.hit(Mark::SliceDropped);
        }
        // Somebody else may have been first; the table goes all the same.
        if slice.stage == Stage::Dropped { Phase::Dropped } else { Phase::Idle }
    }
}

fn publish(state: &mut State, version: u8) -> Phase {
    if state.view.incarnation != KEPT || state.deletion != Deletion::None {
        return Phase::Idle;
    }
    let epoch = match state.view.listed {
        Listed::Closing => state.view.epoch,
        _ => state.publish(Listed::Closing),
    };
    Phase::Published { version, epoch }
}
