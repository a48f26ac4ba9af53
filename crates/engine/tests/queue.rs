//! Queued writes: bounded, coalesced, counted.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{Engine, EventInput, ItemInput, NamespaceSpec, ReadRequest, Reason, WriteAnswer, WriteRequest};
use env::{Env, ManualClock};
use model::{Interval, NamespaceName, Order, SeriesId};
use prometheus_client::registry::Registry;
use store::layer::{Fault, FaultLayer, FaultPlan, Layered, MetricsLayer, Op};
use store::{MemoryStore, Store};

const START: i64 = 1_774_656_000;

struct World {
    engine: Engine,
    clock: ManualClock,
    name: NamespaceName,
}

async fn world(store: impl FnOnce(Env) -> Arc<dyn Store>) -> World {
    let clock = ManualClock::starting_at(START * 1_000_000_000);
    let env = Env { clock: Arc::new(clock.clone()), ..Env::system() };
    let engine = Engine::open(store(env.clone()), env).await.unwrap();
    let name = NamespaceName::new("queued").unwrap();
    engine.create_namespace(&name, NamespaceSpec::default()).await.unwrap();
    World { engine, clock, name }
}

fn event(event_id: &str, bytes: usize) -> EventInput {
    let item = ItemInput { key: "k".to_owned(), value: Bytes::from(vec![1; bytes]), ..ItemInput::default() };
    EventInput {
        series: "s".to_owned(),
        time: Some((START - 590, 0)),
        event_id: event_id.to_owned(),
        items: vec![item],
    }
}

impl World {
    async fn queue(&self, events: Vec<EventInput>) -> WriteAnswer {
        let request = WriteRequest { namespace: self.name.clone(), events };
        self.engine.write_queued(request).await.unwrap()
    }

    async fn read(&self) -> usize {
        let request = ReadRequest {
            namespace: self.name.clone(),
            series: vec![SeriesId::new("s").unwrap()],
            interval: Interval::ALL,
            query: None,
            max_latency: None,
            deadline: None,
            page_records: 10_000,
            order: Order::NewestFirst,
            resume: None,
            total_limit: None,
        };
        self.engine.read(request).await.unwrap().events.len()
    }
}

#[tokio::test]
async fn queued_events_are_stored_by_themselves_and_by_a_flush() {
    let world = world(|_| Arc::new(MemoryStore::new())).await;
    assert_eq!(world.queue(vec![event("a", 1), event("b", 1)]).await.accepted, 2);
    assert_eq!((world.engine.queue_counts().waiting, world.read().await), (2, 0));
    world.engine.flush_queue().await;
    assert_eq!((world.engine.queue_counts().stored, world.read().await), (2, 2));

    world.queue(vec![event("c", 1)]).await;
    // The task waits for company, then stores and waits for the next event.
    world.clock.sleepers(1).await;
    world.clock.advance(Duration::from_millis(10));
    while world.engine.queue_counts().stored < 3 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.read().await, 3);
}

#[tokio::test]
async fn many_small_writes_of_one_partition_become_one_batch() {
    let mut registry = Registry::default();
    let world = world(|env| {
        let metrics = MetricsLayer::new(&mut registry, Arc::clone(&env.clock));
        Arc::new(Layered::new(Arc::new(MemoryStore::new()), metrics))
    })
    .await;
    for number in 0..50 {
        // One id, so one partition: the store merges what meets.
        world.queue(vec![event("same", number)]).await;
    }
    world.engine.flush_queue().await;
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
    let upserts = text.lines().find(|line| line.contains("calls_total") && line.contains("upsert")).unwrap();
    assert!(upserts.ends_with(" 1"), "{upserts}");
}

#[tokio::test]
async fn a_full_queue_refuses_and_counts() {
    let world = world(|_| Arc::new(MemoryStore::new())).await;
    let (mut accepted, mut refused) = (0, 0);
    for number in 0..70 {
        let answer = world.queue(vec![event(&format!("e{number}"), 1 << 20)]).await;
        accepted += answer.accepted;
        refused += answer.refused.iter().filter(|refusal| refusal.reason == Reason::RateLimited).count();
    }
    assert!(accepted >= 60 && refused >= 5, "{accepted} {refused}");
    assert_eq!(accepted + refused, 70);
    assert_eq!(world.engine.queue_counts().refused, refused as u64);
    world.engine.flush_queue().await;
    assert_eq!(world.queue(vec![event("again", 1)]).await.accepted, 1);
}

#[tokio::test]
async fn what_grows_too_old_in_the_queue_is_dropped_and_counted() {
    let world = world(|_| Arc::new(MemoryStore::new())).await;
    world.queue(vec![event("a", 1)]).await;
    world.clock.advance(Duration::from_secs(11));
    world.engine.flush_queue().await;
    assert_eq!((world.engine.queue_counts().lost_too_old, world.read().await), (1, 0));
    let late = world.queue(vec![event("b", 1)]).await;
    assert_eq!(late.refused.first().map(|refusal| refusal.reason), Some(Reason::EventTooOld));
}

