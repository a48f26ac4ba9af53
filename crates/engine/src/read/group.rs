//! One group: the partitions of a time bucket, read in parallel and merged into one order.

use std::ops::Bound;
use std::sync::Arc;

use futures::future::try_join_all;
use model::{Group, Order, Row, RowKey, RowView, SeriesId};
use store::{Scan, Store};

use super::partition::PartitionReader;
use crate::Result;
use crate::catalog::Dataset;

/// Bytes that all first pages of a group may have together.
const GROUP_BYTES: u64 = 1 << 20;
/// Bytes that a partition's page has at least.
const PARTITION_BYTES_MIN: u64 = 64 << 10;
/// Rows that a partition's page has at most.
const PARTITION_ROWS_MAX: usize = 4_096;

/// What all groups of one read share.
pub(super) struct Source<'a> {
    pub(super) store: &'a Arc<dyn Store>,
    pub(super) dataset: &'a Dataset,
    pub(super) series: &'a SeriesId,
    pub(super) order: Order,
    pub(super) from: Bound<RowKey>,
    pub(super) rows_hint: usize,
}

/// A group whose rows come merged.
pub(super) struct GroupReader {
    pub(super) group: Group,
    readers: Vec<PartitionReader>,
    order: Order,
}

impl GroupReader {
    /// Reads the first page of every partition of the group.
    pub(super) async fn open(source: &Source<'_>, group: Group) -> Result<Self> {
        let partitions: Vec<_> = group.partitions(source.series).collect();
        let share = GROUP_BYTES / (partitions.len() as u64).max(1);
        let opened = partitions.into_iter().map(|partition| {
            let scan = Scan {
                table: source.dataset.table(&group.layout),
                partition: partition.key,
                order: source.order,
                interval: group.interval,
                from: source.from.clone(),
                rows_max: source.rows_hint.clamp(1, PARTITION_ROWS_MAX),
                bytes_max: share.max(PARTITION_BYTES_MIN),
            };
            PartitionReader::open(Arc::clone(source.store), scan)
        });
        Ok(Self { group, readers: try_join_all(opened).await?, order: source.order })
    }

    /// The next row in order.
    pub(super) async fn next(&mut self) -> Result<Option<Row>> {
        let mut first: Option<(usize, RowView<'_>)> = None;
        for (index, reader) in self.readers.iter().enumerate() {
            let Some(row) = reader.peek() else { continue };
            let sooner =
                first.as_ref().is_none_or(|(_, best)| self.order.compare(&key(&row), &key(best)).is_lt());
            if sooner {
                first = Some((index, row));
            }
        }
        let Some(index) = first.map(|(index, _)| index) else { return Ok(None) };
        match self.readers.get_mut(index) {
            Some(reader) => reader.take().await,
            None => Ok(None),
        }
    }

    /// Partitions visited.
    pub(super) fn partitions(&self) -> u64 {
        self.readers.len() as u64
    }

    /// Logical bytes read.
    pub(super) fn bytes(&self) -> u64 {
        self.readers.iter().map(|reader| reader.bytes).sum()
    }
}

fn key<'a>(row: &RowView<'a>) -> (i64, &'a [u8], &'a [u8]) {
    (row.event_time.nanos(), row.event_id, row.item_key)
}
