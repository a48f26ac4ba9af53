//! A server with a wide partition.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{
    Engine, Event, EventInput, ItemInput, Member, NamespaceSpec, Options, ReadPage, ReadRequest, Shape,
    Split, SplitLimits, SplitSpec, SplitStrategy, WriteRequest,
};
use env::{Env, ManualClock};
use model::{Interval, NamespaceName, Order, PartitionKey, SeriesId, TableName, TableRef};
use split::State;
use store::layer::{FaultLayer, FaultPlan, Layered};
use store::{Consistency, MemoryStore, Scan, Store};

use crate::doom::{Doom, When};

/// A whole hour.
pub(crate) const START: i64 = 1_774_656_000;
pub(crate) const NANOS: i64 = 1_000_000_000;
pub(crate) const HOUR: Duration = Duration::from_secs(3_600);
pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const TABLE: &str = "data_20260328";
/// Bytes of an event's value.
const VALUE: usize = 2_000;

pub(crate) struct World {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) clock: ManualClock,
    pub(crate) faults: FaultLayer,
    pub(crate) engine: Engine,
}

pub(crate) fn name() -> NamespaceName {
    NamespaceName::new("plays").unwrap()
}

/// Slices of a day, buckets of an hour, one event bucket; wide over 256 KiB, targets of 64 KiB.
pub(crate) fn spec() -> NamespaceSpec {
    let shape = Shape { seconds_per_slice: 86_400, seconds_per_bucket: 3_600, buckets_per_id: 1 };
    let layout = crate::LAYOUT;
    let split =
        SplitSpec { threshold_bytes: 256 << 10, target_bytes: 64 << 10, layout, ..SplitSpec::default() };
    NamespaceSpec { shape, split, accept_limit: Duration::from_secs(7_200), ..NamespaceSpec::default() }
}

pub(crate) fn by_hash() -> NamespaceSpec {
    let split = SplitSpec { strategy: SplitStrategy::EventBucket, ..spec().split };
    NamespaceSpec { split, ..spec() }
}

pub(crate) fn partition(series: &str) -> PartitionKey {
    PartitionKey { series: SeriesId::new(series).unwrap(), time_bucket: 0, event_bucket: 0 }
}

pub(crate) fn id(series: &str) -> String {
    format!("{TABLE}/0/0/{series}")
}

pub(crate) fn event(series: &str, second: i64, number: usize, bytes: usize) -> EventInput {
    // By chance: what packing could shrink would need fewer targets.
    let mut random = fastrand::Rng::with_seed(number as u64);
    let value: Bytes = (0..bytes).map(|_| random.u8(..)).collect();
    let item = ItemInput { key: "k".to_owned(), value, ..ItemInput::default() };
    let event_id = format!("e{number:06}");
    EventInput { series: series.to_owned(), time: Some((START + second, 0)), event_id, items: vec![item] }
}

/// All of the hour of a series, newest first, by pages of 100.
pub(crate) fn request(series: &str) -> ReadRequest {
    ReadRequest {
        namespace: name(),
        series: vec![SeriesId::new(series).unwrap()],
        interval: Interval::new(START * NANOS, (START + 3_600) * NANOS).unwrap(),
        query: None,
        page_records: 100,
        order: Order::NewestFirst,
        resume: None,
        total_limit: None,
        max_latency: None,
        deadline: None,
    }
}

/// Every page of a read.
pub(crate) async fn pages_of(engine: &Engine, mut request: ReadRequest) -> Vec<ReadPage> {
    let mut pages = Vec::new();
    loop {
        let page = engine.read(request.clone()).await.unwrap();
        request.resume = page.next.clone();
        pages.push(page);
        if request.resume.is_none() {
            return pages;
        }
    }
}

/// The events of pages, one after the other.
pub(crate) fn events_of(pages: &[ReadPage]) -> Vec<Event> {
    pages.iter().flat_map(|page| page.events.clone()).collect()
}

impl World {
    /// A server alone, ten minutes into an hour.
    pub(crate) async fn new(spec: NamespaceSpec) -> Self {
        let world = Self::over(Arc::new(MemoryStore::new()), SplitLimits::default()).await;
        world.engine.create_namespace(&name(), spec).await.unwrap();
        world
    }

