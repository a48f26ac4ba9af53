//! Heads and bodies as they lie in a table: records are put there, spoiled and counted behind the store's back.

use std::collections::BTreeSet;
use std::ops::Bound;

use bytes::Bytes;
use env::Env;
use fjall::Keyspace;
use model::{
    EventId, Interval, ItemKey, NamespaceName, Order, PartitionKey, Row, RowKey, SeriesId, TableName,
    TableRef, Timestamp,
};
use store::{
    Consistency, Durability, Effort, ErrorKind, PartitionBatch, Result, Scan, ScanPage, Storage, Store,
    limits,
};
use tempfile::TempDir;

use crate::keys::{body, partition, row};
use crate::{EmbeddedStore, Options};

const BOTH: [Order; 2] = [Order::OldestFirst, Order::NewestFirst];

/// A store with one table.
struct Opened {
    store: EmbeddedStore,
    table: TableRef,
    _scratch: TempDir,
}

fn at(series: &str) -> PartitionKey {
    PartitionKey { series: SeriesId::new(series).unwrap(), time_bucket: 1, event_bucket: 2 }
}

/// A row without item key, as a chunk is one.
fn packed(time: i64, write_time: i64, value: &[u8]) -> Row {
    Row {
        key: RowKey {
            event_time: Timestamp::from_nanos(time).unwrap(),
            event_id: EventId::new("event").unwrap(),
            item_key: ItemKey::from_stored(Bytes::new()),
        },
        write_time,
        value: Bytes::copy_from_slice(value),
        metadata: Bytes::from(format!("header {time}")),
    }
}

fn item(time: i64) -> Row {
    let row = packed(time, 1, b"item");
    Row { key: RowKey { item_key: ItemKey::new("k").unwrap(), ..row.key }, ..row }
}

fn without_values(rows: &[Row]) -> Vec<Row> {
    rows.iter().map(|row| Row { value: Bytes::new(), ..row.clone() }).collect()
}

fn in_order(order: Order, rows: &[Row]) -> Vec<Row> {
    let mut rows = rows.to_vec();
    rows.sort_by(|a, b| order.compare(&a.key, &b.key));
    rows
}

/// What a row was stored as before there were bodies.
fn old_record(prefix: &[u8], row: &Row) -> (Bytes, Bytes) {
    let key = row::encode_all(prefix, std::slice::from_ref(row)).swap_remove(0).0;
    let length = u32::try_from(row.metadata.len()).unwrap().to_be_bytes();
    (key, [&[2], &length[..], &row.metadata, &row.value].concat().into())
}

impl Opened {
    async fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let store = EmbeddedStore::open(scratch.path(), Options::default(), Env::system()).await.unwrap();
        let table = TableRef {
            namespace: NamespaceName::new("bodies").unwrap(),
            incarnation: 1,
            name: TableName::new("wide_20260328").unwrap(),
        };
        store.create_table(&table, &Storage::default()).await.unwrap();
        Self { store, table, _scratch: scratch }
    }

    async fn write(&self, partition: &PartitionKey, rows: &[Row]) {
        let batch = PartitionBatch {
            table: self.table.clone(),
            partition: partition.clone(),
            rows: rows.to_vec(),
            consistency: Consistency::default(),
        };
        self.store.upsert(batch, Durability::Buffered).await.unwrap();
    }

    fn request(&self, partition: &PartitionKey, order: Order) -> Scan {
        Scan {
            table: self.table.clone(),
            partition: partition.clone(),
            order,
            interval: Interval::ALL,
            from: Bound::Unbounded,
            rows_max: limits::SCAN_ROWS_MAX,
            bytes_max: limits::SCAN_BYTES_MAX,
            consistency: Consistency::default(),
            hedge_after: None,
            ahead: false,
        }
    }

    async fn rows(&self, partition: &PartitionKey, order: Order) -> Result<ScanPage> {
        self.store.scan(self.request(partition, order)).await
    }

    async fn headers(&self, partition: &PartitionKey, order: Order) -> Vec<Row> {
        self.store.scan_headers(self.request(partition, order)).await.unwrap().rows.to_vec()
    }

    async fn raw<T: Send + 'static>(&self, work: impl FnOnce(&Keyspace) -> T + Send + 'static) -> T {
        let name = self.table.to_string();
        let work = move |keyspace: &Keyspace| Ok(work(keyspace));
        self.store
            .read(move |engine, _| work(&engine.table(&name, &Options::default()).unwrap()))
            .await
            .unwrap()
    }

    /// All keys of the table, and those of bodies among them.
    async fn keys(&self) -> (BTreeSet<Vec<u8>>, BTreeSet<Vec<u8>>) {
        let list = |keyspace: &Keyspace| keyspace.iter().map(|entry| entry.key().unwrap().to_vec()).collect();
        let all: BTreeSet<Vec<u8>> = self.raw(list).await;
        let bodies = all.iter().filter(|key| body::row_key(key).is_some()).cloned().collect();
        (all, bodies)
    }

    /// Reads rows and headers in both orders, and what the table measures.
    async fn expect(&self, partition: &PartitionKey, rows: &[Row]) {
        for order in BOTH {
            let expected = in_order(order, rows);
            assert_eq!(self.rows(partition, order).await.unwrap().rows.to_vec(), expected, "{order:?}");
            assert_eq!(self.headers(partition, order).await, without_values(&expected), "{order:?}");
        }
        let sizes = self.store.histogram(&self.table, Effort::Measure).await.unwrap().sizes;
        assert_eq!(sizes.sum(), rows.iter().map(Row::logical_bytes).sum::<u64>());
    }
}

