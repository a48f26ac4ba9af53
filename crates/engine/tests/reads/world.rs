//! Random events in a store that takes its time, and a plain sorted list of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{
    Engine, Event, EventInput, ItemInput, Limit, NamespaceSpec, ReadRequest, SearchQuery, Shape, WriteRequest,
};
use env::{BoxFuture, Env, ManualClock};
use model::{Interval, NamespaceName, Order, SeriesId};
use store::layer::{Call, Layer, Layered, Op, Outcome};
use store::{MemoryStore, Store};

pub(crate) const START: i64 = 1_774_656_000;

/// What an event should come back as: (time, id) to (key to value).
type Reference = BTreeMap<(i64, String), BTreeMap<String, Bytes>>;

/// A store in which every scan takes a millisecond.
struct Slow(Arc<ManualClock>);

impl Layer for Slow {
    async fn around<T: Outcome>(
        &self,
        call: Call,
        next: BoxFuture<'static, store::Result<T>>,
    ) -> store::Result<T> {
        if call.op == Op::Scan {
            self.0.advance(Duration::from_millis(1));
        }
        next.await
    }
}

pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) env: Env,
    pub(crate) name: NamespaceName,
    reference: BTreeMap<String, Reference>,
}

pub(crate) async fn world(random: &mut fastrand::Rng) -> World {
    let clock = Arc::new(ManualClock::starting_at(START * 1_000_000_000));
    let env = Env { clock: Arc::<ManualClock>::clone(&clock), ..Env::system() };
    let store: Arc<dyn Store> = Arc::new(Layered::new(Arc::new(MemoryStore::new()), Slow(clock)));
    let engine = Engine::open(Arc::clone(&store), env.clone()).await.unwrap();
    let name = NamespaceName::new("pages").unwrap();
    let seconds_per_bucket = *random.choice([60, 600, 3_600].iter()).unwrap();
    let shape = Shape { seconds_per_slice: 3_600, seconds_per_bucket, buckets_per_id: random.u16(1..6) };
    let (accept_limit, read_max) = (Duration::ZERO, Duration::from_secs(3_600));
    let spec = NamespaceSpec { shape, accept_limit, read_max, ..NamespaceSpec::default() };
    engine.create_namespace(&name, spec).await.unwrap();
    World { engine, store, env, name, reference: BTreeMap::new() }
}

