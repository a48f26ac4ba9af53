//! Reopened ranges: closed time that takes writes again, for a backfill.
//!
//! Announced first, so that no split can begin inside; then the splits that are there go out of use; open behind the barriers of
//! both. Closed time itself never goes back.

use model::{Interval, NamespaceName};

use super::known::Known;
use super::namespaces;
use super::record::{NamespaceRecord, ReopenedRecord};
use super::{Catalog, Dataset};
use crate::view::Cause;
use crate::{Error, Reason, Result};

/// Ranges that may be open at once.
const RANGES_MAX: usize = 16;

/// A range of time that takes events older than the accept limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backfill {
    /// Names it: the epoch that announced it.
    pub id: u64,
    /// Which time.
    pub interval: Interval,
    /// Whether it takes events already.
    pub open: bool,
}

impl Catalog {
    /// Announces that a range of time is to take events that are older than the accept limit: from here on no split begins in
    /// it. Gives back what names it, which is also the epoch.
    pub(crate) async fn announce_backfill(
        &self,
        name: &NamespaceName,
        interval: Interval,
        cause: &Cause,
    ) -> Result<u64> {
        if interval.is_empty() {
            return Err(Error::field("interval", "is empty; name a start and a later end"));
        }
        let announce = |known: &Known, epoch| {
            let dataset = known.find(name)?;
            let mut reopened = dataset.record.reopened.clone();
            if reopened.len() >= RANGES_MAX {
                let message = format!(
                    "namespace `{}` has {RANGES_MAX} backfills, the most it may have; end one first",
                    name.as_str()
                );
                return Err(Error::new(Reason::RateLimited, message));
            }
            let (start, end) = (interval.start(), interval.end());
            reopened.push(ReopenedRecord { start, end, open: false, announced: epoch });
            namespaces::put(name, &NamespaceRecord { epoch, reopened, ..dataset.record.clone() }, epoch)
        };
        Ok(self.change(Some(cause), announce).await?.0)
    }

    /// Opens an announced range, everywhere, behind its barrier.
    pub(crate) async fn open_backfill(&self, name: &NamespaceName, id: u64) -> Result<()> {
        self.barrier(id).await?;
        let open = |known: &Known, epoch| {
            let dataset = known.find(name)?;
            let mut reopened = dataset.record.reopened.clone();
            let range = reopened.iter_mut().find(|range| range.announced == id);
            range.ok_or_else(|| ended(name, id))?.open = true;
            namespaces::put(name, &NamespaceRecord { epoch, reopened, ..dataset.record.clone() }, ())
        };
        self.change(None, open).await?;
        Ok(())
    }

    /// Ends a backfill: what is older than the accept limit is refused again.
    pub(crate) async fn end_backfill(&self, name: &NamespaceName, id: u64, cause: &Cause) -> Result<()> {
        let end = |known: &Known, epoch| {
            let dataset = known.find(name)?;
            let mut reopened = dataset.record.reopened.clone();
            reopened.retain(|range| range.announced != id);
            if reopened.len() == dataset.record.reopened.len() {
                return Err(ended(name, id));
            }
            namespaces::put(name, &NamespaceRecord { epoch, reopened, ..dataset.record.clone() }, ())
        };
        self.change(Some(cause), end).await?;
        Ok(())
    }
}

impl Dataset {
    /// Whether a backfill takes events of this time.
    pub(crate) fn is_reopened(&self, time: i64) -> bool {
        let open = self.record.reopened.iter().filter(|range| range.open);
        open.into_iter().any(|range| (range.start..range.end).contains(&time))
    }

    /// Whether a backfill takes events of this time, or soon will.
    pub(crate) fn is_to_be_written(&self, interval: Interval) -> bool {
        self.record.reopened.iter().any(|range| range.start < interval.end() && interval.start() < range.end)
    }

    /// Its backfills.
    pub(crate) fn backfills(&self) -> Vec<Backfill> {
        let shown = |range: &ReopenedRecord| {
            let interval = Interval::new(range.start, range.end).ok()?;
            Some(Backfill { id: range.announced, interval, open: range.open })
        };
        self.record.reopened.iter().filter_map(shown).collect()
    }
}

fn ended(name: &NamespaceName, id: u64) -> Error {
    let message = format!("namespace `{}` has no backfill {id}; it was ended before", name.as_str());
    Error::new(Reason::EtagMismatch, message)
}
