//! What a namespace's record says of its splits.

use super::record::NamespaceRecord;
use super::{Dataset, namespaces};
use crate::Result;
use crate::view::Decided;

/// A change that every server has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SplitsChange {
    /// Workers leave the namespace alone, or go on.
    Paused(bool),
    /// Splits went out of use: behind the barrier of this change nobody reads their targets.
    Retired,
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
        }
        namespaces::put(&self.namespace.name, &record, ())
    }
}
