//! Which partitions of a table are exported, and in which order: all of them as the store lists them, those of some series, or
//! those that were named.

use std::collections::VecDeque;

use model::{Interval, Layout, NamespaceName, PartitionKey, RowKey, SeriesId, TableRef, Timestamp};
use store::{Consistency, Enumerate, Store};

use crate::{Error, Result};

/// Partitions that a request may name.
pub const EXPORT_PARTITIONS_MAX: usize = 1_000;
/// Series that a request may name.
pub const EXPORT_SERIES_MAX: usize = 100;
/// Partitions that are listed at a time.
const LISTED: usize = 256;

/// Rows that are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowsAsked {
    /// Of which namespace.
    pub namespace: NamespaceName,
    /// Which making of it.
    pub incarnation: u32,
    /// Of which table.
    pub table: String,
    /// Of which time.
    pub interval: Interval,
    /// Of which partitions.
    pub which: ExportWhich,
    /// Where to go on.
    pub position: Option<ExportPosition>,
    /// Also time that is not closed.
    pub include_open: bool,
}

/// Partitions of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportWhich {
    /// All of them.
    All,
    /// Those of these series, of a table that holds no targets.
    Series(Vec<SeriesId>),
    /// These.
    Named(Vec<PartitionKey>),
}

/// A place between two rows of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportPosition {
    /// In which partition.
    pub partition: PartitionKey,
    /// Behind which row; none: behind all of them.
    pub row: Option<RowKey>,
}

/// Partitions that are still to come.
pub(super) enum Walk {
    /// Behind a partition, in the order of the store.
    Listed { after: Option<PartitionKey>, is_over: bool },
    /// All that series can have, by numbers.
    Series(SeriesWalk),
    /// What is left of those that were named.
    Named(VecDeque<PartitionKey>),
}

impl Walk {
    /// Behind the partition of a position, or from the beginning.
    pub(super) fn new(asked: &RowsAsked, layout: &Layout, is_target: bool) -> Result<Self> {
        let after = asked.position.as_ref().map(|position| &position.partition);
        let elsewhere =
            || Error::field("position", "lies in no partition that is asked for; send the one of an answer");
        match &asked.which {
            ExportWhich::All => Ok(Self::Listed { after: after.cloned(), is_over: false }),
            ExportWhich::Series(_) if is_target => {
                let problem = "cannot be asked for in a table of targets; name partitions instead";
                Err(Error::field("time_series_ids", problem))
            }
            ExportWhich::Series(series) => {
                let mut walk = SeriesWalk::new(series.clone(), layout, asked.interval);
                if let Some(after) = after {
                    walk.next = walk.number_of(after).ok_or_else(elsewhere)? + 1;
                }
                Ok(Self::Series(walk))
            }
            ExportWhich::Named(partitions) => {
                let behind = match after {
                    Some(after) => partitions.iter().position(|one| one == after).ok_or_else(elsewhere)? + 1,
                    None => 0,
                };
                Ok(Self::Named(partitions.iter().skip(behind).cloned().collect()))
            }
        }
    }

    /// The next partitions; none at the end.
    pub(super) async fn next(
        &mut self,
        store: &dyn Store,
        table: &TableRef,
        consistency: Consistency,
    ) -> store::Result<Vec<PartitionKey>> {
        match self {
            Self::Listed { is_over: true, .. } => Ok(Vec::new()),
            Self::Listed { after, is_over } => {
                let request = Enumerate {
                    table: table.clone(),
                    after: after.clone(),
                    partitions_max: LISTED,
                    consistency,
                };
                let page = store.enumerate(request).await?;
                *is_over = !page.more;
                *after = page.partitions.last().cloned().or_else(|| after.take());
                Ok(page.partitions)
            }
            Self::Series(walk) => Ok(walk.by_ref().take(LISTED).collect()),
            Self::Named(left) => Ok(left.drain(..left.len().min(LISTED)).collect()),
        }
    }
}

/// Every partition that series can have in an interval of a slice. Pure, and lazy: there may be millions.
pub(super) struct SeriesWalk {
    series: Vec<SeriesId>,
    first_bucket: u32,
    time_buckets: u64,
    event_buckets: u64,
    next: u64,
}

