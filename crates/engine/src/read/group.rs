//! One group: the partitions of a time bucket, read in parallel and merged into one order.

use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;

use env::Clock;
use futures::future::try_join_all;
use futures::{StreamExt, TryStreamExt, stream};
use model::{Group, Order, PartitionKey, RowKey, SeriesId};
use store::{Scan, Store};

use super::partition::{Head, PartitionReader, Taken, rows_to_ask};
use super::take::{before_items, behind_items};
use crate::catalog::Dataset;
use crate::{Error, ExplainedPartition, PartitionBytes, Reason, Result, Resume};

/// Partitions that a group may have: one page of each is held.
const PARTITIONS_MAX: usize = 512;
/// Partitions of a group that are opened at the same time.
const FAN_OUT: usize = 8;
/// Bytes that all first pages of a group may have together.
const GROUP_BYTES: u64 = 2 << 20;
/// Bytes that a partition's page has at least, where they are few, and where they are many.
const PARTITION_BYTES_MIN: u64 = 64 << 10;
const PARTITION_BYTES_FLOOR: u64 = 8 << 10;
/// So many are few.
const FEW_PARTITIONS: usize = 16;

/// Where a row stands in the total order: time, event, series, item.
type Key<'a> = (i64, &'a [u8], &'a [u8], &'a [u8]);

/// What all groups of one read share.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) store: &'a Arc<dyn Store>,
    pub(super) clock: &'a Arc<dyn Clock>,
    pub(super) dataset: &'a Dataset,
    pub(super) series: &'a [SeriesId],
    pub(super) order: Order,
    pub(super) resume: Option<&'a Resume>,
    /// Rows that the page has room for, if each event has one.
    pub(super) rows_hint: usize,
}

impl Source<'_> {
    /// Where the rows of a partition go on.
    fn from(&self, group: &Group, partition: &PartitionKey) -> Bound<RowKey> {
        let Some(resume) = self.resume else { return Bound::Unbounded };
        let after = &resume.after;
        let item_key = if self.series.is_empty() {
            if !stands_in(resume, group, partition) {
                return Bound::Unbounded;
            }
            after.item_key.clone()
        } else {
            // The position is behind a row of one series; at its time and event, those before it in the order of the read are
            // done, and those behind it have not begun.
            match self.order.compare(&partition.series.as_str(), &after.series.as_str()) {
                Ordering::Equal => after.item_key.clone(),
                Ordering::Less => behind_items(self.order),
                Ordering::Greater => before_items(self.order),
            }
        };
        let (event_time, event_id) = (after.event_time, after.event_id.clone());
        Bound::Excluded(RowKey { event_time, event_id, item_key })
    }

    /// Bytes that earlier pages have read from `partitions` of `group`.
    fn scanned_before(&self, group: &Group, partitions: &[PartitionKey]) -> Vec<u64> {
        let here = |resume: &&Resume| {
            let bucket = group.layout.time_bucket(resume.after.event_time);
            // A token has room for the partitions of one series.
            let known = match (self.series, partitions) {
                ([], [one]) => stands_in(resume, group, one),
                ([_], _) => bucket == Some(group.time_bucket),
                _ => false,
            };
            known && resume.scanned_bytes.len() == partitions.len()
        };
        let known = self.resume.filter(here);
        known.map_or_else(|| vec![0; partitions.len()], |resume| resume.scanned_bytes.clone())
    }
}

/// Whether a read by partition stands inside of this one.
pub(super) fn stands_in(resume: &Resume, group: &Group, partition: &PartitionKey) -> bool {
    let after = &resume.after;
    after.series == partition.series
        && resume.event_bucket == Some(partition.event_bucket)
        && group.layout.time_bucket(after.event_time) == Some(partition.time_bucket)
}

/// A group whose rows come merged.
pub(super) struct GroupReader {
    pub(super) group: Group,
    /// One per event bucket of each series.
    readers: Vec<PartitionReader>,
    /// Readers that have a row, the one with the next row last. So as long as one partition goes on, a row costs one
    /// comparison with the runner-up, and none where no other is left.
    turns: Vec<usize>,
    /// Whose row was taken last.
    last: Option<usize>,
    /// That one is still the last of `turns` and may belong elsewhere.
    unsettled: bool,
    order: Order,
    /// Logical bytes that the store read.
    pub(super) bytes: u64,
    /// What earlier pages have read, by event bucket.
    scanned_before: Vec<u64>,
}

impl GroupReader {
    /// Reads the first page of every partition of the group; `ahead` of need where the future may be left unpolled.
    pub(super) async fn open(source: &Source<'_>, group: Group, ahead: bool) -> Result<Self> {
        let keys = |series| group.partitions(series).map(|partition| partition.key);
        let partitions: Vec<_> = source.series.iter().flat_map(keys).collect();
        Self::open_partitions(source, group, partitions, ahead).await
    }

