//! What a store knows after it was closed and opened again, and who may open it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use bytes::Bytes;
use env::Env;
use model::{
    EventId, HistogramQuality, ItemKey, NamespaceName, PartitionKey, Row, RowKey, SeriesId, TableName,
    TableRef, Timestamp,
};
use store::{
    Consistency, Durability, Effort, ErrorKind, MetaChange, MetaKey, PartitionBatch, Storage, Store,
};
use store_embedded::{EmbeddedStore, Options};

async fn open(directory: &Path) -> EmbeddedStore {
    EmbeddedStore::open(directory, Options::default(), Env::system()).await.unwrap()
}

fn table() -> TableRef {
    TableRef {
        namespace: NamespaceName::new("reopen").unwrap(),
        incarnation: 1,
        name: TableName::new("data_20260328").unwrap(),
    }
}

fn batch(series: &str, events: std::ops::Range<u32>, value_bytes: usize) -> PartitionBatch {
    let row = |event: u32| Row {
        key: RowKey {
            event_time: Timestamp::from_nanos(i64::from(event)).unwrap(),
            event_id: EventId::new(format!("e{event:06}")).unwrap(),
            item_key: ItemKey::new("k").unwrap(),
        },
        write_time: 1,
        value: Bytes::from(vec![1; value_bytes]),
        metadata: Bytes::new(),
    };
    PartitionBatch {
        table: table(),
        partition: PartitionKey { series: SeriesId::new(series).unwrap(), time_bucket: 1, event_bucket: 2 },
        rows: events.map(row).collect(),
        consistency: Consistency::default(),
    }
}

#[tokio::test]
async fn a_second_opener_is_told_who_has_the_directory() {
    let scratch = tempfile::tempdir().unwrap();
    let first = open(scratch.path()).await;
    let second = EmbeddedStore::open(scratch.path(), Options::default(), Env::system()).await.err().unwrap();
    assert_eq!(second.kind(), ErrorKind::Unavailable);
    assert!(second.to_string().contains("is in use by process"), "{second}");
    first.close().await;
    open(scratch.path()).await;
}

#[tokio::test]
async fn a_directory_of_a_newer_format_is_refused_untouched() {
    let scratch = tempfile::tempdir().unwrap();
    let store = open(scratch.path()).await;
    store.create_table(&table(), &Storage::default()).await.unwrap();
    store.close().await;
    std::fs::write(scratch.path().join("FORMAT"), "braid embedded store, format 2\n").unwrap();
    let before = listing(scratch.path());
    let refusal = EmbeddedStore::open(scratch.path(), Options::default(), Env::system()).await.err().unwrap();
    assert!(refusal.to_string().contains("start the newer version"), "{refusal}");
    assert_eq!(listing(scratch.path()), before);
}

/// Every file with its length and time of change.
fn listing(directory: &Path) -> Vec<(std::path::PathBuf, u64, std::time::SystemTime)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let facts = entry.metadata().unwrap();
        if facts.is_dir() {
            files.extend(listing(&entry.path()));
        } else {
            files.push((entry.path(), facts.len(), facts.modified().unwrap()));
        }
    }
    files.sort();
    files
}

#[tokio::test]
async fn metadata_versions_go_on_where_they_were() {
    let scratch = tempfile::tempdir().unwrap();
    let key = MetaKey::new("group", "name");
    let store = open(scratch.path()).await;
    store.meta_cas(&key, None, MetaChange::Put(Bytes::from_static(b"one"))).await.unwrap();
    store.close().await;
    let store = open(scratch.path()).await;
    let record = store.meta_get(&key).await.unwrap().unwrap();
    assert_eq!(record.value, "one");
    let put = MetaChange::Put(Bytes::from_static(b"two"));
    store.meta_cas(&key, Some(record.version), put).await.unwrap();
    assert!(store.meta_get(&key).await.unwrap().unwrap().version > record.version);
}

#[tokio::test]
async fn an_exact_histogram_is_kept_until_the_next_write() {
    let scratch = tempfile::tempdir().unwrap();
    let store = open(scratch.path()).await;
    store.create_table(&table(), &Storage::default()).await.unwrap();
    store.upsert(batch("a", 0..50, 100), Durability::Synced).await.unwrap();
    assert_eq!(store.histogram(&table(), Effort::Cheap).await.unwrap().quality, HistogramQuality::Estimated);
    let exact = store.histogram(&table(), Effort::Measure).await.unwrap();
    assert_eq!((exact.sizes.count(), exact.sizes.sum()), (1, 50 * (8 + 7 + 1 + 100)));
    store.close().await;

    let store = open(scratch.path()).await;
    assert_eq!(store.histogram(&table(), Effort::Cheap).await.unwrap(), exact);
    store.upsert(batch("b", 0..1, 100), Durability::Synced).await.unwrap();
    assert_eq!(store.histogram(&table(), Effort::Cheap).await.unwrap().quality, HistogramQuality::Estimated);
    let again = store.histogram(&table(), Effort::Measure).await.unwrap();
    assert_eq!((again.quality, again.sizes.count()), (HistogramQuality::Exact, 2));
}

