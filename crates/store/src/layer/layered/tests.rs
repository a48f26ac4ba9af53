//! What a layer is told of each call.

use std::ops::Bound;
use std::sync::Mutex;

use bytes::Bytes;
use model::{EventId, ItemKey, RowKey, Timestamp};
use model::{Interval, NamespaceName, Order, PartitionKey, Row, SeriesId, TableName};

use super::*;
use crate::MemoryStore;

/// Writes down calls and answers.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<(Call, u64, u64)>>>);

impl Layer for Recorder {
    async fn around<T: Outcome>(&self, call: Call, next: BoxFuture<'static, Result<T>>) -> Result<T> {
        let answer = next.await?;
        self.0.lock().unwrap().push((call, answer.bytes(), answer.rows()));
        Ok(answer)
    }
}

fn table() -> TableRef {
    let (namespace, name) = (NamespaceName::new("n").unwrap(), TableName::new("t").unwrap());
    TableRef { namespace, incarnation: 1, name }
}

fn partition() -> PartitionKey {
    PartitionKey { series: SeriesId::new("s").unwrap(), time_bucket: 0, event_bucket: 0 }
}

fn row() -> Row {
    let key = RowKey {
        event_time: Timestamp::MIN,
        event_id: EventId::new("event").unwrap(),
        item_key: ItemKey::new("item").unwrap(),
    };
    Row { key, write_time: 1, value: Bytes::from_static(b"value"), metadata: Bytes::new() }
}

fn scan() -> Scan {
    Scan {
        table: table(),
        partition: partition(),
        order: Order::OldestFirst,
        interval: Interval::ALL,
        from: Bound::Unbounded,
        rows_max: 10,
        bytes_max: 1_000,
        consistency: Consistency::default(),
        hedge_after: None,
        ahead: true,
    }
}

#[tokio::test]
async fn a_layer_sees_every_call_and_how_much_it_carries() {
    let recorder = Recorder::default();
    let store = Layered::new(Arc::new(MemoryStore::new()), recorder.clone());
    let key = MetaKey::new("group", "name");
    store.create_table(&table(), &Storage::default()).await.unwrap();
    let batch = PartitionBatch {
        table: table(),
        partition: partition(),
        rows: vec![row()],
        consistency: Consistency::default(),
    };
    store.upsert(batch, Durability::Synced).await.unwrap();
    store.scan(scan()).await.unwrap();
    store
        .enumerate(Enumerate {
            table: table(),
            after: None,
            partitions_max: 9,
            consistency: Consistency::default(),
        })
        .await
        .unwrap();
    store.histogram(&table(), Effort::Measure).await.unwrap();
    store.list_tables().await.unwrap();
    store.meta_cas(&key, None, MetaChange::Put(Bytes::from_static(b"1234567"))).await.unwrap();
    store.meta_cas(&key, None, MetaChange::Remove).await.unwrap();
    store.meta_get(&key).await.unwrap();
    store.meta_range(b"group", None, 5).await.unwrap();
    store.delete_partition(&table(), &partition(), Consistency::default()).await.unwrap();
    store.drop_table(&table()).await.unwrap();
    store.ready().await.unwrap();
    store.disk_share().await.unwrap();

    let bytes = row().logical_bytes();
    let change = |op, bytes| Call { op, bytes, changes: true, rows_asked: 0, ahead: false };
    let read = |op| Call { op, bytes: 0, changes: false, rows_asked: 0, ahead: false };
    let expected = [
        (change(Op::CreateTable, 0), 0, 0),
        (change(Op::Upsert, bytes), 0, 0),
        (Call { rows_asked: 10, ahead: true, ..read(Op::Scan) }, bytes, 1),
        (read(Op::Enumerate), 0, 1),
        (read(Op::Histogram), 0, 0),
        (read(Op::ListTables), 0, 1),
        (change(Op::MetaCas, 7), 0, 0),
        (change(Op::MetaCas, 0), 7, 0),
        (read(Op::MetaGet), 7, 1),
        (read(Op::MetaRange), 7, 1),
        (change(Op::DeletePartition, 0), 0, 0),
        (change(Op::DropTable, 0), 0, 0),
        (read(Op::Ready), 0, 0),
        (read(Op::DiskShare), 0, 0),
    ];
    assert_eq!(*recorder.0.lock().unwrap(), expected);
}

/// Never lets a call through.
struct Wall;

impl Layer for Wall {
    async fn around<T: Outcome>(&self, _call: Call, next: BoxFuture<'static, Result<T>>) -> Result<T> {
        drop(next);
        Err(crate::Error::invalid("no"))
    }
}

#[tokio::test]
async fn a_call_that_a_layer_drops_is_not_done() {
    let inner = MemoryStore::new();
    let store = Layered::new(Arc::new(inner.clone()), Wall);
    assert!(store.create_table(&table(), &Storage::default()).await.is_err());
    assert_eq!(inner.list_tables().await.unwrap(), []);
}