    /// The same for these partitions of the group.
    pub(super) async fn open_partitions(
        source: &Source<'_>,
        group: Group,
        partitions: Vec<PartitionKey>,
        ahead: bool,
    ) -> Result<Self> {
        let count = partitions.len().max(1);
        if count > PARTITIONS_MAX {
            let message = format!(
                "the series have {count} partitions in one time bucket, more than the {PARTITIONS_MAX} that can be \
                 merged; search fewer series at a time"
            );
            return Err(Error::new(Reason::ReadBudgetExceeded, message));
        }
        let scanned_before = source.scanned_before(&group, &partitions);
        let least = if count <= FEW_PARTITIONS { PARTITION_BYTES_MIN } else { PARTITION_BYTES_FLOOR };
        let wanted_rows = source.rows_hint.div_ceil(count);
        let opened = partitions.into_iter().map(|partition| {
            let scan = Scan {
                table: source.dataset.table(&group.layout),
                order: source.order,
                interval: group.interval,
                from: source.from(&group, &partition),
                partition,
                rows_max: rows_to_ask(wanted_rows).min(source.rows_hint),
                bytes_max: (GROUP_BYTES / count as u64).max(least),
                consistency: source.dataset.namespace.spec.consistency,
                hedge_after: source.dataset.namespace.spec.hedge_after(),
                ahead,
            };
            PartitionReader::open(Arc::clone(source.store), Arc::clone(source.clock), scan, wanted_rows)
        });
        let readers = if count <= FAN_OUT {
            // Without a queue, which would wake this task for nothing, and another thread to take it over.
            try_join_all(opened).await?
        } else {
            stream::iter(opened).buffered(FAN_OUT).try_collect().await?
        };
        let mut reader = Self {
            group,
            bytes: readers.iter().map(|reader| reader.bytes).sum(),
            readers,
            turns: Vec::with_capacity(count),
            last: None,
            unsettled: false,
            order: source.order,
            scanned_before,
        };
        for index in 0..reader.readers.len() {
            reader.queue(index);
        }
        Ok(reader)
    }

    /// Whether [`Self::settle`] has to ask the store.
    pub(super) fn has_to_wait(&self) -> bool {
        let next = self.turns.last().filter(|_| self.unsettled).and_then(|index| self.readers.get(*index));
        next.is_some_and(PartitionReader::page_is_over)
    }

    /// Whether [`Self::settle`] has anything to do.
    pub(super) const fn is_unsettled(&self) -> bool {
        self.unsettled
    }

    /// Makes [`Self::head`] show the next row.
    pub(super) async fn settle(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.unsettled) {
            return Ok(());
        }
        let Some(index) = self.turns.pop() else { return Ok(()) };
        if let Some(reader) = self.readers.get_mut(index) {
            self.bytes += reader.turn_page().await?;
        }
        self.queue(index);
        Ok(())
    }

    /// The next row in order.
    pub(super) fn head(&self) -> Option<Head<'_>> {
        self.turns.last().and_then(|index| self.readers.get(*index)).and_then(PartitionReader::head)
    }

    /// The row that was taken last; none once its page was turned.
    pub(super) fn last_taken(&self) -> Option<Head<'_>> {
        self.last.and_then(|index| self.readers.get(index)).and_then(PartitionReader::last_taken)
    }

    /// Goes on behind the next rows, which are of one event.
    pub(super) fn take(&mut self, taken: Taken) {
        self.last = self.turns.last().copied();
        if let Some(reader) = self.last.and_then(|index| self.readers.get_mut(index)) {
            reader.take(taken);
            // Alone on its page, a partition stays where it is.
            self.unsettled = self.turns.len() > 1 || reader.head().is_none();
        }
    }

    /// Gives a reader its turn, if it has a row.
    fn queue(&mut self, index: usize) {
        let Some(key) = self.key_of(index) else { return };
        let is_later =
            |other: &usize| self.key_of(*other).is_some_and(|other| self.order.compare(&other, &key).is_gt());
        let turn = match self.turns.last() {
            Some(runner_up) if !is_later(runner_up) => self.turns.partition_point(is_later),
            _ => self.turns.len(),
        };
        self.turns.insert(turn, index);
    }

    fn key_of(&self, index: usize) -> Option<Key<'_>> {
        let Head { view, series, .. } = self.readers.get(index)?.head()?;
        Some((view.event_time.nanos(), view.event_id, series.as_str().as_bytes(), view.item_key))
    }

    /// The partition, where the group is read as one.
    pub(super) fn only(&self) -> Option<&PartitionKey> {
        match self.readers.as_slice() {
            [reader] => Some(reader.partition()),
            _ => None,
        }
    }

    /// Partitions visited.
    pub(super) fn partitions(&self) -> u64 {
        self.readers.len() as u64
    }

    /// What was read from each partition, on this page and before.
    pub(super) fn read_bytes(&self) -> impl Iterator<Item = PartitionBytes> {
        self.readers.iter().zip(&self.scanned_before).map(|(reader, before)| PartitionBytes {
            series: reader.partition().series.clone(),
            slice_start: self.group.layout.slice.start(),
            time_bucket: self.group.time_bucket,
            event_bucket: reader.partition().event_bucket,
            bytes: before.saturating_add(reader.bytes),
        })
    }

    /// What was done in each partition.
    pub(super) fn explained(&self) -> Vec<ExplainedPartition> {
        let explained = |reader: &PartitionReader| ExplainedPartition {
            event_bucket: reader.partition().event_bucket,
            rows: reader.rows_read() as u64,
            bytes: reader.bytes,
            store_calls: reader.calls,
            time_taken: reader.waited,
        };
        self.readers.iter().map(explained).collect()
    }

    /// Rows that the store gave.
    pub(super) fn rows(&self) -> usize {
        self.readers.iter().map(PartitionReader::rows_read).sum()
    }

    /// Bytes of the rows that were taken, on this page and before, by event bucket. The next page reads the last
    /// `again` of them once more; all of these are of one event, so of the partition that came last.
    pub(super) fn scanned_bytes(&self, again: u64) -> Vec<u64> {
        let series =
            |reader: Option<&PartitionReader>| reader.map(|reader| reader.partition().series.clone());
        if series(self.readers.first()) != series(self.readers.last()) {
            return Vec::new();
        }
        let with_before = self.readers.iter().zip(&self.scanned_before);
        let mut scanned: Vec<u64> =
            with_before.map(|(reader, before)| before.saturating_add(reader.taken_bytes)).collect();
        if let Some(bytes) = self.last.and_then(|index| scanned.get_mut(index)) {
            *bytes = bytes.saturating_sub(again);
        }
        scanned
    }
}
