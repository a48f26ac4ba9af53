//! Namespaces and slices: made, changed, closed, dropped, and made again.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{
    Engine, EventInput, ItemInput, NamespaceSpec, PAGE_BYTES_MAX, ReadPage, ReadRequest, Reason, Shape,
    SliceState, WriteAnswer, WriteRequest,
};
use env::{Env, ManualClock};
use model::{Interval, NamespaceName, Order, SeriesId};
use store::{MemoryStore, Store};

const START: i64 = 1_774_656_000;
const HOUR: u64 = 3_600;

struct World {
    engine: Engine,
    store: Arc<dyn Store>,
    env: Env,
    clock: ManualClock,
    name: NamespaceName,
}

async fn world() -> World {
    let clock = ManualClock::starting_at(START * 1_000_000_000);
    let env = Env { clock: Arc::new(clock.clone()), ..Env::system() };
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let engine = Engine::open(Arc::clone(&store), env.clone()).await.unwrap();
    World { engine, store, env, clock, name: NamespaceName::new("orders").unwrap() }
}

fn hourly() -> NamespaceSpec {
    let shape = Shape { seconds_per_slice: 3_600, seconds_per_bucket: 600, buckets_per_id: 2 };
    NamespaceSpec { shape, accept_limit: Duration::ZERO, ..NamespaceSpec::default() }
}

fn event(seconds: i64, event_id: &str, value: Bytes) -> EventInput {
    let item = ItemInput { key: "k".to_owned(), value, ..ItemInput::default() };
    EventInput {
        series: "s".to_owned(),
        time: Some((seconds, 0)),
        event_id: event_id.to_owned(),
        items: vec![item],
    }
}

impl World {
    async fn write(&self, events: Vec<EventInput>) -> engine::Result<WriteAnswer> {
        self.engine.write_synced(WriteRequest { namespace: self.name.clone(), events }).await
    }

    fn request(&self) -> ReadRequest {
        ReadRequest {
            namespace: self.name.clone(),
            series: vec![SeriesId::new("s").unwrap()],
            interval: Interval::ALL,
            query: None,
            max_latency: None,
            deadline: None,
            page_records: 100,
            order: Order::OldestFirst,
            resume: None,
            total_limit: None,
        }
    }

    async fn read(&self) -> ReadPage {
        self.engine.read(self.request()).await.unwrap()
    }
}

#[tokio::test]
async fn a_namespace_is_made_once_and_found_after_a_restart() {
    let world = world().await;
    let made = world.engine.create_namespace(&world.name, hourly()).await.unwrap();
    let again = world.engine.create_namespace(&world.name, hourly()).await.unwrap_err();
    assert_eq!(again.reason(), Reason::NamespaceExists);
    let reopened = Engine::open(Arc::clone(&world.store), world.env.clone()).await.unwrap();
    assert_eq!(reopened.list_namespaces(), [made]);
    let other = NamespaceName::new("other").unwrap();
    assert_eq!(reopened.get_namespace(&other).unwrap_err().reason(), Reason::NamespaceNotFound);
}

#[tokio::test]
async fn a_namespace_made_again_never_shows_old_data() {
    let world = world().await;
    let first = world.engine.create_namespace(&world.name, hourly()).await.unwrap();
    world.write(vec![event(START, "old", Bytes::new())]).await.unwrap();
    world.engine.delete_namespace(&world.name, None).await.unwrap();
    assert_eq!(world.store.list_tables().await.unwrap(), []);
    assert_eq!(world.write(vec![]).await.unwrap_err().reason(), Reason::NamespaceNotFound);
    let second = world.engine.create_namespace(&world.name, hourly()).await.unwrap();
    assert_eq!((first.incarnation, second.incarnation), (1, 2));
    world.write(vec![event(START, "new", Bytes::new())]).await.unwrap();
    let ids: Vec<_> =
        world.read().await.events.iter().map(|event| Bytes::copy_from_slice(event.event_id())).collect();
    assert_eq!(ids, ["new"]);
}

