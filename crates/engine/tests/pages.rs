//! Random events, written through the engine and read in pages of every kind, against a plain sorted list.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{
    Engine, Event, EventFilter, EventInput, ItemInput, NamespaceSpec, ReadRequest, Resume, Shape,
    WriteRequest,
};
use env::{Env, ManualClock};
use model::{Interval, NamespaceName, Order, SeriesId};
use store::{MemoryStore, Store};

const START: i64 = 1_774_656_000;

/// What an event should come back as: (time, id) to (key to value).
type Reference = BTreeMap<(i64, String), BTreeMap<String, Bytes>>;

struct World {
    engine: Engine,
    store: Arc<dyn Store>,
    env: Env,
    name: NamespaceName,
    reference: BTreeMap<String, Reference>,
}

async fn world(random: &mut fastrand::Rng) -> World {
    let env = Env { clock: Arc::new(ManualClock::starting_at(START * 1_000_000_000)), ..Env::system() };
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let engine = Engine::open(Arc::clone(&store), env.clone()).await.unwrap();
    let name = NamespaceName::new("pages").unwrap();
    let seconds_per_bucket = *random.choice([60, 600, 3_600].iter()).unwrap();
    let shape = Shape { seconds_per_slice: 3_600, seconds_per_bucket, buckets_per_id: random.u16(1..6) };
    let spec = NamespaceSpec { shape, accept_limit: Duration::ZERO, ..NamespaceSpec::default() };
    engine.create_namespace(&name, spec).await.unwrap();
    World { engine, store, env, name, reference: BTreeMap::new() }
}

impl World {
    /// Writes some events; times cluster on a few moments and on bucket and slice edges.
    async fn write(&mut self, random: &mut fastrand::Rng) {
        let mut events = Vec::new();
        for _ in 0..random.usize(1..30) {
            let series = format!("s{}", random.u8(0..3));
            let edge = START - i64::from(random.u8(0..5)) * 1_800;
            let (seconds, nanos) =
                *random.choice([(edge, 0), (edge - 1, 999_999_999), (edge + 7, 5)].iter()).unwrap();
            let event_id = format!("e{}", random.u8(0..40));
            let mut items = BTreeMap::new();
            for _ in 0..random.u8(1..4) {
                items.insert(
                    format!("k{}", random.u8(0..4)),
                    Bytes::from(vec![random.u8(0..3); random.usize(0..20)]),
                );
            }
            let inputs = items.iter().map(|(key, value)| ItemInput {
                key: key.clone(),
                value: value.clone(),
                metadata: BTreeMap::new(),
            });
            events.push(EventInput {
                series: series.clone(),
                time: Some((seconds, nanos)),
                event_id: event_id.clone(),
                items: inputs.collect(),
            });
            let time = seconds * 1_000_000_000 + i64::from(nanos);
            let known = self.reference.entry(series).or_default().entry((time, event_id)).or_default();
            // Within one request, equal write times keep the greater value.
            for (key, value) in items {
                let kept = known.entry(key).or_insert_with(|| value.clone());
                if value > *kept {
                    *kept = value;
                }
            }
        }
        let count = events.len();
        let answer =
            self.engine.write_synced(WriteRequest { namespace: self.name.clone(), events }).await.unwrap();
        assert_eq!((answer.accepted, answer.refused.len()), (count, 0), "{answer:?}");
    }

    /// Reads everything that `request` asks for, page by page.
    async fn read_all(&self, mut request: ReadRequest, random: &mut fastrand::Rng) -> Vec<Event> {
        let mut events = Vec::new();
        for _ in 0..10_000 {
            request.page_records = random.usize(1..9);
            let page = self.engine.read(request.clone()).await.unwrap();
            assert!(page.events.len() <= request.page_records);
            events.extend(page.events);
            request.resume = page.next;
            if request.resume.is_none() {
                return events;
            }
        }
        panic!("the read does not end");
    }

