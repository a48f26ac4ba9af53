//! What every case starts from: a store, names that nobody else uses, and short ways to write and read.
//!
//! Helpers panic where the store fails: in a case that is the failure to report.

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use env::{SystemRandom, fresh_id};
use model::{
    EventId, Interval, ItemKey, NamespaceName, Order, PartitionKey, Row, RowKey, SeriesId, TableName,
    TableRef, Timestamp,
};

use crate::{
    Consistency, Durability, Effort, Enumerate, Histogram, MetaKey, PartitionBatch, Scan, Storage, Store,
    TableOutcome, limits,
};

/// Pages after which a walk that should have ended is called endless.
const PAGES_MAX: usize = 10_000;

/// A store and a namespace of its own for one case.
#[derive(Clone)]
pub struct Fixture {
    /// The store under test.
    pub store: Arc<dyn Store>,
    /// A namespace that no other case uses.
    pub namespace: NamespaceName,
    /// The incarnation of that namespace.
    pub incarnation: u32,
    /// What the case's reads and writes ask for.
    pub consistency: Consistency,
}

impl Fixture {
    /// A fresh namespace on `store`.
    pub fn new(store: Arc<dyn Store>) -> Self {
        let id: String = fresh_id(&SystemRandom).chars().take(20).collect();
        let namespace =
            NamespaceName::new(&format!("case_{id}")).expect("hexadecimal digits are legal in a name");
        Self { store, namespace, incarnation: 1, consistency: Consistency::default() }
    }

    /// The name of the case's table number `number`.
    pub fn table(&self, number: u32) -> TableRef {
        let name = TableName::new(&format!("t{number:04}")).expect("digits are legal in a name");
        TableRef { namespace: self.namespace.clone(), incarnation: self.incarnation, name }
    }

    /// Makes table number `number`.
    pub async fn made(&self, number: u32) -> TableRef {
        let table = self.table(number);
        assert_eq!(
            self.store.create_table(&table, &Storage::default()).await.expect("create"),
            TableOutcome::Done
        );
        table
    }

    /// The address `name` in a metadata group of this case.
    pub fn meta_key(&self, group: &str, name: &str) -> MetaKey {
        MetaKey::new(format!("{}/{group}", self.namespace.as_str()), name.to_owned())
    }

    /// Writes rows and waits for the acknowledgement.
    pub async fn write(&self, table: &TableRef, partition: &PartitionKey, rows: &[Row]) {
        let batch = PartitionBatch {
            table: table.clone(),
            partition: partition.clone(),
            rows: rows.to_vec(),
            consistency: self.consistency,
        };
        self.store.upsert(batch, Durability::Buffered).await.expect("upsert");
    }

    /// Deletes a partition.
    pub async fn delete(&self, table: &TableRef, partition: &PartitionKey) {
        self.store.delete_partition(table, partition, self.consistency).await.expect("delete");
    }

    /// Every row of a partition, oldest first.
    pub async fn read(&self, table: &TableRef, partition: &PartitionKey) -> Vec<Row> {
        self.walk(scan(table, partition)).await
    }

    /// Every row from where `scan` begins, page by page, and checks each page against the rules that hold for all.
    pub async fn walk(&self, mut scan: Scan) -> Vec<Row> {
        scan.consistency = self.consistency;
        let mut rows: Vec<Row> = Vec::new();
        for _ in 0..PAGES_MAX {
            let page = self.store.scan(scan.clone()).await.expect("scan");
            assert_eq!(
                page.bytes,
                page.rows.iter().map(|row| row.logical_bytes()).sum::<u64>(),
                "bytes of a page"
            );
            assert!(
                page.rows.len() <= scan.rows_max,
                "{} rows, asked for {}",
                page.rows.len(),
                scan.rows_max
            );
            let full = page.rows.len() == scan.rows_max || page.bytes >= scan.bytes_max;
            assert!(full || !page.more, "more rows are announced though no limit was reached");
            rows.extend(page.rows.to_vec());
            if !page.more {
                return rows;
            }
            let last = rows.last().expect("a page before more rows is not empty");
            scan.from = Bound::Excluded(last.key.clone());
        }
        panic!("scan does not end");
    }