    pub(crate) async fn over(store: Arc<MemoryStore>, limits: SplitLimits) -> Self {
        let clock = ManualClock::starting_at((START + 3_000) * NANOS);
        let env = Env { clock: Arc::new(clock.clone()), ..Env::system() };
        let faults = FaultLayer::new(env.clone(), FaultPlan::default());
        let engine = Self::open(&store, &faults, &env, limits, true).await;
        Self { store, clock, faults, engine }
    }

    async fn open(
        store: &Arc<MemoryStore>,
        faults: &FaultLayer,
        env: &Env,
        splits: SplitLimits,
        alone: bool,
    ) -> Engine {
        let seen: Arc<dyn Store> = Arc::clone(store) as Arc<dyn Store>;
        let layered = Arc::new(Layered::new(seen, faults.clone()));
        let options = Options { splits, member: Member { alone, ..Member::default() }, ..Options::default() };
        Engine::open_with(layered, env.clone(), options).await.unwrap()
    }

    fn env(&self) -> Env {
        Env { clock: Arc::new(self.clock.clone()), ..Env::system() }
    }

    /// Another server over the same store, one of several.
    pub(crate) async fn member(&self) -> Engine {
        let faults = FaultLayer::new(self.env(), FaultPlan::default());
        Self::open(&self.store, &faults, &self.env(), SplitLimits::default(), false).await
    }

    /// The next life of the only server.
    pub(crate) async fn reopened(self) -> Self {
        self.reopened_with(SplitLimits::default()).await
    }

    /// The same with other limits.
    pub(crate) async fn reopened_with(self, limits: SplitLimits) -> Self {
        let engine = Self::open(&self.store, &self.faults, &self.env(), limits, true).await;
        Self { engine, ..self }
    }

    /// A worker of a server that dies at its call of the store after so many; whether it came to that.
    pub(crate) async fn die_after(&self, calls: usize, when: When) -> bool {
        self.die_after_with(SplitLimits::default(), calls, when).await
    }

    /// The same with other limits.
    pub(crate) async fn die_after_with(&self, splits: SplitLimits, calls: usize, when: When) -> bool {
        let (engine, doom) = self.doomed(splits, calls, when).await;
        let work = async { while engine.work_on_splits().await.unwrap() {} };
        tokio::select! {
            biased;
            () = doom.happened.notified() => true,
            () = self.during(work) => false,
        }
    }

    /// A server whose store behaves as `when` says at its call after so many.
    async fn doomed(&self, splits: SplitLimits, calls: usize, when: When) -> (Engine, Doom) {
        let doom = Doom::after(usize::MAX, when);
        let seen: Arc<dyn Store> = Arc::clone(&self.store) as Arc<dyn Store>;
        let layered = Arc::new(Layered::new(seen, doom.clone()));
        let member = Member { alone: true, ..Member::default() };
        let options = Options { splits, member, ..Options::default() };
        let engine = Engine::open_with(layered, self.env(), options).await.unwrap();
        doom.allow(calls);
        (engine, doom)
    }

    /// A worker whose store fails once, at its call after so many, and which does all that is due by then; whether it came to that.
    pub(crate) async fn stumble_after(&self, calls: usize, when: When) -> bool {
        let (engine, doom) = self.doomed(SplitLimits::default(), calls, when).await;
        // Where not even what is due could be read it comes back later, as a server's worker does.
        self.during(async { while engine.work_on_splits().await.unwrap_or(false) {} }).await;
        tokio::select! {
            biased;
            () = doom.happened.notified() => true,
            () = std::future::ready(()) => false,
        }
    }

    /// Lets workers die until the split of `hot` stands in this state; whether it came to that.
    pub(crate) async fn die_in(&self, state: State) -> bool {
        for calls in 0..1_000 {
            if self.state("hot").await == state {
                return true;
            }
            let died = self.die_after(calls, When::Before).await;
            if !died {
                return false;
            }
        }
        false
    }