#[tokio::test]
async fn a_change_needs_the_present_etag_and_touches_future_slices_only() {
    let world = world().await;
    let made = world.engine.create_namespace(&world.name, hourly()).await.unwrap();
    world.write(vec![event(START, "a", Bytes::new())]).await.unwrap();
    let shape = Shape { seconds_per_slice: 7_200, seconds_per_bucket: 7_200, buckets_per_id: 5 };
    let wider = NamespaceSpec { shape, ..hourly() };
    let changed = world.engine.update_namespace(&world.name, wider.clone(), Some(&made.etag)).await.unwrap();
    assert_ne!(changed.etag, made.etag);
    let stale = world.engine.update_namespace(&world.name, wider, Some(&made.etag)).await.unwrap_err();
    assert_eq!(stale.reason(), Reason::EtagMismatch);
    // A late event, one in the slice that exists, one behind it.
    let answer = world.write(vec![
        event(START - 3_600, "late", Bytes::new()),
        event(START + 5, "same", Bytes::new()),
        event(START + 599, "b", Bytes::new()),
    ]);
    assert_eq!(answer.await.unwrap().accepted, 3);
    world.clock.advance(Duration::from_secs(HOUR));
    world.write(vec![event(START + 3_600, "next", Bytes::new())]).await.unwrap();
    let reopened = Engine::open(Arc::clone(&world.store), world.env.clone()).await.unwrap();
    let slices = reopened.list_slices(&world.name).unwrap();
    let facts: Vec<_> = slices
        .iter()
        .map(|info| (info.table.as_str(), info.slice.end() - info.slice.start(), info.shape.buckets_per_id))
        .collect();
    let second = 1_000_000_000;
    assert_eq!(
        facts,
        [
            ("data_20260327_2300", 3_600 * second, 2),
            ("data_20260328", 3_600 * second, 2),
            ("data_20260328_0100", 7_200 * second, 5)
        ]
    );
    assert_eq!(reopened.read(world.request()).await.unwrap().events.len(), 5);
}

#[tokio::test]
async fn slices_close_and_are_dropped_and_reads_say_so() {
    let world = world().await;
    let spec = NamespaceSpec {
        close_after: Duration::from_secs(HOUR),
        delete_after: Duration::from_secs(2 * HOUR),
        ..hourly()
    };
    world.engine.create_namespace(&world.name, spec).await.unwrap();
    world.write(vec![event(START, "a", Bytes::new())]).await.unwrap();
    world.clock.advance(Duration::from_secs(2 * HOUR));
    let state = |world: &World| world.engine.list_slices(&world.name).unwrap().first().map(|info| info.state);
    assert_eq!(state(&world), Some(SliceState::Closed));
    let late = world.write(vec![event(START, "b", Bytes::new())]).await.unwrap();
    assert_eq!(
        (late.accepted, late.refused.first().map(|refusal| refusal.reason)),
        (0, Some(Reason::EventTooOld))
    );
    assert_eq!(world.read().await.events.len(), 1);
    world.clock.advance(Duration::from_secs(HOUR));
    // Clocks may differ a little: a slice is dropped when all agree that its time is over.
    assert_eq!(world.engine.drop_expired().await.unwrap(), 0);
    world.clock.advance(Duration::from_secs(10));
    assert_eq!(world.engine.drop_expired().await.unwrap(), 1);
    let page = world.engine.read(ReadRequest {
        interval: Interval::new(START * 1_000_000_000, i64::MAX).unwrap(),
        ..world.request()
    });
    let page = page.await.unwrap();
    assert_eq!((page.events.len(), page.retention_truncated), (0, true));
    assert_eq!(world.store.list_tables().await.unwrap(), []);
    assert_eq!(state(&world), None);
}

