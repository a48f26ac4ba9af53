//! One wide partition in this process, split again and again by the real engine, beside what moves the same rows by hand.
//!
//! The partition is written once, straight into the store. Every split of it is a new attempt with targets of its own; those of
//! the attempt before are out of use and are left. Everything goes through the one store, so all sides have the same files
//! and the same caches.

use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use engine::{Engine, NamespaceSpec, Options, ReadRequest, Shape, SplitLimits, SplitSpec, WriteRequest};
use env::Env;
use futures::{StreamExt, TryStreamExt, stream};
use model::{Interval, NamespaceName, Order, PartitionKey, SeriesId, TableName, TableRef};
use split::State;
use store::{Consistency, Durability, PartitionBatch, Scan, Storage, Store};

use crate::kind::Kind;
use crate::small::{PAGE_EVENTS, Times};
use crate::{local, workload};

const NAMESPACE: &str = "bench";
/// None of the small ones has this number.
const SERIES: u64 = 999_999_999;
const WRITE_ROWS: u64 = 500;
const WRITES: usize = 8;
/// As splits read and write.
const PAGE_ROWS: usize = 16_384;
const PAGE_BYTES: u64 = 1 << 20;
const BATCH_ROWS: usize = 500;
const BATCHES: usize = 4;
/// Once everything is written.
const ACCEPT_LIMIT: Duration = Duration::from_secs(60);
const HOUR_NANOS: i64 = 3_600_000_000_000;

/// A wide partition, and an engine that may split it.
pub(crate) struct Splitting {
    pub(crate) engine: Engine,
    store: Arc<dyn Store>,
    pub(crate) name: NamespaceName,
    table: TableRef,
    pub(crate) partition: PartitionKey,
    /// The time of the partition.
    hour: Interval,
    /// What its events are like.
    kind: Kind,
    pub(crate) events: u64,
    pub(crate) bytes: u64,
}

/// An engine that splits within these limits.
pub(crate) async fn open(store: &Arc<dyn Store>, limits: SplitLimits) -> Result<Engine> {
    let options = Options { splits: limits, ..Options::default() };
    Ok(Engine::open_with(Arc::clone(store), Env::system(), options).await?)
}

/// Limits that keep nobody waiting.
pub(crate) fn without_throttle() -> SplitLimits {
    SplitLimits { bytes_per_second: u64::MAX / 4, ..SplitLimits::default() }
}

/// What a split took.
pub(crate) struct Took {
    /// From being asked for to being completed.
    pub(crate) all: Duration,
    /// In state `COPYING`.
    pub(crate) copy: Duration,
    /// Into how many targets.
    pub(crate) targets: usize,
    /// How they keep events.
    pub(crate) layout: &'static str,
}

impl Splitting {
    /// Writes a partition of so many bytes, whose time is closed.
    pub(crate) async fn write(store: Arc<dyn Store>, limits: SplitLimits, bytes: u64) -> Result<Self> {
        let engine = open(&store, limits).await?;
        Self::write_into((engine, store), NAMESPACE, open_for_ever(), Kind::Marked, bytes).await
    }

    /// The same in a namespace of this name, which takes events of any age until they are written.
    pub(crate) async fn write_into(
        (engine, store): (Engine, Arc<dyn Store>),
        name: &str,
        spec: NamespaceSpec,
        kind: Kind,
        bytes: u64,
    ) -> Result<Self> {
        let (name, series) = (NamespaceName::new(name)?, workload::series(SERIES)?);
        engine.create_namespace(&name, spec.clone()).await?;
        // Makes the slice.
        let first = kind.rows(0, 1)?.pop().context("no row")?;
        let time = first.key.event_time;
        let events = vec![local::event(&series, first, time)?];
        engine.write_synced(WriteRequest { namespace: name.clone(), events }).await?;
        let slice = engine.list_slices(&name)?.pop().context("no slice")?;
        let table = TableRef { namespace: name.clone(), incarnation: 1, name: TableName::new(&slice.table)? };
        let partition = PartitionKey { series, time_bucket: 0, event_bucket: 0 };
        let (events, hour) =
            (bytes / kind.mean_bytes(), Interval::new(time.nanos(), time.nanos() + HOUR_NANOS)?);
        let mut splitting = Self { hour, engine, store, name, table, partition, kind, events, bytes: 0 };
        splitting.bytes = splitting.fill().await?;
        let closed = NamespaceSpec { accept_limit: ACCEPT_LIMIT, ..spec };
        splitting.engine.update_namespace(&splitting.name, closed, None).await?;
        Ok(splitting)
    }

    /// Writes the events; how many bytes they have.
    async fn fill(&self) -> Result<u64> {
        let batches = (0..self.events.div_ceil(WRITE_ROWS)).map(|batch| async move {
            let first = batch * WRITE_ROWS;
            let rows = self.kind.rows(first, WRITE_ROWS.min(self.events - first))?;
            let bytes = rows.iter().map(model::Row::logical_bytes).sum::<u64>();
            self.put(&self.table, rows, Durability::Buffered).await?;
            Ok(bytes)
        });
        stream::iter(batches)
            .buffer_unordered(WRITES)
            .try_fold(0, |sum, bytes| async move { Ok(sum + bytes) })
            .await
    }

