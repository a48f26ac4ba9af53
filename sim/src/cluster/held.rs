//! What one replica holds: rows in a memory store, whose calls end at once, and what was deleted from it.
//!
//! A deletion has a time. It hides the rows of its partition whose write time is not later, whether they were there or come
//! after it. Replicas that are asked together tell each other of their deletions first, so that what one quorum found deleted
//! stays so for every later one.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use model::{Interval, Order, PartitionKey, Row, TableRef};
use store::{
    Consistency, Durability, Effort, Enumerate, Error, ErrorKind, Histogram, MemoryStore, PartitionBatch,
    PartitionPage, Result, Scan, ScanPage, Storage, Store, TableOutcome, limits,
};

use super::timeline::{Deletion, RowChange};

/// Rows and bytes that are copied at a time.
const COPY_ROWS: usize = 4_096;
const COPY_BYTES: u64 = 4 << 20;

/// When the partitions of each table were deleted, in microseconds since 1970.
type Deleted = BTreeMap<TableRef, BTreeMap<PartitionKey, i64>>;

/// What a replica holds. Clones are the same.
#[derive(Clone, Default)]
pub(super) struct Held {
    rows: MemoryStore,
    deleted: Arc<Mutex<Deleted>>,
}

impl Held {
    pub(super) fn make_table(&self, table: &TableRef, storage: &Storage) -> Result<TableOutcome> {
        at_once(self.rows.create_table(table, storage))
    }

    pub(super) fn drop_table(&self, table: &TableRef) -> Result<TableOutcome> {
        self.deleted().remove(table);
        at_once(self.rows.drop_table(table))
    }

    /// Takes a change that has arrived.
    pub(super) fn take(&self, change: &RowChange) -> Result<()> {
        match change {
            RowChange::Upsert(batch) => self.upsert(batch.clone()),
            RowChange::Delete(Deletion { table, partition, time, .. }) => {
                self.delete(table, partition, *time)
            }
        }
    }

    fn upsert(&self, mut batch: PartitionBatch) -> Result<()> {
        if let Some(deleted) = self.deletion(&batch.table, &batch.partition) {
            batch.rows.retain(|row| row.write_time > deleted);
        }
        at_once(self.rows.upsert(batch, Durability::Buffered))
    }

    fn delete(&self, table: &TableRef, partition: &PartitionKey, time: i64) -> Result<()> {
        let mut later: Vec<Row> = Vec::new();
        self.each_page(table, partition, |rows| {
            later.extend(rows.into_iter().filter(|row| row.write_time > time));
            Ok(())
        })?;
        at_once(self.rows.delete_partition(table, partition, Consistency::LocalOne))?;
        let mut deleted = self.deleted();
        let known = deleted.entry(table.clone()).or_default().entry(partition.clone()).or_insert(time);
        *known = time.max(*known);
        drop(deleted);
        later.chunks(COPY_ROWS).try_for_each(|rows| self.upsert(batch(table, partition, rows.to_vec())))
    }

    /// Makes these all that it has of a partition.
    pub(super) fn replace(&self, table: &TableRef, partition: &PartitionKey, rows: &[Row]) -> Result<()> {
        at_once(self.rows.delete_partition(table, partition, Consistency::LocalOne))?;
        at_once(self.rows.upsert(batch(table, partition, rows.to_vec()), Durability::Buffered))
    }

    pub(super) fn scan(&self, scan: &Scan) -> Result<ScanPage> {
        at_once(self.rows.scan(scan.clone()))
    }

    pub(super) fn enumerate(&self, request: &Enumerate) -> Result<PartitionPage> {
        at_once(self.rows.enumerate(request.clone()))
    }

    pub(super) fn sizes(&self, table: &TableRef) -> Result<Histogram> {
        at_once(self.rows.histogram(table, Effort::Measure))
    }

    /// Gives another replica what this one has of a partition.
    pub(super) fn copy_to(&self, other: &Self, table: &TableRef, partition: &PartitionKey) -> Result<()> {
        self.each_page(table, partition, |rows| other.upsert(batch(table, partition, rows)))
    }

    /// Tells another replica of what this one knows to be deleted in a table.
    pub(super) fn tell_deletions(&self, other: &Self, table: &TableRef) -> Result<()> {
        let known = self.deleted().get(table).cloned().unwrap_or_default();
        for (partition, time) in known {
            if other.deletion(table, &partition).is_none_or(|knows| knows < time) {
                other.delete(table, &partition, time)?;
            }
        }
        Ok(())
    }

    fn each_page(
        &self,
        table: &TableRef,
        partition: &PartitionKey,
        mut take: impl FnMut(Vec<Row>) -> Result<()>,
    ) -> Result<()> {
        let mut scan = Scan { rows_max: COPY_ROWS, bytes_max: COPY_BYTES, ..everything(table, partition) };
        loop {
            let page = self.scan(&scan)?;
            let Some(last) = page.rows.last() else {
                return Ok(());
            };
            scan.from = Bound::Excluded(last.key);
            take(page.rows.to_vec())?;
            if !page.more {
                return Ok(());
            }
        }
    }

    fn deletion(&self, table: &TableRef, partition: &PartitionKey) -> Option<i64> {
        self.deleted().get(table)?.get(partition).copied()
    }

    fn deleted(&self) -> MutexGuard<'_, Deleted> {
        // Nothing under this lock can panic half way through a change.
        self.deleted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The result of a call to a store in memory.
pub(super) fn at_once<T>(call: impl Future<Output = Result<T>>) -> Result<T> {
    let waits = || Err(Error::new(ErrorKind::Unavailable, "a memory store made its caller wait; mend it"));
    call.now_or_never().unwrap_or_else(waits)
}

/// A scan of a partition from its beginning.
pub(super) fn everything(table: &TableRef, partition: &PartitionKey) -> Scan {
    Scan {
        table: table.clone(),
        partition: partition.clone(),
        order: Order::OldestFirst,
        interval: Interval::ALL,
        from: Bound::Unbounded,
        rows_max: limits::SCAN_ROWS_MAX,
        bytes_max: limits::SCAN_BYTES_MAX,
        consistency: Consistency::LocalOne,
        hedge_after: None,
        ahead: false,
    }
}

fn batch(table: &TableRef, partition: &PartitionKey, rows: Vec<Row>) -> PartitionBatch {
    let (table, partition) = (table.clone(), partition.clone());
    PartitionBatch { table, partition, rows, consistency: Consistency::LocalOne }
}