    /// One page of an enumeration, and behind which partition it goes on.
    pub async fn partitions_page(
        &self,
        table: &TableRef,
        after: Option<PartitionKey>,
        partitions_max: usize,
    ) -> (Vec<PartitionKey>, Option<PartitionKey>) {
        let request =
            Enumerate { table: table.clone(), after, partitions_max, consistency: self.consistency };
        let page = self.store.enumerate(request).await.expect("enumerate");
        assert!(page.partitions.len() <= partitions_max, "{} partitions", page.partitions.len());
        let next = page.partitions.last().filter(|_| page.more).cloned();
        assert_eq!(next.is_some(), page.more, "an empty page says that more follow");
        (page.partitions, next)
    }

    /// Every partition of a table, in the backend's order.
    pub async fn partitions(&self, table: &TableRef, partitions_max: usize) -> Vec<PartitionKey> {
        self.partitions_after(table, None, partitions_max).await
    }

    /// Every partition behind `after`, in the backend's order.
    pub async fn partitions_after(
        &self,
        table: &TableRef,
        mut after: Option<PartitionKey>,
        partitions_max: usize,
    ) -> Vec<PartitionKey> {
        let mut found = Vec::new();
        for _ in 0..PAGES_MAX {
            let (partitions, next) = self.partitions_page(table, after, partitions_max).await;
            found.extend(partitions);
            if next.is_none() {
                return found;
            }
            after = next;
        }
        panic!("enumeration does not end");
    }

    /// The measured sizes of a table.
    pub async fn measure(&self, table: &TableRef) -> Histogram {
        self.store.histogram(table, Effort::Measure).await.expect("histogram")
    }
}

/// The first partition of `series`.
pub(super) fn partition(series: &str) -> PartitionKey {
    bucket(series, 0, 0)
}

/// A partition of `series`.
pub(super) fn bucket(series: &str, time_bucket: u32, event_bucket: u32) -> PartitionKey {
    PartitionKey { series: SeriesId::new(series).expect("series id"), time_bucket, event_bucket }
}

/// The key of a row.
pub(super) fn key(time: i64, event: &str, item: &str) -> RowKey {
    RowKey {
        event_time: Timestamp::from_nanos(time).expect("time"),
        event_id: EventId::new(event).expect("event id"),
        item_key: ItemKey::new(item).expect("item key"),
    }
}

/// A row without metadata, written at microsecond 1,000.
pub fn row(time: i64, event: &str, item: &str, value: &str) -> Row {
    Row {
        key: key(time, event, item),
        write_time: 1_000,
        value: Bytes::from(value.to_owned()),
        metadata: Bytes::new(),
    }
}

/// `count` rows one nanosecond apart, oldest first.
pub(super) fn rows(count: u32) -> Vec<Row> {
    (0..count).map(|n| row(i64::from(n) + 10, &format!("event {n}"), "item", &format!("value {n}"))).collect()
}

/// A scan of everything in a partition, oldest first, at the largest limits.
pub(super) fn scan(table: &TableRef, partition: &PartitionKey) -> Scan {
    Scan {
        table: table.clone(),
        partition: partition.clone(),
        order: Order::OldestFirst,
        interval: Interval::ALL,
        from: Bound::Unbounded,
        rows_max: limits::SCAN_ROWS_MAX,
        bytes_max: limits::SCAN_BYTES_MAX,
        consistency: Consistency::default(),
        hedge_after: None,
        ahead: false,
    }
}

/// A batch.
pub(super) fn batch(table: &TableRef, partition: &PartitionKey, rows: Vec<Row>) -> PartitionBatch {
    PartitionBatch {
        table: table.clone(),
        partition: partition.clone(),
        rows,
        consistency: Consistency::default(),
    }
}
