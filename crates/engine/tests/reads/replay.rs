//! Failures that other systems had, and hazards of paged reads, each by its name.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use engine::{
    AggregateRequest, Aggregation, Engine, EventInput, ItemInput, NamespaceSpec, ReadPage, ReadRequest,
    SearchQuery, Shape, WriteRequest,
};
use env::{BoxFuture, Env, ManualClock};
use model::{Interval, NamespaceName, Order, SeriesId};
use store::layer::{Call, Layer, Layered, Op, Outcome};
use store::{MemoryStore, Store};

const START: i64 = 1_774_656_000;
const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400;

/// Counts scans.
#[derive(Clone, Default)]
struct Scans(Arc<AtomicUsize>);

impl Layer for Scans {
    async fn around<T: Outcome>(
        &self,
        call: Call,
        next: BoxFuture<'static, store::Result<T>>,
    ) -> store::Result<T> {
        if call.op == Op::Scan {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
        next.await
    }
}

struct World {
    engine: Engine,
    clock: ManualClock,
    scans: Scans,
    name: NamespaceName,
}

async fn world(shape: Shape) -> World {
    let (clock, scans) = (ManualClock::starting_at(START * SECOND), Scans::default());
    let env = Env { clock: Arc::new(clock.clone()), ..Env::system() };
    let store: Arc<dyn Store> = Arc::new(Layered::new(Arc::new(MemoryStore::new()), scans.clone()));
    let engine = Engine::open(store, env).await.unwrap();
    let name = NamespaceName::new("replay").unwrap();
    let spec = NamespaceSpec { shape, accept_limit: Duration::ZERO, ..NamespaceSpec::default() };
    engine.create_namespace(&name, spec).await.unwrap();
    World { engine, clock, scans, name }
}

const HOURS: Shape = Shape { seconds_per_slice: 86_400, seconds_per_bucket: 3_600, buckets_per_id: 4 };

impl World {
    async fn write(&self, times: impl Iterator<Item = i64>) {
        let event = |(index, seconds): (usize, i64)| EventInput {
            series: "s".to_owned(),
            time: Some((seconds, 0)),
            event_id: format!("e{index:04}"),
            items: vec![ItemInput {
                key: "k".to_owned(),
                value: Bytes::from_static(b"v"),
                metadata: BTreeMap::new(),
            }],
        };
        let events: Vec<EventInput> = times.enumerate().map(event).collect();
        // A request may make eight slices.
        for events in events.chunks(if events.len() > 100 { 1_000 } else { 8 }) {
            let request = WriteRequest { namespace: self.name.clone(), events: events.to_vec() };
            assert_eq!(self.engine.write_synced(request).await.unwrap().accepted, events.len());
        }
    }

    fn request(&self, page_records: usize) -> ReadRequest {
        ReadRequest {
            namespace: self.name.clone(),
            series: vec![SeriesId::new("s").unwrap()],
            interval: Interval::ALL,
            query: None,
            page_records,
            order: Order::NewestFirst,
            resume: None,
            total_limit: None,
            max_latency: None,
            deadline: None,
        }
    }

