//! Servers over one store in memory, on clocks that a test moves.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{
    Engine, EventInput, ItemInput, NamespaceSpec, Options, ReadPage, ReadRequest, Result, Shape, WriteAnswer,
    WriteRequest,
};
use env::{BoxFuture, Env, ManualClock};
use model::{Interval, NamespaceName, Order, SeriesId};
use store::layer::{Fault, FaultLayer, FaultPlan, Layered, Op};
use store::{MemoryStore, Store};

pub(crate) const START: i64 = 1_774_656_000;
pub(crate) const NANOS: i64 = 1_000_000_000;
pub(crate) const HOUR: Duration = Duration::from_secs(3_600);
pub(crate) const SECOND: Duration = Duration::from_secs(1);

pub(crate) struct World {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: ManualClock,
}

/// A server, and what its calls of the store meet.
pub(crate) struct Server {
    pub(crate) engine: Engine,
    pub(crate) faults: FaultLayer,
}

pub(crate) fn name() -> NamespaceName {
    NamespaceName::new("orders").unwrap()
}

pub(crate) fn hourly() -> NamespaceSpec {
    let shape = Shape { seconds_per_slice: 3_600, seconds_per_bucket: 600, buckets_per_id: 1 };
    NamespaceSpec { shape, ..NamespaceSpec::default() }
}

pub(crate) fn event(seconds: i64) -> EventInput {
    let item = ItemInput { key: "k".to_owned(), value: Bytes::new(), ..ItemInput::default() };
    let (series, event_id) = ("s".to_owned(), format!("e{seconds}"));
    EventInput { series, time: Some((seconds, 0)), event_id, items: vec![item] }
}

/// The newest events between two times, in seconds.
pub(crate) fn page(from: i64, to: i64) -> ReadRequest {
    ReadRequest {
        namespace: name(),
        series: vec![SeriesId::new("s").unwrap()],
        interval: Interval::new(from * NANOS, to * NANOS).unwrap(),
        query: None,
        page_records: 100,
        order: Order::NewestFirst,
        resume: None,
        total_limit: None,
        max_latency: None,
        deadline: None,
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self { store: Arc::new(MemoryStore::new()), clock: ManualClock::starting_at(START * NANOS) }
    }

    pub(crate) fn env(&self) -> Env {
        Env { clock: Arc::new(self.clock.clone()), ..Env::system() }
    }

    pub(crate) async fn server(&self) -> Server {
        let faults = FaultLayer::new(self.env(), FaultPlan::default());
        let store = Arc::new(Layered::new(Arc::clone(&self.store), faults.clone()));
        let engine = Engine::open_with(store, self.env(), Options::default()).await.unwrap();
        Server { engine, faults }
    }

    /// Lets time pass in steps in which every server refreshes, as servers do.
    pub(crate) async fn pass(&self, time: Duration, servers: &[&Server]) {
        let mut left = time;
        while !left.is_zero() {
            let step = left.min(SECOND);
            self.clock.advance(step);
            for server in servers {
                // A server that cannot reach its metadata goes on trying.
                let _failed = server.engine.refresh().await;
            }
            left -= step;
        }
    }

    /// What `work` gives while time passes and `others` refresh.
    pub(crate) async fn during<T>(&self, others: &[&Server], work: impl Future<Output = T>) -> T {
        let time = async {
            loop {
                self.clock.sleepers(1).await;
                self.clock.advance(Duration::from_millis(50));
                for server in others {
                    let _failed = server.engine.refresh().await;
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

    /// For how long `work` takes by the clock.
    pub(crate) async fn took<T>(&self, work: impl Future<Output = T>) -> (T, Duration) {
        let clock = self.env().clock;
        let started = clock.boot();
        let done = work.await;
        (done, clock.boot().since(started))
    }
}

impl Server {
    /// No call for metadata comes through.
    pub(crate) fn lose_metadata(&self) {
        let plan = [Op::MetaGet, Op::MetaRange, Op::MetaCas]
            .into_iter()
            .fold(FaultPlan::default(), |plan, op| plan.with_chance(op, 1_000, Fault::Refuse));
        self.faults.replace(plan);
    }

    pub(crate) fn find_metadata(&self) {
        self.faults.replace(FaultPlan::default());
    }

    pub(crate) fn write(&self, seconds: i64) -> BoxFuture<'_, Result<WriteAnswer>> {
        let request = WriteRequest { namespace: name(), events: vec![event(seconds)] };
        Box::pin(self.engine.write_synced(request))
    }

    pub(crate) async fn read(&self, from: i64, to: i64) -> ReadPage {
        self.engine.read(page(from, to)).await.unwrap()
    }
}
