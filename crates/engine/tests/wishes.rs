//! What a namespace wishes of its store reaches it: how many replicas, when to ask twice, how tables are kept.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use engine::{
    Compaction, Compression, Consistency, Engine, EventInput, ItemInput, NamespaceSpec, ReadRequest, Shape,
    Storage, WriteRequest,
};
use env::{Env, ManualClock};
use model::{Interval, NamespaceName, Order, PartitionKey, SeriesId, TableRef};
use store::{
    CasOutcome, Durability, Effort, Enumerate, Histogram, MemoryStore, MetaChange, MetaKey, MetaPage,
    MetaRecord, MetaVersion, PartitionBatch, PartitionPage, Result, Scan, ScanPage, Store, TableOutcome,
};

const START: i64 = 1_774_656_000;

/// What a store was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Asked {
    Made(String, Storage),
    Write(Consistency),
    Read(Consistency, Option<Duration>),
    List(Consistency),
}

/// A store that remembers it.
struct Listening {
    inner: MemoryStore,
    heard: Arc<Mutex<Vec<Asked>>>,
}

impl Listening {
    fn hear(&self, asked: Asked) {
        self.heard.lock().unwrap().push(asked);
    }
}

#[async_trait]
impl Store for Listening {
    async fn create_table(&self, table: &TableRef, storage: &Storage) -> Result<TableOutcome> {
        self.hear(Asked::Made(table.name.as_str().to_owned(), *storage));
        self.inner.create_table(table, storage).await
    }

    async fn drop_table(&self, table: &TableRef) -> Result<TableOutcome> {
        self.inner.drop_table(table).await
    }

    async fn list_tables(&self) -> Result<Vec<TableRef>> {
        self.inner.list_tables().await
    }

    async fn upsert(&self, batch: PartitionBatch, durability: Durability) -> Result<()> {
        self.hear(Asked::Write(batch.consistency));
        self.inner.upsert(batch, durability).await
    }

    async fn delete_partition(
        &self,
        table: &TableRef,
        partition: &PartitionKey,
        consistency: Consistency,
    ) -> Result<()> {
        self.inner.delete_partition(table, partition, consistency).await
    }

    async fn scan(&self, scan: Scan) -> Result<ScanPage> {
        self.hear(Asked::Read(scan.consistency, scan.hedge_after));
        self.inner.scan(scan).await
    }

    async fn enumerate(&self, request: Enumerate) -> Result<PartitionPage> {
        self.hear(Asked::List(request.consistency));
        self.inner.enumerate(request).await
    }

    async fn histogram(&self, table: &TableRef, effort: Effort) -> Result<Histogram> {
        self.inner.histogram(table, effort).await
    }

    async fn meta_get(&self, key: &MetaKey) -> Result<Option<MetaRecord>> {
        self.inner.meta_get(key).await
    }

    async fn meta_range(&self, group: &[u8], after: Option<&[u8]>, records_max: usize) -> Result<MetaPage> {
        self.inner.meta_range(group, after, records_max).await
    }

    async fn meta_cas(
        &self,
        key: &MetaKey,
        expected: Option<MetaVersion>,
        change: MetaChange,
    ) -> Result<CasOutcome> {
        self.inner.meta_cas(key, expected, change).await
    }

    async fn ready(&self) -> Result<()> {
        self.inner.ready().await
    }

    async fn disk_share(&self) -> Result<Option<f64>> {
        self.inner.disk_share().await
    }
}

struct World {
    engine: Engine,
    store: Arc<dyn Store>,
    env: Env,
    clock: ManualClock,
    heard: Arc<Mutex<Vec<Asked>>>,
    name: NamespaceName,
}

impl World {
    async fn new(spec: NamespaceSpec) -> Self {
        let clock = ManualClock::starting_at(START * 1_000_000_000);
        let env = Env { clock: Arc::new(clock.clone()), ..Env::system() };
        let heard = Arc::default();
        let store: Arc<dyn Store> =
            Arc::new(Listening { inner: MemoryStore::new(), heard: Arc::clone(&heard) });
        let engine = Engine::open(Arc::clone(&store), env.clone()).await.unwrap();
        let name = NamespaceName::new("orders").unwrap();
        engine.create_namespace(&name, spec).await.unwrap();
        Self { engine, store, env, clock, heard, name }
    }

