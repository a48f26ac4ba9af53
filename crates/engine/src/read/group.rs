//! One group: the partitions of a time bucket, read in parallel and merged into one order.

use std::ops::Bound;
use std::sync::Arc;

use futures::future::try_join_all;
use model::{Group, Order, RowKey, SeriesId};
use store::{Scan, Store};

use super::partition::{Head, PartitionReader, rows_to_ask};
use crate::catalog::Dataset;
use crate::{PartitionBytes, Result, Resume};

/// Bytes that all first pages of a group may have together.
const GROUP_BYTES: u64 = 1 << 20;
/// Bytes that a partition's page has at least.
const PARTITION_BYTES_MIN: u64 = 64 << 10;

/// What all groups of one read share.
pub(super) struct Source<'a> {
    pub(super) store: &'a Arc<dyn Store>,
    pub(super) dataset: &'a Dataset,
    pub(super) series: &'a SeriesId,
    pub(super) order: Order,
    pub(super) resume: Option<&'a Resume>,
    /// Rows that the page has room for, if each event has one.
    pub(super) rows_hint: usize,
}

impl Source<'_> {
    fn from(&self) -> Bound<RowKey> {
        self.resume.map_or(Bound::Unbounded, |resume| {
            let after = resume.after.clone();
            Bound::Excluded(RowKey {
                event_time: after.event_time,
                event_id: after.event_id,
                item_key: after.item_key,
            })
        })
    }

    /// Bytes that earlier pages have read from the partitions of `group`.
    fn scanned_before(&self, group: &Group) -> Vec<u64> {
        let buckets = usize::from(group.layout.shape.buckets_per_id);
        let here = |resume: &&Resume| {
            group.layout.time_bucket(resume.after.event_time) == Some(group.time_bucket)
                && resume.scanned_bytes.len() == buckets
        };
        self.resume.filter(here).map_or_else(|| vec![0; buckets], |resume| resume.scanned_bytes.clone())
    }
}

/// A group whose rows come merged.
pub(super) struct GroupReader {
    pub(super) group: Group,
    /// One per event bucket.
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
    /// Reads the first page of every partition of the group.
    pub(super) async fn open(source: &Source<'_>, group: Group) -> Result<Self> {
        let partitions: Vec<_> = group.partitions(source.series).collect();
        let count = partitions.len().max(1);
        let wanted_rows = source.rows_hint.div_ceil(count);
        let opened = partitions.into_iter().map(|partition| {
            let scan = Scan {
                table: source.dataset.table(&group.layout),
                partition: partition.key,
                order: source.order,
                interval: group.interval,
                from: source.from(),
                rows_max: rows_to_ask(wanted_rows).min(source.rows_hint),
                bytes_max: (GROUP_BYTES / count as u64).max(PARTITION_BYTES_MIN),
            };
            PartitionReader::open(Arc::clone(source.store), scan, wanted_rows)
        });
        let readers = try_join_all(opened).await?;
        let mut reader = Self {
            group,
            bytes: readers.iter().map(|reader| reader.bytes).sum(),
            readers,
            turns: Vec::with_capacity(count),
            last: None,
            unsettled: false,
            order: source.order,
            scanned_before: source.scanned_before(&group),
        };
        for index in 0..reader.readers.len() {
            reader.queue(index);
        }
        Ok(reader)
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

    /// Goes on behind the next row.
    pub(super) fn take(&mut self) {
        self.last = self.turns.last().copied();
        if let Some(reader) = self.last.and_then(|index| self.readers.get_mut(index)) {
            reader.take();
            self.unsettled = true;
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

    fn key_of(&self, index: usize) -> Option<(i64, &[u8], &[u8])> {
        let row = self.readers.get(index)?.head()?.view;
        Some((row.event_time.nanos(), row.event_id, row.item_key))
    }

    /// Partitions visited.
    pub(super) fn partitions(&self) -> u64 {
        self.readers.len() as u64
    }

    /// What was read from each partition, on this page and before.
    pub(super) fn read_bytes(&self) -> impl Iterator<Item = PartitionBytes> {
        let with_before = self.readers.iter().zip(&self.scanned_before);
        (0..).zip(with_before).map(|(event_bucket, (reader, before))| PartitionBytes {
            slice_start: self.group.layout.slice.start(),
            time_bucket: self.group.time_bucket,
            event_bucket,
            bytes: before.saturating_add(reader.bytes),
        })
    }

    /// Bytes of the rows that were taken, on this page and before, by event bucket. The next page reads the last
    /// `again` of them once more; all of these are of one event, so of the partition that came last.
    pub(super) fn scanned_bytes(&self, again: u64) -> Vec<u64> {
        let with_before = self.readers.iter().zip(&self.scanned_before);
        let mut scanned: Vec<u64> =
            with_before.map(|(reader, before)| before.saturating_add(reader.taken_bytes)).collect();
        if let Some(bytes) = self.last.and_then(|index| scanned.get_mut(index)) {
            *bytes = bytes.saturating_sub(again);
        }
        scanned
    }
}
