//! Slices: made ahead and on demand, once each, within the limits.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use engine::{
    Engine, EventInput, ItemInput, NamespaceSpec, Options, ReadRequest, Reason, Shape, SliceInfo,
    WriteAnswer, WriteRequest,
};
use env::{BoxFuture, Clock, Env, ManualClock, SystemClock};
use futures::future::join_all;
use model::{Interval, NamespaceName, Order, SeriesId};
use store::layer::{Call, Fault, FaultLayer, FaultPlan, Layer, Layered, Op, Outcome};
use store::{MemoryStore, Store};
use tokio::sync::oneshot;

const START: i64 = 1_774_656_000;
const HOUR: Duration = Duration::from_secs(3_600);
const SECOND: Duration = Duration::from_secs(1);

struct World {
    engine: Engine,
    store: Arc<dyn Store>,
    env: Env,
    clock: ManualClock,
    name: NamespaceName,
}

/// A namespace with slices of an hour over a store, at the start of a slice.
async fn world(store: impl FnOnce(Env) -> Arc<dyn Store>) -> World {
    let clock = ManualClock::starting_at(START * 1_000_000_000);
    let env = Env { clock: Arc::new(clock.clone()), ..Env::system() };
    let store = store(env.clone());
    let engine = Engine::open(Arc::clone(&store), env.clone()).await.unwrap();
    let name = NamespaceName::new("orders").unwrap();
    engine.create_namespace(&name, hourly()).await.unwrap();
    World { engine, store, env, clock, name }
}

async fn plain() -> World {
    world(|_| Arc::new(MemoryStore::new())).await
}

fn hourly() -> NamespaceSpec {
    let shape = Shape { seconds_per_slice: 3_600, seconds_per_bucket: 600, buckets_per_id: 2 };
    NamespaceSpec { shape, accept_limit: Duration::ZERO, ..NamespaceSpec::default() }
}

fn event(seconds: i64) -> EventInput {
    let item = ItemInput { key: "k".to_owned(), value: Bytes::new(), ..ItemInput::default() };
    EventInput {
        series: "s".to_owned(),
        time: Some((seconds, 0)),
        event_id: "e".to_owned(),
        items: vec![item],
    }
}

impl World {
    async fn write(&self, seconds: &[i64]) -> engine::Result<WriteAnswer> {
        let events = seconds.iter().copied().map(event).collect();
        self.engine.write_synced(WriteRequest { namespace: self.name.clone(), events }).await
    }

    /// Lets a second pass whenever nobody has anything to do but wait: the runtime's own clock is paused, and moves only then.
    async fn time_passes(&self) {
        loop {
            SystemClock.sleep(Duration::from_millis(1)).await;
            self.clock.advance(SECOND);
        }
    }

    fn tables(&self) -> Vec<String> {
        self.engine.list_slices(&self.name).unwrap().into_iter().map(|info| info.table).collect()
    }

    /// Another server on the same store.
    async fn server(&self) -> Engine {
        Engine::open_with(Arc::clone(&self.store), self.env.clone(), Options::default()).await.unwrap()
    }

    /// What a server that starts now finds.
    async fn stored(&self) -> Vec<SliceInfo> {
        let server = self.server().await;
        let slices = server.list_slices(&self.name).unwrap();
        server.leave().await.unwrap();
        slices
    }
}

#[tokio::test]
async fn the_next_slice_is_made_once_half_of_the_present_one_is_over() {
    let world = plain().await;
    world.write(&[START]).await.unwrap();
    world.clock.advance(HOUR / 2 - SECOND);
    assert_eq!(world.engine.make_slices_ahead().await.unwrap(), 0);
    world.clock.advance(SECOND);
    assert_eq!(world.engine.make_slices_ahead().await.unwrap(), 1);
    assert_eq!(world.engine.make_slices_ahead().await.unwrap(), 0);
    assert_eq!(world.tables(), ["data_20260328", "data_20260328_0100"]);
    let found = world.stored().await;
    assert_eq!(found, world.engine.list_slices(&world.name).unwrap());
}

#[tokio::test]
async fn a_slice_made_ahead_has_the_shape_of_its_segment() {
    let world = plain().await;
    world.write(&[START]).await.unwrap();
    let shape = Shape { seconds_per_slice: 7_200, seconds_per_bucket: 3_600, buckets_per_id: 5 };
    let wider = NamespaceSpec { shape, ..hourly() };
    world.engine.update_namespace(&world.name, wider, None).await.unwrap();
    world.clock.advance(HOUR / 2);
    world.engine.make_slices_ahead().await.unwrap();
    let slices = world.stored().await;
    let made = slices.last().unwrap();
    assert_eq!((made.slice.end() - made.slice.start()) / 1_000_000_000, 7_200);
    assert_eq!((made.shape.seconds_per_bucket, made.shape.buckets_per_id), (3_600, 5));
}