    fn expected(&self, request: &ReadRequest) -> Vec<(i64, String, BTreeMap<String, Bytes>)> {
        let all = self.reference.get(request.series.as_str()).into_iter().flatten();
        let inside = all.filter(|((time, _), items)| {
            let matches = |filter: &EventFilter| {
                let key = std::str::from_utf8(&filter.key).unwrap();
                items.get(key) == Some(&filter.value)
            };
            (request.interval.start()..request.interval.end()).contains(time)
                && request.filters.iter().all(matches)
        });
        let mut events: Vec<_> =
            inside.map(|((time, id), items)| (*time, id.clone(), items.clone())).collect();
        if request.order == Order::NewestFirst {
            events.reverse();
        }
        events.truncate(usize::try_from(request.total_limit.unwrap_or(u64::MAX)).unwrap());
        events
    }
}

fn plain(event: Event) -> (i64, String, BTreeMap<String, Bytes>) {
    assert!(!event.continues);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let count = event.items.len();
    let items: BTreeMap<String, Bytes> =
        event.items.into_iter().map(|item| (text(&item.key), item.value)).collect();
    assert_eq!(items.len(), count, "an item came twice");
    (event.time.nanos(), text(event.event_id.as_bytes()), items)
}

fn any_request(world: &World, random: &mut fastrand::Rng) -> ReadRequest {
    let bound =
        |random: &mut fastrand::Rng| (START - random.i64(-4_000..10_000)) * 1_000_000_000 - random.i64(0..2);
    let (a, b) = (bound(random), bound(random));
    let filter = |random: &mut fastrand::Rng| EventFilter {
        key: Bytes::from(format!("k{}", random.u8(0..4))),
        value: Bytes::from(vec![random.u8(0..3); random.usize(0..20)]),
    };
    ReadRequest {
        namespace: world.name.clone(),
        series: SeriesId::new(&format!("s{}", random.u8(0..4))).unwrap(),
        interval: Interval::new(a.min(b), a.max(b)).unwrap(),
        filters: if random.u8(0..4) == 0 { vec![filter(random)] } else { Vec::new() },
        page_records: 1,
        order: if random.bool() { Order::NewestFirst } else { Order::OldestFirst },
        resume: None,
        total_limit: if random.bool() { None } else { Some(random.u64(1..50)) },
    }
}

#[tokio::test]
async fn the_union_of_the_pages_is_the_sorted_list() {
    for seed in 0..40 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut world = world(&mut random).await;
        for _ in 0..8 {
            world.write(&mut random).await;
        }
        for _ in 0..25 {
            let request = any_request(&world, &mut random);
            let expected = world.expected(&request);
            let read = world.read_all(request.clone(), &mut random).await;
            let read: Vec<_> = read.into_iter().map(plain).collect();
            assert_eq!(read, expected, "seed {seed}: {request:?}");
        }
    }
}

#[tokio::test]
async fn a_page_goes_on_after_a_restart() {
    let mut random = fastrand::Rng::with_seed(99);
    let mut world = world(&mut random).await;
    for _ in 0..6 {
        world.write(&mut random).await;
    }
    let mut request = any_request(&world, &mut random);
    request.interval = Interval::ALL;
    (request.filters, request.total_limit) = (Vec::new(), None);
    request.series = SeriesId::new("s1").unwrap();
    let expected = world.expected(&request);
    let (mut read, mut resume) = (Vec::new(), None::<Resume>);
    loop {
        let engine = Engine::open(Arc::clone(&world.store), world.env.clone()).await.unwrap();
        let page = engine.read(ReadRequest { resume, page_records: 3, ..request.clone() }).await.unwrap();
        read.extend(page.events.into_iter().map(plain));
        resume = page.next;
        if resume.is_none() {
            break;
        }
    }
    assert_eq!(read, expected);
    assert!(read.len() > 20);
}