#[tokio::test]
async fn estimated_sizes_are_upper_bounds_over_restarts() {
    let scratch = tempfile::tempdir().unwrap();
    let mut written = 0;
    for life in 0..4 {
        let store = open(scratch.path()).await;
        store.create_table(&table(), &Storage::default()).await.unwrap();
        for step in 0..6 {
            let events = batch("wide", life * 1_000 + step * 100..life * 1_000 + step * 100 + 60, 1_000);
            written += events.logical_bytes();
            store.upsert(events, Durability::Buffered).await.unwrap();
            let estimated = store.histogram(&table(), Effort::Cheap).await.unwrap();
            assert_eq!(estimated.quality, HistogramQuality::Estimated);
            assert_eq!(estimated.sizes.count(), 1);
            assert!(estimated.sizes.max() >= written, "{} < {written}", estimated.sizes.max());
            assert!(
                estimated.sizes.max() <= 5 * written + (1 << 20),
                "{} for {written}",
                estimated.sizes.max()
            );
        }
        store.close().await;
    }
}

#[tokio::test]
async fn a_deleted_partition_stays_deleted_and_its_size_is_forgotten() {
    let scratch = tempfile::tempdir().unwrap();
    let store = open(scratch.path()).await;
    store.create_table(&table(), &Storage::default()).await.unwrap();
    let (wide, small) = (batch("wide", 0..5_000, 100), batch("small", 0..5, 100));
    for rows in [&wide, &small] {
        store.upsert(rows.clone(), Durability::Synced).await.unwrap();
    }
    let estimated = store.histogram(&table(), Effort::Cheap).await.unwrap();
    assert_eq!(estimated.sizes.count(), 2);
    store.flush().await.unwrap();
    store.delete_partition(&table(), &wide.partition, Consistency::default()).await.unwrap();
    let estimated = store.histogram(&table(), Effort::Cheap).await.unwrap();
    assert_eq!((estimated.sizes.count(), estimated.sizes.max()), (1, small.logical_bytes()));
    store.close().await;

    let store = open(scratch.path()).await;
    let estimated = store.histogram(&table(), Effort::Cheap).await.unwrap();
    assert_eq!(estimated.sizes.count(), 0, "a small partition has no record, and the wide one none any more");
    let exact = store.histogram(&table(), Effort::Measure).await.unwrap();
    assert_eq!((exact.sizes.count(), exact.sizes.sum()), (1, small.logical_bytes()));
    store.delete_partition(&table(), &small.partition, Consistency::default()).await.unwrap();
    assert_eq!(store.histogram(&table(), Effort::Measure).await.unwrap().sizes.count(), 0);
}

#[tokio::test]
async fn the_share_of_the_disk_is_known() {
    let scratch = tempfile::tempdir().unwrap();
    let share = open(scratch.path()).await.disk_share().await.unwrap();
    assert!(share.is_some_and(|share| share > 0.0 && share <= 1.0), "{share:?}");
}

#[tokio::test]
async fn a_dropped_table_gives_its_space_back_and_stays_dropped() {
    let scratch = tempfile::tempdir().unwrap();
    let store = open(scratch.path()).await;
    store.create_table(&table(), &Storage::default()).await.unwrap();
    for step in 0..40 {
        let rows = batch("a", step * 100..step * 100 + 100, 5_000);
        store.upsert(rows, Durability::Buffered).await.unwrap();
    }
    store.flush().await.unwrap();
    let before = store.stats().await.unwrap().disk_bytes;
    store.drop_table(&table()).await.unwrap();
    let after = store.stats().await.unwrap().disk_bytes;
    assert!(before - after > 100_000, "{before} bytes before, {after} after");
    store.close().await;
    let store = open(scratch.path()).await;
    assert_eq!(store.list_tables().await.unwrap(), []);
    store.create_table(&table(), &Storage::default()).await.unwrap();
    assert_eq!(store.histogram(&table(), Effort::Measure).await.unwrap().sizes.count(), 0);
}

#[tokio::test]
async fn the_number_of_tables_is_limited_with_advice() {
    let scratch = tempfile::tempdir().unwrap();
    let options = Options { tables_max: 1, ..Options::default() };
    let store = EmbeddedStore::open(scratch.path(), options, Env::system()).await.unwrap();
    store.create_table(&table(), &Storage::default()).await.unwrap();
    let second = TableRef { incarnation: 2, ..table() };
    let refusal = store.create_table(&second, &Storage::default()).await.unwrap_err();
    assert_eq!(refusal.kind(), ErrorKind::Invalid);
    assert!(refusal.to_string().contains("max_tables"), "{refusal}");
}