#[tokio::test]
async fn a_namespace_that_nobody_writes_to_gets_no_slice() {
    let world = plain().await;
    world.clock.advance(HOUR / 2);
    assert_eq!(world.engine.make_slices_ahead().await.unwrap(), 0);
    world.write(&[START + 1_800]).await.unwrap();
    assert_eq!(world.engine.make_slices_ahead().await.unwrap(), 1);
    // The slice of now exists, made ahead, but it is empty.
    world.clock.advance(HOUR);
    assert_eq!(world.engine.make_slices_ahead().await.unwrap(), 0);
    world.write(&[START + 5_400]).await.unwrap();
    assert_eq!(world.engine.make_slices_ahead().await.unwrap(), 1);
    assert_eq!(world.tables().len(), 3);
}

#[tokio::test]
async fn a_failure_is_reported_and_spares_the_others() {
    let mut faults = None;
    let world = world(|env| {
        let layer = FaultLayer::new(env, FaultPlan::default());
        faults = Some(layer.clone());
        Arc::new(Layered::new(Arc::new(MemoryStore::new()), layer))
    })
    .await;
    let later = NamespaceName::new("zebra").unwrap();
    world.engine.create_namespace(&later, hourly()).await.unwrap();
    for namespace in [&world.name, &later] {
        let request = WriteRequest { namespace: namespace.clone(), events: vec![event(START)] };
        world.engine.write_synced(request).await.unwrap();
    }
    world.clock.advance(HOUR / 2);
    faults.unwrap().inject(Op::Enumerate, Fault::Refuse);
    assert_eq!(world.engine.make_slices_ahead().await.unwrap_err().reason(), Reason::BackendOverloaded);
    assert_eq!(world.tables().len(), 1);
    assert_eq!(world.engine.list_slices(&later).unwrap().len(), 2);
    assert_eq!(world.engine.make_slices_ahead().await.unwrap(), 1);
}

/// Runs `work` as a task of its own.
fn spawned<T: Send + 'static>(
    env: &Env,
    work: impl Future<Output = T> + Send + 'static,
) -> oneshot::Receiver<T> {
    let (done, result) = oneshot::channel();
    let task: BoxFuture<'static, ()> = Box::pin(async move {
        let _gone = done.send(work.await);
    });
    env.spawn.task("maker", task);
    result
}

/// Lets 16 tasks of two servers make the next slice at once, and 16 more need it if `writers` says so. Gives back how
/// many were made ahead.
async fn race(writers: bool) -> usize {
    let mut faults = None;
    let world = world(|env| {
        let layer = FaultLayer::new(env, FaultPlan::default());
        faults = Some(layer.clone());
        Arc::new(Layered::new(Arc::new(MemoryStore::new()), layer))
    })
    .await;
    world.write(&[START]).await.unwrap();
    world.clock.advance(HOUR - 60 * SECOND);
    let other = world.server().await;
    // Every record is slow to be made, so that makers meet there.
    let slow = FaultPlan::default().with_chance(Op::MetaCas, 1_000, Fault::Delay(SECOND));
    faults.unwrap().replace(slow);
    let (mut made, mut written) = (Vec::new(), Vec::new());
    for turn in 0..16 {
        let engine = if turn % 2 == 0 { world.engine.clone() } else { other.clone() };
        let maker = engine.clone();
        made.push(spawned(&world.env, async move { maker.make_slices_ahead().await.unwrap() }));
        if writers {
            let events = vec![event(START + 3_600)];
            let next = WriteRequest { namespace: world.name.clone(), events };
            let write = async move { engine.write_synced(next).await.unwrap().accepted };
            written.push(spawned(&world.env, write));
        }
    }
    // As servers do all the time.
    let refresh = async |engine: &Engine| {
        loop {
            engine.refresh().await.unwrap();
            world.env.clock.sleep(SECOND).await;
        }
    };
    let (made, written) = tokio::select! {
        () = async { tokio::join!(refresh(&world.engine), refresh(&other)); } => unreachable!("they go on for ever"),
        done = async { (join_all(made).await, join_all(written).await) } => done,
        () = world.time_passes() => unreachable!("time does not end"),
    };
    assert!(written.into_iter().all(|accepted| accepted == Ok(1)));
    assert_eq!(world.tables(), ["data_20260328", "data_20260328_0100"]);
    assert_eq!(other.list_slices(&world.name).unwrap(), world.engine.list_slices(&world.name).unwrap());
    made.into_iter().map(Result::unwrap).sum()
}

#[tokio::test(start_paused = true)]
async fn concurrent_makers_make_one() {
    assert_eq!(race(false).await, 1);
    assert!(race(true).await <= 1);
}

