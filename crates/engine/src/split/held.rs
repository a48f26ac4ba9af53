//! A record that a worker holds: every change of it is checked against what is stored.

use split::{Record, SplitId};

use super::records::Stored;
use super::splits::Splits;
use crate::Result;

/// Why a worker stops before a split has ended.
#[derive(Debug)]
pub(super) enum Stop {
    /// Somebody else has it now.
    Lost,
    /// The server is asked to pause, or to stop.
    Left,
    /// The attempt cannot go on: what to say of it.
    Failed(split::Why),
    /// There is nothing to split.
    Rejected(split::Why),
    /// The store or the metadata failed; whether that is the end of the attempt, the caller knows.
    Error(crate::Error),
}

impl From<crate::Error> for Stop {
    fn from(error: crate::Error) -> Self {
        Self::Error(error)
    }
}

impl From<store::Error> for Stop {
    fn from(error: store::Error) -> Self {
        Self::Error(error.into())
    }
}

/// A record in the hands of a worker.
pub(super) struct Held<'a> {
    pub(super) splits: &'a Splits,
    pub(super) id: SplitId,
    pub(super) stored: Stored,
}

impl<'a> Held<'a> {
    pub(super) fn new(splits: &'a Splits, id: SplitId, stored: Stored) -> Self {
        Self { splits, id, stored }
    }

    /// The record as it was last written.
    pub(super) fn record(&self) -> &Record {
        &self.stored.record
    }

    /// Writes the next record; lost where somebody else has changed it.
    pub(super) async fn write(&mut self, next: Record) -> std::result::Result<(), Stop> {
        #[cfg(feature = "seeded-bugs")]
        let next = self.spoilt(next).await?;
        match self.splits.catalog.put_split(&self.id, Some(&self.stored), &next).await? {
            Some(version) => {
                self.stored = Stored { record: next, version };
                Ok(())
            }
            None => Err(Stop::Lost),
        }
    }

    /// What is stored, once nothing more is done with it.
    pub(super) fn into_stored(self) -> Stored {
        self.stored
    }

    /// Reads the record again after an error; whether it is still the one that was written last.
    pub(super) async fn is_ours(&mut self) -> Result<bool> {
        let found = self.splits.catalog.split_record(&self.id).await?;
        let (fence, version) = (self.stored.record.fence, self.stored.version);
        let is_ours = |found: &Stored| {
            found.version == version || found.record.fence == fence && found.record.owner.is_some()
        };
        let ours = found.filter(is_ours);
        let is_ours = ours.is_some();
        if let Some(found) = ours {
            self.stored = found;
        }
        Ok(is_ours)
    }
}
