//! The reference that the random case compares a store with: sorted rows, every rule spelled out plainly.
//!
//! It shares no code with any backend, nor with [`model::Row::merge`]: what it says is read from the contract.

use std::collections::BTreeMap;
use std::ops::Bound;

use model::{PartitionKey, Row, RowKey, SizeHistogram};

use crate::{Scan, ScanPage};

/// What a table should hold.
#[derive(Default)]
pub(super) struct Reference {
    partitions: BTreeMap<PartitionKey, BTreeMap<RowKey, Row>>,
}

impl Reference {
    /// Writes a batch.
    pub(super) fn upsert(&mut self, partition: &PartitionKey, rows: &[Row]) {
        for row in rows {
            let kept = self.partitions.entry(partition.clone()).or_default();
            let kept = kept.entry(row.key.clone()).or_insert_with(|| row.clone());
            if row.write_time > kept.write_time {
                *kept = row.clone();
            } else if row.write_time == kept.write_time {
                if row.value > kept.value {
                    kept.value = row.value.clone();
                }
                if row.metadata > kept.metadata {
                    kept.metadata = row.metadata.clone();
                }
            }
        }
    }

    /// Deletes a partition.
    pub(super) fn delete(&mut self, partition: &PartitionKey) {
        self.partitions.remove(partition);
    }

    /// The page that a scan should give.
    pub(super) fn scan(&self, scan: &Scan) -> ScanPage {
        let mut rows: Vec<&Row> =
            self.partitions.get(&scan.partition).into_iter().flat_map(BTreeMap::values).collect();
        rows.retain(|row| scan.interval.contains(row.key.event_time));
        rows.retain(|row| match &scan.from {
            Bound::Unbounded => true,
            Bound::Included(from) => scan.order.compare(&row.key, from).is_ge(),
            Bound::Excluded(from) => scan.order.compare(&row.key, from).is_gt(),
        });
        rows.sort_by(|a, b| scan.order.compare(&a.key, &b.key));
        let (mut kept, mut bytes) = (0, 0);
        while kept < rows.len() && kept < scan.rows_max && bytes < scan.bytes_max {
            bytes += rows[kept].logical_bytes();
            kept += 1;
        }
        let more = kept < rows.len();
        ScanPage { rows: rows.into_iter().take(kept).collect(), bytes, more }
    }

    /// The partitions that should be listed, sorted.
    pub(super) fn partitions(&self) -> Vec<PartitionKey> {
        self.partitions.keys().cloned().collect()
    }

    /// The sizes that should be measured.
    pub(super) fn sizes(&self) -> SizeHistogram {
        let mut sizes = SizeHistogram::default();
        for rows in self.partitions.values() {
            sizes.record(rows.values().map(Row::logical_bytes).sum());
        }
        sizes
    }
}