    /// What was asked for since the last time.
    fn heard(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.heard.lock().unwrap())
    }

    fn write(&self, seconds: i64) -> WriteRequest {
        let item = ItemInput { key: "k".to_owned(), value: Bytes::new(), ..ItemInput::default() };
        let event = EventInput {
            series: "s".to_owned(),
            time: Some((seconds, 0)),
            event_id: "e".to_owned(),
            items: vec![item],
        };
        WriteRequest { namespace: self.name.clone(), events: vec![event] }
    }

    async fn read(&self, series: &[&str]) {
        let request = ReadRequest {
            namespace: self.name.clone(),
            series: series.iter().map(|series| SeriesId::new(series).unwrap()).collect(),
            interval: Interval::ALL,
            query: None,
            max_latency: None,
            deadline: None,
            page_records: 100,
            order: Order::OldestFirst,
            resume: None,
            total_limit: None,
        };
        assert_eq!(self.engine.read(request).await.unwrap().events.len(), 1);
    }

    fn storages(engine: &Engine, name: &NamespaceName) -> Vec<Storage> {
        engine.list_slices(name).unwrap().into_iter().map(|info| info.storage).collect()
    }
}

fn hourly() -> NamespaceSpec {
    let shape = Shape { seconds_per_slice: 3_600, seconds_per_bucket: 3_600, buckets_per_id: 1 };
    let any = Duration::ZERO;
    NamespaceSpec { shape, accept_limit: any, future_limit: any, ..NamespaceSpec::default() }
}

#[tokio::test]
async fn every_call_asks_for_what_its_namespace_asks_for_by_now() {
    let world = World::new(hourly()).await;
    world.engine.write_synced(world.write(START)).await.unwrap();
    world.heard();
    let (quorum, each) = (Consistency::LocalQuorum, Consistency::EachQuorum);
    let late = Some(Duration::from_millis(375));
    let check = async |consistency, late| {
        world.engine.write_synced(world.write(START)).await.unwrap();
        assert_eq!(world.heard(), [Asked::Write(consistency)]);
        world.engine.write_queued(world.write(START)).await.unwrap();
        world.engine.flush_queue().await;
        assert_eq!(world.heard(), [Asked::Write(consistency)]);
        world.read(&["s"]).await;
        assert_eq!(world.heard(), [Asked::Read(consistency, late)]);
        world.read(&[]).await;
        assert_eq!(world.heard(), [Asked::List(consistency), Asked::Read(consistency, late)]);
    };
    check(quorum, late).await;
    let strict = NamespaceSpec { consistency: each, read_target: Duration::ZERO, ..hourly() };
    world.engine.update_namespace(&world.name, strict, None).await.unwrap();
    check(each, None).await;
}

#[tokio::test]
async fn a_slice_keeps_the_storage_that_it_was_made_with() {
    let first = Storage { compaction: Compaction::Leveled, compression: Compression::Zstd };
    let second = Storage { compaction: Compaction::TimeWindow, compression: Compression::None };
    let world = World::new(NamespaceSpec { storage: first, ..hourly() }).await;
    world.engine.write_synced(world.write(START)).await.unwrap();
    let changed = NamespaceSpec { storage: second, ..hourly() };
    world.engine.update_namespace(&world.name, changed, None).await.unwrap();
    world.engine.write_synced(world.write(START + 3_600)).await.unwrap();
    let made = [
        Asked::Made("data_20260328".to_owned(), first),
        Asked::Made("data_20260328_0100".to_owned(), second),
    ];
    let is_made = |asked: &Asked| matches!(asked, Asked::Made(..));
    let heard: Vec<Asked> = world.heard().into_iter().filter(is_made).collect();
    assert_eq!(heard, made);
    assert_eq!(World::storages(&world.engine, &world.name), [first, second]);

    let reopened = Engine::open(Arc::clone(&world.store), world.env.clone()).await.unwrap();
    assert_eq!(World::storages(&reopened, &world.name), [first, second]);
}

#[tokio::test]
async fn a_slice_that_another_server_makes_is_kept_as_the_newest_state_says() {
    let theirs = Storage { compaction: Compaction::SizeTiered, compression: Compression::Lz4 };
    let world = World::new(NamespaceSpec { storage: theirs, ..hourly() }).await;
    // One that has not heard of a change makes the slice as the change says all the same.
    let options = engine::Options::default();
    let other = Engine::open_with(Arc::clone(&world.store), world.env.clone(), options).await.unwrap();
    world.engine.update_namespace(&world.name, hourly(), None).await.unwrap();
    world.heard();
    let written = other.write_synced(world.write(START));
    // The first event of a slice waits until every server knows it.
    let (written, ()) = tokio::join!(written, async {
        world.clock.sleepers(1).await;
        world.engine.refresh().await.unwrap();
        world.clock.advance(Duration::from_secs(1));
    });
    assert_eq!(written.unwrap().accepted, 1);
    let made = Asked::Made("data_20260328".to_owned(), Storage::default());
    let is_made = |asked: &Asked| matches!(asked, Asked::Made(..));
    assert_eq!(world.heard().into_iter().filter(is_made).collect::<Vec<_>>(), [made]);
    world.engine.write_synced(world.write(START)).await.unwrap();
    assert_eq!(world.heard().into_iter().filter(is_made).count(), 0);
    assert_eq!(World::storages(&world.engine, &world.name), [Storage::default()]);
}