    /// Writes a small partition beside it.
    pub(crate) async fn write_small(&self, series: SeriesId, rows: Vec<model::Row>) -> Result<()> {
        let partition = PartitionKey { series, ..self.partition.clone() };
        let (table, consistency) = (self.table.clone(), Consistency::default());
        Ok(self
            .store
            .upsert(PartitionBatch { table, partition, rows, consistency }, Durability::Buffered)
            .await?)
    }

    /// Reads the newest events of each series; how long each call took.
    pub(crate) async fn read_small(&self, asked: &[SeriesId]) -> Result<Vec<Duration>> {
        self.engine.refresh().await?;
        let mut times = Times::with_capacity(asked.len());
        for series in asked {
            let request = ReadRequest {
                namespace: self.name.clone(),
                series: vec![series.clone()],
                interval: self.hour,
                query: None,
                page_records: PAGE_EVENTS,
                order: Order::NewestFirst,
                resume: None,
                total_limit: None,
                max_latency: None,
                deadline: None,
            };
            times.add(async { Ok(self.engine.read(request).await?.events.len()) }).await?;
        }
        ensure!(self.engine.is_leased(), "a run took longer than a lease; make it shorter");
        Ok(times.calls)
    }

    async fn put(&self, table: &TableRef, rows: Vec<model::Row>, durability: Durability) -> Result<()> {
        let (table, partition) = (table.clone(), self.partition.clone());
        let batch = PartitionBatch { table, partition, rows, consistency: Consistency::default() };
        Ok(self.store.upsert(batch, durability).await?)
    }

    /// Splits it, by a new attempt.
    pub(crate) async fn split(&self) -> Result<Took> {
        let table = self.table.name.as_str();
        let id = format!("{table}/0/0/{}", self.partition.series.as_str());
        if self.engine.get_split(&self.name, &id).await.is_ok() {
            self.engine.retire_split(&self.name, &id, false).await?;
            while self.engine.work_on_splits().await? {}
        }
        self.engine.create_split(&self.name, table, &self.partition, engine::SplitAsk::default()).await?;
        while self.engine.work_on_splits().await? {}
        let record = self.engine.get_split(&self.name, &id).await?.record;
        if record.state != State::Completed {
            bail!("the split is {}: {:?}", record.state.as_str(), record.reason);
        }
        let since = |state: State| {
            let found = record.transitions.iter().rev().find(|step| step.state == state);
            found.map(|step| step.time).context("a state is missing")
        };
        let between = |from: i64, to: i64| Duration::from_nanos(u64::try_from(to - from).unwrap_or(0));
        let (asked, done) = (since(State::Candidate)?, since(State::Completed)?);
        let copy = between(since(State::Copying)?, since(State::Verifying)?);
        let post = record.post_split_data.context("a completed split without targets")?;
        let layout = post.layout.as_str();
        Ok(Took { all: between(asked, done), copy, targets: post.partitions.len(), layout })
    }

    /// Reads all of it.
    pub(crate) async fn drain(&self) -> Result<u64> {
        self.pages(async |_| Ok(())).await
    }

    /// Reads all of it and writes it into another table, a page at a time.
    pub(crate) async fn write_back(&self, number: u32) -> Result<u64> {
        let name = TableName::new(&format!("copy_{number}"))?;
        let table = TableRef { name, ..self.table.clone() };
        self.store.create_table(&table, &Storage::default()).await?;
        let bytes = self
            .pages(async |rows: Vec<model::Row>| {
                let batches =
                    rows.chunks(BATCH_ROWS).map(|rows| self.put(&table, rows.to_vec(), Durability::Synced));
                stream::iter(batches).buffer_unordered(BATCHES).try_collect::<()>().await
            })
            .await?;
        self.store.drop_table(&table).await?;
        Ok(bytes)
    }

    async fn pages(&self, take: impl AsyncFn(Vec<model::Row>) -> Result<()>) -> Result<u64> {
        let mut scan = Scan {
            table: self.table.clone(),
            partition: self.partition.clone(),
            order: Order::NewestFirst,
            interval: Interval::ALL,
            from: Bound::Unbounded,
            rows_max: PAGE_ROWS,
            bytes_max: PAGE_BYTES,
            consistency: Consistency::default(),
            hedge_after: None,
            ahead: false,
        };
        let mut bytes = 0;
        loop {
            let page = self.store.scan(scan.clone()).await?;
            bytes += page.bytes;
            let last = page.rows.last();
            take((0..page.rows.len()).filter_map(|at| page.rows.get(at)).collect()).await?;
            match last {
                Some(last) if page.more => scan.from = Bound::Excluded(last.key),
                _ => break,
            }
        }
        ensure!(bytes == self.bytes, "{bytes} of {} bytes", self.bytes);
        Ok(bytes)
    }
}

/// Takes events of any age for ever.
pub(crate) fn open_for_ever() -> NamespaceSpec {
    NamespaceSpec {
        shape: Shape { seconds_per_slice: 86_400, seconds_per_bucket: 3_600, buckets_per_id: 1 },
        accept_limit: Duration::ZERO,
        close_after: Duration::ZERO,
        delete_after: Duration::ZERO,
        split: SplitSpec::default(),
        ..NamespaceSpec::default()
    }
}
