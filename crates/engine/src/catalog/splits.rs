//! What a namespace's record says of its splits.

use super::record::{ModeRecord, NamespaceRecord};
use super::{Dataset, namespaces};
use crate::Result;
use crate::namespace::ReadMode;
use crate::view::Decided;

/// A change that every server has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SplitsChange {
    /// Workers leave the namespace alone, or go on.
    Paused(bool),
    /// Splits went out of use: behind the barrier of this change nobody reads their targets.
    Retired,
    /// The same because targets were found to differ, at this time: nothing is served from targets until it was compared anew.
    Damaged(i64),
}

impl Dataset {
    /// Makes the change; nothing where it is so already.
    pub(crate) fn change_splits(&self, change: SplitsChange, epoch: u64) -> Result<Decided<()>> {
        let mut record = NamespaceRecord { epoch, ..self.record.clone() };
        match change {
            SplitsChange::Paused(paused) if paused == record.splits_paused => {
                return Ok(Decided { puts: Vec::new(), answer: () });
            }
            SplitsChange::Paused(paused) => record.splits_paused = paused,
            SplitsChange::Retired => record.splits_retired = epoch,
            SplitsChange::Damaged(now) => {
                record.splits_retired = epoch;
                if record.spec.read.mode > ReadMode::Shadow {
                    record.spec.read.mode = ReadMode::Shadow;
                    record.mode = ModeRecord { epoch, since: now, held: false };
                }
            }
        }
        namespaces::put(&self.namespace.name, &record, ())
    }

    /// Reads have another mode from now on, or stay in the one they have until somebody says otherwise. What was compared
    /// before counts no more where the mode begins anew.
    pub(crate) fn change_mode(&self, change: ModeChange, now: i64, epoch: u64) -> Result<Decided<()>> {
        let mut record = NamespaceRecord { epoch, ..self.record.clone() };
        match change {
            ModeChange::To(mode) => {
                record.spec.read.mode = mode;
                record.mode = ModeRecord { epoch, since: now, held: false };
            }
            ModeChange::Held(held) if held == record.mode.held => {
                return Ok(Decided { puts: Vec::new(), answer: () });
            }
            ModeChange::Held(held) => record.mode.held = held,
        }
        namespaces::put(&self.namespace.name, &record, ())
    }
}

/// A change of how reads use targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModeChange {
    /// It begins anew with this mode.
    To(ReadMode),
    /// It stays, or may go on by itself again.
    Held(bool),
}
