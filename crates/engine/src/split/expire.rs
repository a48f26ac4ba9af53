//! Splits whose slice is gone, and those that a backfill gets in the way of.

use model::{Interval, NamespaceName};
use split::{Reason, SplitId, State, Why};

use super::held::{Held, Stop};
use super::records::{Stored, changed};
use super::splits::{Splits, layout_of};
use crate::Result;
use crate::catalog::Dataset;
use crate::catalog::record::decode;

/// How often a record is looked at again because a worker has changed it.
const TRIES: u32 = 16;

impl Splits {
    /// The slice is gone: nothing is left to do.
    pub(super) async fn expire(&self, held: &mut Held<'_>) -> std::result::Result<(), Stop> {
        let server = self.catalog.me.id();
        let why = Why::new(Reason::SliceGone, "its slice was dropped");
        held.write(held.record().expired(why, self.moment(&server))).await
    }

    /// Takes all splits out of use that hold time of this interval, because it is to be written again: attempts fail, completed
    /// splits retire. Behind the barrier of what this publishes nobody reads their targets.
    pub(crate) async fn give_way(&self, name: &NamespaceName, interval: Interval) -> Result<()> {
        let dataset = self.catalog.find(name)?;
        let mut touched = false;
        for (id, stored) in self.touching(&dataset, interval).await? {
            touched |= self.give_up(&id, stored).await?;
        }
        if touched {
            let epoch = self.publish(name, dataset.namespace.incarnation, false, None).await?;
            self.catalog.barrier(epoch).await?;
        }
        Ok(())
    }

    /// Splits that hold time of this interval.
    async fn touching(&self, dataset: &Dataset, interval: Interval) -> Result<Vec<(SplitId, Stored)>> {
        let which = (dataset.namespace.name.clone(), dataset.namespace.incarnation);
        let mut found = Vec::new();
        for (table, groups) in self.catalog.split_groups(&which).await? {
            let Some(layout) = layout_of(dataset, &table) else { continue };
            if layout.slice.interval().intersect(interval).is_empty() {
                continue;
            }
            for group in groups {
                for stored in self.catalog.range(group.as_bytes()).await? {
                    let stored = Stored { record: decode(&stored.value)?, version: stored.version };
                    let Some(id) = stored.record.id() else { continue };
                    let bucket = layout.bucket_interval(id.partition.time_bucket);
                    if !bucket.intersect(interval).is_empty() {
                        found.push((id, stored));
                    }
                }
            }
        }
        Ok(found)
    }

    /// Takes one out of use; whether there was anything to take.
    async fn give_up(&self, id: &SplitId, mut stored: Stored) -> Result<bool> {
        let server = self.catalog.me.id();
        for _ in 0..TRIES {
            let (record, at) = (&stored.record, self.moment(&server));
            let why = || Why::new(Reason::Backfill, "its time is to be written again, by a backfill");
            let next = match record.state {
                State::Completed => record.retiring(why(), at),
                state if state.is_attempt() => record.failed(why(), at),
                _ => return Ok(record.state == State::Retiring),
            };
            if self.catalog.put_split(id, Some(&stored), &next).await?.is_some() {
                return Ok(true);
            }
            match self.catalog.split_record(id).await? {
                Some(now) => stored = now,
                None => return Ok(false),
            }
        }
        Err(changed(id))
    }
}