    /// Writes so many events of 2 KB, one a second.
    pub(crate) async fn fill(&self, series: &str, events: usize) {
        let seconds = (0..events).map(|number| (i64::try_from(number).unwrap(), number));
        self.write(seconds.map(|(second, number)| event(series, second % 3_000, number, VALUE)).collect())
            .await;
    }

    pub(crate) async fn write(&self, events: Vec<EventInput>) {
        for some in events.chunks(500) {
            let request = WriteRequest { namespace: name(), events: some.to_vec() };
            let written = self.engine.write_synced(request).await.unwrap();
            assert_eq!(written.accepted, some.len(), "{:?}", written.refused.first());
        }
    }

    /// Reads all of a series, page after page.
    pub(crate) async fn read(&self, series: &str) -> Vec<ReadPage> {
        pages_of(&self.engine, request(series)).await
    }

    /// Time passes; the only server refreshes.
    pub(crate) async fn pass(&self, time: Duration) {
        let mut left = time;
        while !left.is_zero() {
            let step = left.min(SECOND * 10);
            self.clock.advance(step);
            self.engine.refresh().await.unwrap();
            left -= step;
        }
    }

    /// Lets others run, and time pass for them.
    pub(crate) async fn clock_ticks(&self) {
        let env = self.env();
        env.clock.sleep(Duration::from_millis(10)).await;
    }

    /// Workers do all that is due, while time passes for what they wait for.
    pub(crate) async fn work(&self) -> usize {
        self.work_with(&self.engine).await
    }

    pub(crate) async fn work_with(&self, engine: &Engine) -> usize {
        engine.take_detections().await.unwrap();
        let mut done = 0;
        while self.during(engine.work_on_splits()).await.unwrap() {
            done += 1;
        }
        done
    }

    /// What `work` gives while time passes for whoever sleeps.
    pub(crate) async fn during<T>(&self, work: impl Future<Output = T>) -> T {
        self.during_of(&[&self.engine], work).await
    }

    /// The same with these servers.
    pub(crate) async fn during_of<T>(&self, servers: &[&Engine], work: impl Future<Output = T>) -> T {
        let time = async {
            loop {
                self.clock.sleepers(1).await;
                self.clock.advance(Duration::from_millis(50));
                for server in servers {
                    let _failed = server.refresh().await;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            done = work => done,
            () = time => unreachable!("time does not end"),
        }
    }

    /// A wide partition that can change no more, found by a read.
    pub(crate) async fn wide(spec: NamespaceSpec) -> Self {
        let world = Self::new(spec).await;
        world.fill("hot", 400).await;
        world.read("hot").await;
        world.pass(4 * HOUR).await;
        world
    }

    pub(crate) async fn split(&self, series: &str) -> Split {
        self.engine.get_split(&name(), &id(series)).await.unwrap()
    }

    pub(crate) async fn state(&self, series: &str) -> State {
        self.split(series).await.record.state
    }

    pub(crate) fn wide_table() -> TableRef {
        let name_of = TableName::new(&format!("wide_{TABLE}_0")).unwrap();
        TableRef { namespace: name(), incarnation: 1, name: name_of }
    }

    /// The rows of the origin.
    pub(crate) async fn origin(&self, series: &str) -> Vec<model::Row> {
        let table = TableRef { name: TableName::new(TABLE).unwrap(), ..Self::wide_table() };
        self.stored(table, partition(series)).await
    }

    /// The stored rows of a target.
    pub(crate) async fn target(&self, series: &str, event_bucket: u32) -> Vec<model::Row> {
        self.stored(Self::wide_table(), PartitionKey { event_bucket, ..partition(series) }).await
    }

    async fn stored(&self, table: TableRef, partition: PartitionKey) -> Vec<model::Row> {
        let scan = Scan {
            table,
            partition,
            order: Order::OldestFirst,
            interval: Interval::ALL,
            from: std::ops::Bound::Unbounded,
            rows_max: 60_000,
            bytes_max: 16 << 20,
            consistency: Consistency::LocalQuorum,
            hedge_after: None,
            ahead: false,
        };
        let page = self.store.scan(scan).await.unwrap();
        (0..page.rows.len()).filter_map(|at| page.rows.get(at)).collect()
    }
}