#[tokio::test]
async fn headers_and_sizes_are_told_where_bodies_are_gone() {
    let (opened, partition) = (Opened::new().await, at("a"));
    let mut rows: Vec<Row> = (0..40).map(|time| packed(time, 1, &[7; 5_000])).collect();
    opened.write(&partition, &rows).await;
    rows[9] = packed(9, 2, b"again");
    opened.write(&partition, &rows[9..10]).await;
    opened.store.flush().await.unwrap();
    opened.expect(&partition, &rows).await;
    let (_, bodies) = opened.keys().await;
    assert_eq!(bodies.len(), 41);

    opened.raw(|keyspace| bodies.into_iter().for_each(|key| keyspace.remove(key).unwrap())).await;
    // Written, so that it is measured again.
    opened.write(&at("b"), &[item(1)]).await;
    let sizes = opened.store.histogram(&opened.table, Effort::Measure).await.unwrap().sizes;
    let expected = rows.iter().chain([&item(1)]).map(Row::logical_bytes).sum::<u64>();
    assert_eq!((sizes.count(), sizes.sum()), (2, expected));
    for order in BOTH {
        assert_eq!(opened.headers(&partition, order).await, without_values(&in_order(order, &rows)));
        let refused = opened.rows(&partition, order).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Corrupt, "{refused}");
    }
}

