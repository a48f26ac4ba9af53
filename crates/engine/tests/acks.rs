//! The second check: what the store took too late, or for a namespace that is gone, is not acknowledged.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{
    Engine, EventInput, ItemInput, NamespaceSpec, ReadRequest, Reason, Result, Shape, WriteAnswer,
    WriteRequest,
};
use env::{BoxFuture, Env, ManualClock};
use model::{Interval, NamespaceName, Order, SeriesId};
use store::layer::{Call, Layer, Layered, Op, Outcome};
use store::{MemoryStore, Store};

const START: i64 = 1_774_656_000;
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);

/// The store takes rows at once and answers after a second.
struct SlowAnswer(ManualClock);

impl Layer for SlowAnswer {
    async fn around<T: Outcome>(
        &self,
        call: Call,
        next: BoxFuture<'static, store::Result<T>>,
    ) -> store::Result<T> {
        let answer = next.await;
        if call.op == Op::Upsert {
            env::Clock::sleep(&self.0, SECOND).await;
        }
        answer
    }
}

struct World {
    engine: Engine,
    clock: ManualClock,
    name: NamespaceName,
}

async fn world(spec: NamespaceSpec) -> World {
    let clock = ManualClock::starting_at(START * 1_000_000_000);
    let env = Env { clock: Arc::new(clock.clone()), ..Env::system() };
    let store: Arc<dyn Store> =
        Arc::new(Layered::new(Arc::new(MemoryStore::new()), SlowAnswer(clock.clone())));
    let engine = Engine::open(store, env).await.unwrap();
    let name = NamespaceName::new("orders").unwrap();
    engine.create_namespace(&name, spec).await.unwrap();
    World { engine, clock, name }
}

/// Accepts whatever retention has not closed: an hour after the end of its hour.
fn unlimited() -> NamespaceSpec {
    let shape = Shape { seconds_per_slice: 3_600, seconds_per_bucket: 3_600, buckets_per_id: 1 };
    NamespaceSpec { shape, accept_limit: Duration::ZERO, close_after: HOUR, ..NamespaceSpec::default() }
}

fn event(seconds: i64) -> EventInput {
    let item = ItemInput { key: "k".to_owned(), value: Bytes::new(), ..ItemInput::default() };
    let event_id = format!("e{seconds}");
    EventInput { series: "s".to_owned(), time: Some((seconds, 0)), event_id, items: vec![item] }
}

impl World {
    /// Writes events; when the store has them and has not said so yet, `meanwhile` happens.
    async fn write(&self, seconds: &[i64], meanwhile: impl AsyncFnOnce(&Self)) -> Result<WriteAnswer> {
        let events = seconds.iter().copied().map(event).collect();
        let write = self.engine.write_synced(WriteRequest { namespace: self.name.clone(), events });
        let rest = async {
            self.clock.sleepers(1).await;
            meanwhile(self).await;
            self.clock.advance(SECOND);
        };
        tokio::join!(write, rest).0
    }

    async fn stored(&self) -> usize {
        let request = ReadRequest {
            namespace: self.name.clone(),
            series: vec![SeriesId::new("s").unwrap()],
            interval: Interval::ALL,
            query: None,
            max_latency: None,
            deadline: None,
            page_records: 100,
            order: Order::NewestFirst,
            resume: None,
            total_limit: None,
        };
        self.engine.read(request).await.unwrap().events.len()
    }
}

#[tokio::test]
async fn what_stays_inside_the_window_is_acknowledged() {
    let world = world(NamespaceSpec::default()).await;
    // To the second: 600 s are accepted, and the answer takes one.
    let answer = world.write(&[START - 599], async |_| ()).await.unwrap();
    assert_eq!((answer.accepted, answer.refused.len()), (1, 0));
}

#[tokio::test]
async fn an_event_that_grew_too_old_has_an_unknown_outcome() {
    let world = world(NamespaceSpec::default()).await;
    let answer = world.write(&[START, START - 600, START - 599], async |_| ()).await.unwrap();
    assert_eq!(answer.accepted, 2);
    let refusal = answer.refused.first().unwrap();
    assert_eq!((answer.refused.len(), refusal.index, refusal.reason), (1, 1, Reason::BackendTimeout));
    assert!(refusal.message.contains("may be stored") && refusal.message.contains("send it again"));
    assert!(refusal.message.contains("accept_limit") && !refusal.message.contains("was refused"));
    assert_eq!(world.stored().await, 3);
    // Where it is the only one, it is the answer.
    let alone = world.write(&[START - 599], async |_| ()).await.unwrap_err();
    assert_eq!(alone.reason(), Reason::BackendTimeout);
}

#[tokio::test]
async fn an_accept_limit_that_shrank_holds_for_writes_under_way() {
    let world = world(NamespaceSpec::default()).await;
    let shrink = async |world: &World| {
        let spec = NamespaceSpec { accept_limit: Duration::from_secs(60), ..NamespaceSpec::default() };
        world.engine.update_namespace(&world.name, spec, None).await.unwrap();
    };
    let answer = world.write(&[START, START - 100], shrink).await.unwrap();
    let reasons: Vec<_> = answer.refused.iter().map(|refusal| (refusal.index, refusal.reason)).collect();
    assert_eq!((answer.accepted, reasons), (1, vec![(1, Reason::BackendTimeout)]));
}

#[tokio::test]
async fn without_a_limit_the_closing_of_the_slice_decides() {
    let world = world(unlimited()).await;
    world.clock.advance(HOUR - SECOND * 2);
    // The slice before ends at START and closes an hour later.
    let old = START - 1;
    let answer = world.write(&[old, START], async |_| ()).await.unwrap();
    assert_eq!(answer.accepted, 2);
    let answer = world.write(&[old, START], async |_| ()).await.unwrap();
    let reasons: Vec<_> = answer.refused.iter().map(|refusal| (refusal.index, refusal.reason)).collect();
    assert_eq!((answer.accepted, reasons), (1, vec![(0, Reason::BackendTimeout)]));
}

#[tokio::test]
async fn a_namespace_deleted_under_way_is_not_acknowledged() {
    let world = world(NamespaceSpec::default()).await;
    let delete = async |world: &World| world.engine.delete_namespace(&world.name, None).await.unwrap();
    let error = world.write(&[START], delete).await.unwrap_err();
    assert_eq!(error.reason(), Reason::NamespaceNotFound);
}

#[tokio::test]
async fn a_namespace_made_again_under_way_is_not_acknowledged() {
    let world = world(NamespaceSpec::default()).await;
    let make_again = async |world: &World| {
        world.engine.delete_namespace(&world.name, None).await.unwrap();
        world.engine.create_namespace(&world.name, NamespaceSpec::default()).await.unwrap();
    };
    let error = world.write(&[START], make_again).await.unwrap_err();
    assert_eq!(error.reason(), Reason::NamespaceNotFound);
    assert_eq!(world.stored().await, 0);
    assert_eq!(world.write(&[START], async |_| ()).await.unwrap().accepted, 1);
}