    async fn pages(&self, mut request: ReadRequest) -> Vec<ReadPage> {
        let mut pages = Vec::new();
        loop {
            let page = self.engine.read(request.clone()).await.unwrap();
            request.resume = page.next.clone();
            pages.push(page);
            if request.resume.is_none() {
                return pages;
            }
            assert!(pages.len() < 10_000, "the read does not end");
        }
    }
}

fn ids(pages: &[ReadPage]) -> Vec<String> {
    let events = pages.iter().flat_map(|page| &page.events);
    events.map(|event| String::from_utf8(event.event_id().to_vec()).unwrap()).collect()
}

#[tokio::test]
async fn a_page_boundary_exactly_at_the_page_size_loses_and_repeats_nothing() {
    let world = world(HOURS).await;
    world.write((0..100).map(|n| START - n * 60)).await;
    for page_records in [1, 10, 20, 25, 50, 99, 100, 101] {
        for order in [Order::NewestFirst, Order::OldestFirst] {
            let pages = world.pages(ReadRequest { order, ..world.request(page_records) }).await;
            assert!(pages.iter().rev().skip(1).all(|page| page.events.len() == page_records));
            let mut found = ids(&pages);
            assert_eq!(found.len(), 100, "{page_records} a page");
            found.sort();
            found.dedup();
            assert_eq!(found.len(), 100, "{page_records} a page");
        }
    }
}

#[tokio::test]
async fn a_filter_that_drops_whole_pages_moves_on_and_ends() {
    let world = world(HOURS).await;
    for block in 0..20 {
        world.write((0..500).map(|n| START - block * 600 - n)).await;
    }
    let nothing = SearchQuery::Exists { key: "absent".to_owned() };
    let named = world.request(10);
    let unnamed = ReadRequest { series: Vec::new(), ..named.clone() };
    for request in [named, unnamed] {
        let pages = world.pages(ReadRequest { query: Some(nothing.clone()), ..request }).await;
        assert!(ids(&pages).is_empty() && pages.len() < 10, "{} pages", pages.len());
    }
}

#[tokio::test]
async fn events_of_one_moment_over_all_buckets_have_one_order() {
    let world = world(Shape { buckets_per_id: 7, ..HOURS }).await;
    world.write((0..300).map(|_| START)).await;
    let newest = ids(&world.pages(world.request(7)).await);
    let mut oldest = ids(&world.pages(ReadRequest { order: Order::OldestFirst, ..world.request(11) }).await);
    assert!(oldest.is_sorted() && oldest.len() == 300);
    oldest.reverse();
    assert_eq!(newest, oldest);
}

#[tokio::test]
async fn a_decade_over_buckets_of_a_minute_is_served_in_bounded_pages() {
    let world = world(Shape { seconds_per_slice: 604_800, seconds_per_bucket: 60, buckets_per_id: 4 }).await;
    let unlimited = Duration::ZERO;
    let spec = NamespaceSpec {
        shape: Shape { seconds_per_slice: 604_800, seconds_per_bucket: 60, buckets_per_id: 4 },
        accept_limit: Duration::ZERO,
        close_after: unlimited,
        delete_after: unlimited,
        ..NamespaceSpec::default()
    };
    world.engine.update_namespace(&world.name, spec, None).await.unwrap();
    for week in 0..8 {
        world.write(std::iter::once(START - week * 7 * DAY)).await;
    }
    let decade = Interval::new((START - 3_650 * DAY) * SECOND, (START + DAY) * SECOND).unwrap();
    for request in [
        ReadRequest { interval: decade, ..world.request(100) },
        ReadRequest { interval: Interval::ALL, order: Order::OldestFirst, ..world.request(100) },
    ] {
        let mut request = request;
        let (mut found, mut pages) = (0, 0);
        loop {
            let before = world.scans.0.load(Ordering::SeqCst);
            let page = world.engine.read(request.clone()).await.unwrap();
            let scans = world.scans.0.load(Ordering::SeqCst) - before;
            assert!(scans <= 4_096 + 8, "{scans} scans for one page");
            (found, pages) = (found + page.events.len(), pages + 1);
            request.resume = page.next;
            if request.resume.is_none() {
                break;
            }
        }
        // 8 weeks of 10,080 minutes with 4 partitions each, 4,096 a page.
        assert_eq!(found, 8);
        assert!((70..100).contains(&pages), "{pages} pages");
    }
}

#[tokio::test]
async fn a_token_from_before_its_slice_was_dropped_says_that_something_is_missing() {
    let world = world(HOURS).await;
    world.write((0..40).map(|n| START - n * DAY / 2)).await;
    for series in [world.request(1).series, Vec::new()] {
        let request = ReadRequest { order: Order::OldestFirst, series, ..world.request(2) };
        let first = world.engine.read(request.clone()).await.unwrap();
        assert!(!first.events.is_empty() && first.next.is_some());
        let before = world.engine.list_slices(&world.name).unwrap().len();
        world.clock.advance(Duration::from_secs(15 * 86_400));
        world.engine.drop_expired().await.unwrap();
        let dropped = before - world.engine.list_slices(&world.name).unwrap().len();
        assert!(dropped > 0, "the slice of the token is gone");
        let rest = world.pages(ReadRequest { resume: first.next, page_records: 1_000, ..request }).await;
        assert!(rest.iter().all(|page| page.retention_truncated));
        if dropped < before {
            assert!(!ids(&rest).is_empty(), "what is kept still comes");
        }
    }
}

#[tokio::test]
async fn old_and_new_shapes_are_read_as_one() {
    let world = world(HOURS).await;
    world.write((0..50).map(|n| START - n * 600)).await;
    let shape = Shape { seconds_per_slice: 43_200, seconds_per_bucket: 600, buckets_per_id: 2 };
    let spec = NamespaceSpec { shape, accept_limit: Duration::ZERO, ..NamespaceSpec::default() };
    world.engine.update_namespace(&world.name, spec, None).await.unwrap();
    world.clock.advance(Duration::from_secs(2 * 86_400));
    world.write((0..50).map(|n| START + 2 * DAY - n * 600)).await;
    let slices = world.engine.list_slices(&world.name).unwrap();
    assert!(slices.iter().any(|slice| slice.shape.buckets_per_id == 2));
    let pages = world.pages(world.request(9)).await;
    assert_eq!(ids(&pages).len(), 100);
    let times: Vec<i64> =
        pages.iter().flat_map(|page| &page.events).map(|event| event.time.nanos()).collect();
    assert!(times.is_sorted_by(|a, b| a >= b));
    let everything = world.pages(ReadRequest { series: Vec::new(), ..world.request(9) }).await;
    assert_eq!(ids(&everything).len(), 100);
    let count = AggregateRequest { read: world.request(1), aggregation: Aggregation::Count };
    assert_eq!(world.engine.aggregate(count).await.unwrap().count, 100);
}

#[tokio::test]
async fn reads_of_absent_ids_cost_a_look_and_leave_nothing_behind() {
    let world = world(HOURS).await;
    world.write(std::iter::once(START)).await;
    for n in 0..200 {
        let series = vec![SeriesId::new(&format!("absent {n}")).unwrap()];
        let page = world.engine.read(ReadRequest { series, ..world.request(10) }).await.unwrap();
        assert!(page.events.is_empty() && page.next.is_none() && page.partitions.is_empty());
        assert_eq!(page.cost.bytes_read, 0);
    }
}