#[tokio::test]
async fn a_store_that_fails_is_tried_again_and_then_counted() {
    let mut faults = None;
    let world = world(|env| {
        let plan = FaultPlan::default().then(Op::Upsert, Fault::Refuse).then(Op::Upsert, Fault::LoseAnswer);
        let layer = FaultLayer::new(env, plan);
        faults = Some(layer.clone());
        Arc::new(Layered::new(Arc::new(MemoryStore::new()), layer))
    })
    .await;
    world.queue(vec![event("a", 1)]).await;
    let time_passes = async {
        loop {
            world.clock.sleepers(1).await;
            world.clock.advance(Duration::from_secs(1));
        }
    };
    tokio::select! {
        () = world.engine.flush_queue() => {}
        () = time_passes => {}
    }
    assert_eq!((world.engine.queue_counts().stored, world.read().await), (1, 1));
    assert_eq!(faults.unwrap().happened(Op::Upsert), 2);
}

/// A world over a store whose next upserts meet `faults`.
async fn faulty(faults: impl IntoIterator<Item = Fault>) -> (World, FaultLayer) {
    let mut layer = None;
    let plan = faults.into_iter().fold(FaultPlan::default(), |plan, fault| plan.then(Op::Upsert, fault));
    let world = world(|env| {
        let faults = FaultLayer::new(env, plan);
        layer = Some(faults.clone());
        Arc::new(Layered::new(Arc::new(MemoryStore::new()), faults))
    })
    .await;
    (world, layer.unwrap())
}

#[tokio::test]
async fn a_namespace_that_is_gone_is_lost_for_its_own_reason() {
    let (world, faults) = faulty([Fault::Refuse]).await;
    world.queue(vec![event("a", 1), event("b", 1)]).await;
    world.engine.delete_namespace(&world.name, None).await.unwrap();
    world.engine.create_namespace(&world.name, NamespaceSpec::default()).await.unwrap();
    world.engine.flush_queue().await;
    let counts = world.engine.queue_counts();
    assert_eq!((counts.lost_namespace, counts.lost_store, counts.stored), (2, 0, 0));
    // The store was not asked once.
    assert_eq!((faults.happened(Op::Upsert), world.read().await), (0, 0));
}

#[tokio::test]
async fn a_namespace_deleted_between_tries_is_not_tried_again() {
    let (world, faults) = faulty([Fault::Refuse; 5]).await;
    world.queue(vec![event("a", 1)]).await;
    let meanwhile = async {
        // One sleeper is the task that waits for company, the other the try that failed.
        world.clock.sleepers(2).await;
        world.engine.delete_namespace(&world.name, None).await.unwrap();
        world.clock.advance(Duration::from_secs(1));
    };
    tokio::join!(world.engine.flush_queue(), meanwhile);
    let counts = world.engine.queue_counts();
    assert_eq!((counts.lost_namespace, counts.lost_store, faults.happened(Op::Upsert)), (1, 0, 1));
}

#[tokio::test]
async fn what_grows_too_old_between_tries_is_not_tried_again() {
    let (world, faults) = faulty([Fault::Refuse; 5]).await;
    world.queue(vec![event("a", 1)]).await;
    let meanwhile = async {
        world.clock.sleepers(2).await;
        world.clock.advance(Duration::from_secs(11));
    };
    tokio::join!(world.engine.flush_queue(), meanwhile);
    let counts = world.engine.queue_counts();
    assert_eq!((counts.lost_too_old, counts.lost_store, faults.happened(Op::Upsert)), (1, 0, 1));
}

#[tokio::test]
async fn what_the_store_took_too_late_does_not_count_as_stored() {
    let (world, _) = faulty([Fault::Delay(Duration::from_secs(1))]).await;
    world.queue(vec![event("a", 1)]).await;
    let meanwhile = async {
        world.clock.sleepers(2).await;
        world.clock.advance(Duration::from_secs(11));
    };
    tokio::join!(world.engine.flush_queue(), meanwhile);
    let counts = world.engine.queue_counts();
    assert_eq!((counts.lost_too_old, counts.stored, counts.waiting), (1, 0, 0));
}

#[tokio::test]
async fn a_slice_that_closed_meanwhile_takes_nothing_from_the_queue() {
    let world = world(|_| Arc::new(MemoryStore::new())).await;
    let spec = NamespaceSpec {
        accept_limit: Duration::ZERO,
        close_after: Duration::from_secs(60),
        ..NamespaceSpec::default()
    };
    world.engine.update_namespace(&world.name, spec, None).await.unwrap();
    // Of the day before, which closes a minute after midnight.
    assert_eq!(world.queue(vec![event("a", 1)]).await.accepted, 1);
    world.clock.advance(Duration::from_secs(60));
    world.engine.flush_queue().await;
    assert_eq!((world.engine.queue_counts().lost_too_old, world.read().await), (1, 0));
}