#[tokio::test]
async fn a_head_without_its_own_body_is_damage() {
    let (opened, partition) = (Opened::new().await, at("a"));
    let rows: Vec<Row> = (0..5).map(|time| packed(time, 1, b"value")).collect();
    opened.write(&partition, &rows).await;
    let (_, bodies) = opened.keys().await;
    let spoiled: [Option<&'static [u8]>; 5] =
        [None, Some(b""), Some(b"\x01valu"), Some(b"\x01value!"), Some(b"\x02value")];
    for (time, key) in bodies.into_iter().enumerate() {
        for stored in spoiled {
            let body = key.clone();
            opened
                .raw(move |keyspace| match stored {
                    Some(stored) => keyspace.insert(body, stored).unwrap(),
                    None => keyspace.remove(body).unwrap(),
                })
                .await;
            for order in BOTH {
                let refused = opened.rows(&partition, order).await.unwrap_err();
                assert_eq!(refused.kind(), ErrorKind::Corrupt, "{time} {stored:?} {order:?}: {refused}");
                // Pages that end before it are whole.
                let before = if order == Order::OldestFirst { time } else { rows.len() - 1 - time };
                let request = Scan { rows_max: before.max(1), ..opened.request(&partition, order) };
                let page = opened.store.scan(request).await;
                assert_eq!(page.is_ok(), before > 0, "{time} {stored:?} {order:?}");
            }
            assert_eq!(opened.headers(&partition, Order::OldestFirst).await, without_values(&rows));
        }
        opened.raw(move |keyspace| keyspace.insert(key, &b"\x01value"[..]).unwrap()).await;
    }
    opened.expect(&partition, &rows).await;
}

#[tokio::test]
async fn a_body_without_a_head_is_passed_over() {
    let (opened, partition) = (Opened::new().await, at("a"));
    let rows: Vec<Row> = (0..9).map(|time| packed(time, 1, &[b'v'; 9])).collect();
    opened.write(&partition, &rows).await;
    let lost = [0, 3, 4, 8];
    let prefix = partition::encode(&partition);
    let heads: Vec<Bytes> =
        lost.iter().map(|time| row::encode_all(&prefix, &rows[*time..=*time]).swap_remove(0).0).collect();
    opened.raw(|keyspace| heads.into_iter().for_each(|key| keyspace.remove(key).unwrap())).await;
    let left: Vec<Row> =
        rows.iter().enumerate().filter(|(at, _)| !lost.contains(at)).map(|(_, row)| row.clone()).collect();
    opened.expect(&partition, &left).await;
}

#[tokio::test]
async fn every_version_has_its_own_body() {
    let (opened, partition) = (Opened::new().await, at("a"));
    let versions: [&[(i64, &[u8])]; 6] = [
        &[(2, b"old, and long"), (5, b"new")],
        &[(5, b"b"), (5, b"abc"), (5, b"bb")],
        &[(5, b""), (5, b"a")],
        &[(5, b"long and less"), (5, b"more")],
        &[(1, b"z"), (5, b"new"), (5, b"and")],
        &[(5, b"once")],
    ];
    let stays: [&[u8]; 6] = [b"new", b"bb", b"a", b"more", b"new", b"once"];
    let rows = |forwards: bool| {
        let times =
            (0..).zip(&versions).flat_map(|(time, versions)| versions.iter().map(move |one| (time, one)));
        let mut rows: Vec<Row> =
            times.map(|(time, (written, value))| packed(time, *written, value)).collect();
        if !forwards {
            rows.reverse();
        }
        rows
    };
    let expected: Vec<Row> = (0..).zip(stays).map(|(time, value)| packed(time, 5, value)).collect();
    for forwards in [true, false] {
        // One by one, so that none of them meet before they are read.
        for row in rows(forwards) {
            opened.write(&partition, &[row]).await;
        }
        assert_eq!(opened.keys().await.1.len(), rows(true).len());
        opened.expect(&partition, &expected).await;
    }
    for rows_max in 1..expected.len() {
        for order in BOTH {
            let request = Scan { rows_max, ..opened.request(&partition, order) };
            let page = opened.store.scan(request).await.unwrap();
            assert_eq!(page.rows.to_vec(), in_order(order, &expected)[..rows_max], "{order:?}");
        }
    }
}

#[tokio::test]
async fn rows_from_before_there_were_bodies_are_read_beside_new_ones() {
    let (opened, partition) = (Opened::new().await, at("a"));
    let old: Vec<Row> = (0..20).step_by(2).map(|time| packed(time, 1, &[b'o'; 300])).collect();
    let prefix = partition::encode(&partition);
    let records: Vec<(Bytes, Bytes)> = old.iter().map(|row| old_record(&prefix, row)).collect();
    opened
        .raw(|keyspace| records.into_iter().for_each(|(key, value)| keyspace.insert(key, value).unwrap()))
        .await;
    opened.expect(&partition, &old).await;
    assert_eq!(opened.keys().await.1.len(), 0);

    let new: Vec<Row> = (1..20).step_by(2).map(|time| packed(time, 1, &[b'n'; 200])).collect();
    let items: Vec<Row> = (0..20).step_by(3).map(item).collect();
    // One is written again as it was, one is replaced, one has a rival of the same write time.
    let again = [old[1].clone(), packed(4, 9, b"replaced"), packed(6, 1, b"rival")];
    for rows in [&new[..], &items, &again] {
        opened.write(&partition, rows).await;
    }
    let mut all = [&old[..], &new, &items].concat();
    all[2] = again[1].clone();
    all[3] = again[2].clone();
    all.sort_by(|a, b| a.key.cmp(&b.key));
    opened.expect(&partition, &all).await;
    assert_eq!(opened.keys().await.1.len(), new.len() + again.len());

    opened.store.delete_partition(&opened.table, &partition, Consistency::default()).await.unwrap();
    opened.expect(&partition, &[]).await;
    let left = opened.keys().await.0;
    assert!(left.iter().all(|key| !key.starts_with(&prefix) && body::row_key(key).is_none()), "{left:?}");
}

#[tokio::test]
async fn deleting_leaves_neither_heads_nor_bodies() {
    let opened = Opened::new().await;
    // Some steps of a deletion, between two partitions that stay.
    let rows: Vec<Row> = (0..9_000).map(|time| packed(time, 1 + time % 2, b"value")).collect();
    let [before, doomed, behind] = [1, 2, 3].map(|event_bucket| PartitionKey { event_bucket, ..at("a") });
    opened.write(&doomed, &rows).await;
    let again: Vec<Row> = rows.iter().step_by(7).map(|row| Row { write_time: 8, ..row.clone() }).collect();
    opened.write(&doomed, &again).await;
    opened.write(&before, &rows[..5]).await;
    opened.store.flush().await.unwrap();
    opened.write(&behind, &rows[..5]).await;
    assert_eq!(opened.keys().await.1.len(), rows.len() + again.len() + 10);

    opened.store.delete_partition(&opened.table, &doomed, Consistency::default()).await.unwrap();
    let (left, bodies) = opened.keys().await;
    let prefix = partition::encode(&doomed);
    let doomed_keys =
        left.iter().filter(|key| body::row_key(key).unwrap_or(key).starts_with(&prefix)).count();
    assert_eq!((doomed_keys, bodies.len()), (0, 10));
    for order in BOTH {
        for partition in [&before, &behind] {
            let found = opened.rows(partition, order).await.unwrap().rows.to_vec();
            assert_eq!(found, in_order(order, &rows[..5]), "{order:?}");
        }
    }
}