impl World {
    /// Writes some events; times cluster on a few moments and on bucket and slice edges.
    pub(crate) async fn write(&mut self, random: &mut fastrand::Rng) {
        let mut events = Vec::new();
        for _ in 0..random.usize(1..30) {
            let series = format!("s{}", random.u8(0..3));
            let edge = START - i64::from(random.u8(0..5)) * 1_800;
            let (seconds, nanos) =
                *random.choice([(edge, 0), (edge - 1, 999_999_999), (edge + 7, 5)].iter()).unwrap();
            let event_id = format!("e{}", random.u8(0..40));
            let mut items = BTreeMap::new();
            for _ in 0..random.u8(1..4) {
                items.insert(format!("k{}", random.u8(0..4)), any_value(random));
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
    pub(crate) async fn read_all(&self, mut request: ReadRequest, random: &mut fastrand::Rng) -> Vec<Event> {
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

    pub(crate) fn expected(&self, request: &ReadRequest) -> Vec<Found> {
        let mut events = Vec::new();
        for (series, known) in &self.reference {
            let named = request.series.iter().any(|asked| asked.as_str() == series);
            for ((time, id), items) in known.iter().filter(|_| named || request.series.is_empty()) {
                let inside = (request.interval.start()..request.interval.end()).contains(time);
                if inside && request.query.as_ref().is_none_or(|query| matches(query, items)) {
                    events.push((*time, id.clone(), series.clone(), items.clone()));
                }
            }
        }
        events.sort();
        if request.order == Order::NewestFirst {
            events.reverse();
        }
        events.truncate(usize::try_from(request.total_limit.unwrap_or(u64::MAX)).unwrap());
        events
    }
}

/// Bytes, or a number in one of the ways to write it.
fn any_value(random: &mut fastrand::Rng) -> Bytes {
    match random.u8(0..4) {
        0 => random.i32(-40..40).to_string().into(),
        1 => format!("{}e-1", random.i32(-40..40)).into(),
        _ => Bytes::from(vec![random.u8(0..3); random.usize(0..20)]),
    }
}

/// An event as the reference knows it, in the one total order.
pub(crate) type Found = (i64, String, String, BTreeMap<String, Bytes>);

/// The plainest meaning of a query: every value is looked at for every term.
fn matches(query: &SearchQuery, items: &BTreeMap<String, Bytes>) -> bool {
    match query {
        SearchQuery::And(parts) => parts.iter().all(|part| matches(part, items)),
        SearchQuery::Or(parts) => parts.iter().any(|part| matches(part, items)),
        SearchQuery::Not(parts) => parts.iter().all(|part| !matches(part, items)),
        SearchQuery::Equals { key, value } => items.get(key) == Some(value),
        SearchQuery::Exists { key } => items.contains_key(key),
        SearchQuery::Prefix { key, value } => items.get(key).is_some_and(|found| found.starts_with(value)),
        // The limits are no numbers.
        SearchQuery::Range { key, lower, upper } => items.get(key).is_some_and(|found| {
            let above = |limit: &Limit| *found > limit.value || (limit.inclusive && *found == limit.value);
            let below = |limit: &Limit| *found < limit.value || (limit.inclusive && *found == limit.value);
            lower.as_ref().is_none_or(above) && upper.as_ref().is_none_or(below)
        }),
    }
}

fn any_query(random: &mut fastrand::Rng, depth: u8) -> SearchQuery {
    let key = format!("k{}", random.u8(0..4));
    let value = |random: &mut fastrand::Rng| Bytes::from(vec![random.u8(0..3); random.usize(0..20)]);
    let kind = random.u8(if depth == 0 { 3..7 } else { 0..7 });
    let limit = |random: &mut fastrand::Rng| {
        random.bool().then(|| Limit { value: value(random), inclusive: random.bool() })
    };
    if kind < 3 {
        let parts: Vec<_> = (0..random.usize(1..4)).map(|_| any_query(random, depth - 1)).collect();
        return match kind {
            0 => SearchQuery::And(parts),
            1 => SearchQuery::Or(parts),
            _ => SearchQuery::Not(parts),
        };
    }
    match kind {
        3 => SearchQuery::Equals { key, value: value(random) },
        4 => SearchQuery::Exists { key },
        5 => SearchQuery::Prefix { key, value: Bytes::from(vec![random.u8(0..3); random.usize(0..3)]) },
        _ => SearchQuery::Range { key, lower: limit(random), upper: limit(random) },
    }
}

pub(crate) fn plain(event: Event) -> Found {
    assert!(!event.continues);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let count = event.item_count();
    let items: BTreeMap<String, Bytes> =
        event.items().map(|item| (text(item.key), Bytes::copy_from_slice(item.value))).collect();
    assert_eq!(items.len(), count, "an item came twice");
    (event.time.nanos(), text(event.event_id()), event.series.as_str().to_owned(), items)
}

pub(crate) fn any_request(world: &World, random: &mut fastrand::Rng) -> ReadRequest {
    let bound =
        |random: &mut fastrand::Rng| (START - random.i64(-4_000..10_000)) * 1_000_000_000 - random.i64(0..2);
    let (a, b) = (bound(random), bound(random));
    let mut series: Vec<u8> = (0..5).collect();
    random.shuffle(&mut series);
    series.truncate(if random.bool() { 1 } else { random.usize(1..5) });
    ReadRequest {
        namespace: world.name.clone(),
        series: series.iter().map(|at| SeriesId::new(&format!("s{at}")).unwrap()).collect(),
        interval: Interval::new(a.min(b), a.max(b)).unwrap(),
        query: if random.u8(0..3) == 0 { Some(any_query(random, 3)) } else { None },
        page_records: 1,
        order: if random.bool() { Order::NewestFirst } else { Order::OldestFirst },
        resume: None,
        total_limit: if random.bool() { None } else { Some(random.u64(1..50)) },
        max_latency: None,
        deadline: None,
    }
}
