//! What the tests start from: a table, rows in one partition of it, a record.

use std::ops::Bound;

use bytes::Bytes;
use model::{
    EventId, Interval, ItemKey, NamespaceName, Order, PartitionKey, Row, RowKey, SeriesId, TableName,
    TableRef, Timestamp,
};
use sim::World;
use store::{Consistency, MetaChange, MetaKey, PartitionBatch, Scan, ScanPage, Storage, Store, TableOutcome};

/// Runs a scenario and expects that none of its tasks panics.
pub(crate) fn run<T, F: Future<Output = T>>(seed: u64, scenario: impl FnOnce(World) -> F) -> T {
    World::run(seed, scenario).expect("no task panics")
}

pub(crate) fn table() -> TableRef {
    let namespace = NamespaceName::new("space").expect("legal");
    TableRef { namespace, incarnation: 1, name: TableName::new("data").expect("legal") }
}

pub(crate) async fn make_table(store: &dyn Store) -> TableRef {
    let table = table();
    assert_eq!(store.create_table(&table, &Storage::default()).await.expect("create"), TableOutcome::Done);
    table
}

pub(crate) fn partition() -> PartitionKey {
    PartitionKey { series: SeriesId::new("series").expect("legal"), time_bucket: 0, event_bucket: 0 }
}

pub(crate) fn row(time: i64, item: &str, value: &str) -> Row {
    Row {
        key: RowKey {
            event_time: Timestamp::from_nanos(time).expect("legal"),
            event_id: EventId::new("event").expect("legal"),
            item_key: ItemKey::new(item).expect("legal"),
        },
        write_time: 1_000,
        value: Bytes::from(value.to_owned()),
        metadata: Bytes::new(),
    }
}

/// An event at each of these times.
pub(crate) fn batch(table: &TableRef, times: &[i64]) -> PartitionBatch {
    PartitionBatch {
        table: table.clone(),
        partition: partition(),
        rows: times.iter().map(|time| row(*time, "item", "value")).collect(),
        consistency: Consistency::LocalQuorum,
    }
}

pub(crate) fn scan(table: &TableRef) -> Scan {
    Scan {
        table: table.clone(),
        partition: partition(),
        order: Order::OldestFirst,
        interval: Interval::ALL,
        from: Bound::Unbounded,
        rows_max: 1_000,
        bytes_max: 1 << 20,
        consistency: Consistency::LocalQuorum,
        hedge_after: None,
        ahead: false,
    }
}

/// The times of the events of a page.
pub(crate) fn times(page: &ScanPage) -> Vec<i64> {
    page.rows.iter().map(|row| row.event_time.nanos()).collect()
}

pub(crate) fn key(name: &str) -> MetaKey {
    MetaKey::new("group", name.to_owned())
}

pub(crate) fn put(value: &str) -> MetaChange {
    MetaChange::Put(Bytes::from(value.to_owned()))
}