#[tokio::test(start_paused = true)]
async fn makers_of_different_slices_do_not_lose_each_other() {
    let slow = FaultPlan::default().with_chance(Op::CreateTable, 1_000, Fault::Delay(SECOND));
    let world =
        world(|env| Arc::new(Layered::new(Arc::new(MemoryStore::new()), FaultLayer::new(env, slow)))).await;
    let written = (0..12).map(|hour| {
        let (engine, namespace) = (world.engine.clone(), world.name.clone());
        let request = WriteRequest { namespace, events: vec![event(START - hour * 3_600)] };
        spawned(&world.env, async move { engine.write_synced(request).await.unwrap().accepted })
    });
    let written = written.collect::<Vec<_>>();
    tokio::select! {
        written = join_all(written) => assert!(written.into_iter().all(|accepted| accepted == Ok(1))),
        () = world.time_passes() => unreachable!("time does not end"),
    }
    assert_eq!(world.tables().len(), 12);
}

/// Fills a namespace with the most slices it may have, from `START` back.
async fn fill(world: &World) {
    for request in 0..50 {
        let hours: Vec<i64> = (request * 8..request * 8 + 8).map(|hour| START - hour * 3_600).collect();
        assert_eq!(world.write(&hours).await.unwrap().accepted, 8);
    }
    assert_eq!(world.tables().len(), 400);
}

#[tokio::test]
async fn a_namespace_has_a_limited_number_of_slices() {
    let world = plain().await;
    fill(&world).await;
    let refused = world.write(&[START + 3_600]).await.unwrap();
    assert_eq!(refused.refused.first().map(|refusal| refusal.reason), Some(Reason::EventInFuture));
    let refused = world.write(&[START - 400 * 3_600]).await.unwrap_err();
    assert_eq!(refused.reason(), Reason::RateLimited);
    assert!(refused.to_string().ends_with("widen them or shorten retention"), "{refused}");
    // Nothing valid is refused for its neighbour.
    let mixed = world.write(&[START, START - 400 * 3_600, START - 3_600]).await.unwrap();
    let reasons: Vec<_> = mixed.refused.iter().map(|refusal| (refusal.index, refusal.reason)).collect();
    assert_eq!((mixed.accepted, reasons), (2, vec![(1, Reason::RateLimited)]));
    // Ahead of time neither, and without a fuss.
    world.clock.advance(HOUR / 2);
    assert_eq!(world.engine.make_slices_ahead().await.unwrap(), 0);
    assert_eq!(world.tables().len(), 400);
}

/// While it says so, a store has all the tables it may have, like the embedded one behind `max_tables`.
struct Full(Arc<AtomicBool>);

impl Layer for Full {
    async fn around<T: Outcome>(
        &self,
        call: Call,
        next: BoxFuture<'static, store::Result<T>>,
    ) -> store::Result<T> {
        if call.op == Op::CreateTable && self.0.load(Ordering::SeqCst) {
            return Err(store::Error::invalid("there are 1 tables already; raise [store] max_tables"));
        }
        next.await
    }
}

#[tokio::test]
async fn a_store_without_room_for_a_table_leaves_nothing_behind() {
    let full = Arc::new(AtomicBool::new(false));
    let layer = Full(Arc::clone(&full));
    let world = world(|_| Arc::new(Layered::new(Arc::new(MemoryStore::new()), layer))).await;
    world.write(&[START]).await.unwrap();
    full.store(true, Ordering::SeqCst);
    let refused = world.write(&[START - 3_600]).await.unwrap_err();
    assert_eq!(refused.reason(), Reason::RateLimited);
    assert!(refused.to_string().ends_with("raise [store] max_tables"), "{refused}");
    world.clock.advance(HOUR / 2);
    assert_eq!(world.engine.make_slices_ahead().await.unwrap(), 0);
    // A start finds no slice that it would have to make, and a write makes it once there is room.
    full.store(false, Ordering::SeqCst);
    assert_eq!(world.stored().await.len(), 1);
    assert_eq!(world.write(&[START - 3_600]).await.unwrap().accepted, 1);
}

#[tokio::test]
async fn slices_that_could_not_be_made_refuse_only_their_own_events() {
    let mut faults = None;
    let world = world(|env| {
        let layer = FaultLayer::new(env, FaultPlan::default());
        faults = Some(layer.clone());
        Arc::new(Layered::new(Arc::new(MemoryStore::new()), layer))
    })
    .await;
    faults.unwrap().inject(Op::CreateTable, Fault::Refuse);
    let hours = [START - 7_200, START - 3_600, START];
    let answer = world.write(&hours).await.unwrap();
    let reasons: Vec<_> = answer.refused.iter().map(|refusal| (refusal.index, refusal.reason)).collect();
    assert_eq!((answer.accepted, reasons), (2, vec![(0, Reason::BackendOverloaded)]));
    assert_eq!(world.write(&hours).await.unwrap().accepted, 3);
    let read = ReadRequest {
        namespace: world.name.clone(),
        series: vec![SeriesId::new("s").unwrap()],
        interval: Interval::ALL,
        query: None,
        max_latency: None,
        deadline: None,
        page_records: 100,
        order: Order::OldestFirst,
        resume: None,
        total_limit: None,
    };
    assert_eq!(world.server().await.read(read).await.unwrap().events.len(), 3);
}