impl SeriesWalk {
    fn new(series: Vec<SeriesId>, layout: &Layout, interval: Interval) -> Self {
        let part = layout.slice.interval().intersect(interval);
        let bucket = |nanos: i64| Timestamp::checked(nanos).and_then(|time| layout.time_bucket(time));
        let (first_bucket, last) = (bucket(part.start()), bucket(part.end().saturating_sub(1)));
        let time_buckets = match (first_bucket, last) {
            (Some(first), Some(last)) if !part.is_empty() => u64::from(last - first) + 1,
            _ => 0,
        };
        Self {
            series,
            first_bucket: first_bucket.unwrap_or(0),
            time_buckets,
            event_buckets: u64::from(layout.shape.buckets_per_id),
            next: 0,
        }
    }

    fn number_of(&self, partition: &PartitionKey) -> Option<u64> {
        let series = self.series.iter().position(|series| *series == partition.series)?;
        let time = u64::from(partition.time_bucket.checked_sub(self.first_bucket)?);
        let event = u64::from(partition.event_bucket);
        let is_inside = time < self.time_buckets && event < self.event_buckets;
        is_inside.then(|| (series as u64 * self.time_buckets + time) * self.event_buckets + event)
    }
}

impl Iterator for SeriesWalk {
    type Item = PartitionKey;

    fn next(&mut self) -> Option<PartitionKey> {
        let (event, rest) = (self.next % self.event_buckets, self.next / self.event_buckets);
        let time = rest.checked_rem(self.time_buckets)?;
        let series = self.series.get(usize::try_from(rest / self.time_buckets).ok()?)?.clone();
        self.next += 1;
        let time_bucket = self.first_bucket + u32::try_from(time).ok()?;
        Some(PartitionKey { series, time_bucket, event_bucket: u32::try_from(event).ok()? })
    }
}

#[cfg(test)]
mod tests {
    use model::{ShapeSpec, Timeline};
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    const HOUR: i64 = 3_600_000_000_000;

    fn layout(buckets_per_id: u16) -> Layout {
        let spec = ShapeSpec { buckets_per_id, ..ShapeSpec::default() };
        let slice = Timeline::new(86_400).unwrap().slice_of(Timestamp::from_nanos(24 * HOUR).unwrap());
        Layout { slice, shape: spec.freeze().unwrap() }
    }

    fn walk(names: &[&str], start: i64, end: i64) -> SeriesWalk {
        let series = names.iter().map(|name| SeriesId::new(name).unwrap()).collect();
        SeriesWalk::new(series, &layout(2), Interval::new(24 * HOUR + start, 24 * HOUR + end).unwrap())
    }

    #[test]
    fn all_that_series_can_have_come_once() {
        let shown = |walk: SeriesWalk| {
            let one = |key: PartitionKey| {
                format!("{}{}.{}", key.series.as_str(), key.time_bucket, key.event_bucket)
            };
            walk.map(one).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(walk(&["a", "b"], HOUR, 3 * HOUR)), "a1.0 a1.1 a2.0 a2.1 b1.0 b1.1 b2.0 b2.1");
        assert_eq!(shown(walk(&["a"], HOUR + 5, HOUR + 6)), "a1.0 a1.1");
        assert_eq!(shown(walk(&["a"], HOUR, HOUR)), "");
        assert_eq!(walk(&["a"], 0, 99 * HOUR).count(), 48);
        assert_eq!(walk(&[], 0, HOUR).count(), 0);
    }

    proptest! {
        #[test]
        fn a_walk_goes_on_behind_any_of_its_partitions(at in 0_usize..96) {
            let all: Vec<PartitionKey> = walk(&["a", "b"], 0, 24 * HOUR).collect();
            let mut rest = walk(&["a", "b"], 0, 24 * HOUR);
            rest.next = rest.number_of(&all[at]).unwrap() + 1;
            prop_assert_eq!(rest.collect::<Vec<_>>(), &all[at + 1..]);
        }
    }

    #[test]
    fn a_place_elsewhere_is_none() {
        let key = |series: &str, time_bucket, event_bucket| {
            walk(&["a"], HOUR, 2 * HOUR).number_of(&PartitionKey {
                series: SeriesId::new(series).unwrap(),
                time_bucket,
                event_bucket,
            })
        };
        assert_eq!([key("a", 1, 0), key("a", 1, 1)], [Some(0), Some(1)]);
        assert_eq!([key("b", 1, 0), key("a", 0, 0), key("a", 2, 0), key("a", 1, 2)], [None; 4]);
    }
}