#[tokio::test]
async fn an_event_larger_than_a_page_comes_in_parts() {
    let world = world().await;
    world.engine.create_namespace(&world.name, hourly()).await.unwrap();
    let big = |key: u32| {
        let mut input = event(START, "big", Bytes::from(vec![7; 1 << 20]));
        input.items.iter_mut().for_each(|item| item.key = format!("k{key}"));
        input
    };
    world.write(vec![event(START - 1, "before", Bytes::new())]).await.unwrap();
    for key in 0..8 {
        world.write(vec![big(key)]).await.unwrap();
    }
    world.write(vec![event(START + 1, "behind", Bytes::new())]).await.unwrap();
    for order in [Order::OldestFirst, Order::NewestFirst] {
        let mut request = ReadRequest { order, ..world.request() };
        let mut parts = Vec::new();
        loop {
            let page = world.engine.read(request.clone()).await.unwrap();
            let bytes: usize =
                page.events.iter().flat_map(|event| event.items()).map(|item| item.value.len()).sum();
            assert!(bytes as u64 <= PAGE_BYTES_MAX, "{bytes}");
            parts.extend(
                page.events
                    .into_iter()
                    .map(|event| (event.to_event_id(), event.item_count(), event.continues)),
            );
            request.resume = page.next;
            if request.resume.is_none() {
                break;
            }
        }
        let items: usize = parts.iter().map(|part| part.1).sum();
        assert_eq!(items, 10, "{parts:?}");
        let continues: Vec<bool> = parts.iter().map(|part| part.2).collect();
        assert_eq!(continues, [false, true, true, false, false], "{parts:?}");
    }
}

#[tokio::test]
async fn a_wide_interval_over_narrow_buckets_is_served_in_bounded_pages() {
    let world = world().await;
    let shape = Shape { seconds_per_slice: 86_400, seconds_per_bucket: 10, buckets_per_id: 1 };
    world.engine.create_namespace(&world.name, NamespaceSpec { shape, ..hourly() }).await.unwrap();
    for day in 0..5 {
        world.write(vec![event(START - day * 86_400, &format!("d{day}"), Bytes::new())]).await.unwrap();
    }
    let mut request = ReadRequest { order: Order::NewestFirst, ..world.request() };
    let (mut events, mut pages, mut partitions) = (0, 0, 0);
    loop {
        let page = world.engine.read(request.clone()).await.unwrap();
        assert!(page.cost.partitions <= 4_096, "{:?}", page.cost);
        events += page.events.len();
        pages += 1;
        partitions += page.cost.partitions;
        request.resume = page.next;
        if request.resume.is_none() {
            break;
        }
    }
    assert_eq!(events, 5);
    assert!(pages > 5 && partitions >= 43_200, "{pages} pages, {partitions} partitions");
}

#[tokio::test]
async fn each_event_is_refused_by_itself() {
    let world = world().await;
    world.engine.create_namespace(&world.name, NamespaceSpec::default()).await.unwrap();
    let mut events = vec![event(START, "good", Bytes::new()); 2];
    events.push(event(START - 601, "old", Bytes::new()));
    events.push(event(START + 601, "future", Bytes::new()));
    events.push(event(START, "", Bytes::new()));
    let answer = world.write(events).await.unwrap();
    assert_eq!(answer.accepted, 2);
    let refused: Vec<_> = answer.refused.iter().map(|refusal| (refusal.index, refusal.reason)).collect();
    assert_eq!(refused, [(2, Reason::EventTooOld), (3, Reason::EventInFuture), (4, Reason::FieldInvalid)]);
}

#[tokio::test]
async fn one_request_makes_a_limited_number_of_slices() {
    let world = world().await;
    world.engine.create_namespace(&world.name, hourly()).await.unwrap();
    let events = (0..10).map(|hour| event(START - hour * 3_600, "e", Bytes::new())).collect();
    let answer = world.write(events).await.unwrap();
    assert_eq!(answer.accepted, 8);
    assert!(answer.refused.iter().all(|refusal| refusal.reason == Reason::RateLimited));
}
