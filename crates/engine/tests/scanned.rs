//! Bytes scanned: each page says how much of every partition was read so far, over all pages, and never too much.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{
    Engine, EventInput, ItemInput, NamespaceSpec, ReadPage, ReadRequest, SearchQuery, Shape, WriteRequest,
};
use env::{Env, ManualClock};
use model::{Interval, NamespaceName, Order, PartitionKey, SeriesId, TableName, TableRef};
use store::{Consistency, MemoryStore, Scan, Store};

const START: i64 = 1_774_656_000;

/// Slice start, time bucket, event bucket.
type Place = (i64, u32, u32);

struct World {
    engine: Engine,
    store: Arc<dyn Store>,
    name: NamespaceName,
    buckets_per_id: u16,
}

/// A namespace with slices of an hour, cut into two time buckets and so many event buckets.
async fn world(buckets_per_id: u16) -> World {
    let env = Env { clock: Arc::new(ManualClock::starting_at(START * 1_000_000_000)), ..Env::system() };
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let engine = Engine::open(Arc::clone(&store), env).await.unwrap();
    let name = NamespaceName::new("scanned").unwrap();
    let shape = Shape { seconds_per_slice: 3_600, seconds_per_bucket: 1_800, buckets_per_id };
    let spec = NamespaceSpec { shape, accept_limit: Duration::ZERO, ..NamespaceSpec::default() };
    engine.create_namespace(&name, spec).await.unwrap();
    World { engine, store, name, buckets_per_id }
}

fn event(seconds: i64, event_id: String, values: Vec<usize>) -> EventInput {
    let item = |(key, bytes)| ItemInput {
        key: format!("k{key}"),
        value: Bytes::from(vec![7; bytes]),
        ..ItemInput::default()
    };
    let items = values.into_iter().enumerate().map(item).collect();
    EventInput { series: "s".to_owned(), time: Some((seconds, 0)), event_id, items }
}

impl World {
    async fn write(&self, events: Vec<EventInput>) {
        let count = events.len();
        let request = WriteRequest { namespace: self.name.clone(), events };
        assert_eq!(self.engine.write_synced(request).await.unwrap().accepted, count);
    }

    fn request(&self, order: Order) -> ReadRequest {
        ReadRequest {
            namespace: self.name.clone(),
            series: vec![SeriesId::new("s").unwrap()],
            interval: Interval::ALL,
            query: None,
            max_latency: None,
            deadline: None,
            page_records: 100,
            order,
            resume: None,
            total_limit: None,
        }
    }

    /// What the partitions really hold.
    async fn sizes(&self) -> BTreeMap<Place, u64> {
        let mut sizes = BTreeMap::new();
        for info in self.engine.list_slices(&self.name).unwrap() {
            for (time_bucket, event_bucket) in
                (0..2).flat_map(|time| (0..u32::from(self.buckets_per_id)).map(move |event| (time, event)))
            {
                let bytes = self.size(TableName::new(&info.table).unwrap(), time_bucket, event_bucket).await;
                sizes.insert((info.slice.start(), time_bucket, event_bucket), bytes);
            }
        }
        sizes.retain(|_, bytes| *bytes > 0);
        sizes
    }

    async fn size(&self, table: TableName, time_bucket: u32, event_bucket: u32) -> u64 {
        let series = SeriesId::new("s").unwrap();
        let mut scan = Scan {
            table: TableRef { namespace: self.name.clone(), incarnation: 1, name: table },
            partition: PartitionKey { series, time_bucket, event_bucket },
            order: Order::OldestFirst,
            interval: Interval::ALL,
            from: Bound::Unbounded,
            rows_max: 1_000,
            bytes_max: 1 << 20,
            consistency: Consistency::default(),
            hedge_after: None,
            ahead: false,
        };
        let mut bytes = 0;
        loop {
            let page = self.store.scan(scan.clone()).await.unwrap();
            bytes += page.bytes;
            if !page.more {
                return bytes;
            }
            scan.from = Bound::Excluded(page.rows.last().unwrap().key);
        }
    }

    /// Reads all pages; gives back the most that was said of each partition. No page may say more than there is.
    async fn read_all(&self, mut request: ReadRequest, sizes: &BTreeMap<Place, u64>) -> BTreeMap<Place, u64> {
        let mut said = BTreeMap::new();
        loop {
            let page = self.engine.read(request.clone()).await.unwrap();
            for (place, bytes) in places(&page) {
                assert!(bytes <= sizes[&place], "{place:?}: {bytes} of {}, {request:?}", sizes[&place]);
                let most: &mut u64 = said.entry(place).or_default();
                *most = bytes.max(*most);
            }
            request.resume = page.next;
            if request.resume.is_none() {
                return said;
            }
        }
    }
}

fn places(page: &ReadPage) -> Vec<(Place, u64)> {
    let place =
        |part: &engine::PartitionBytes| ((part.slice_start, part.time_bucket, part.event_bucket), part.bytes);
    page.partitions.iter().map(place).collect()
}

#[tokio::test]
async fn the_pages_together_have_read_every_partition_once() {
    for seed in 0..30 {
        let mut random = fastrand::Rng::with_seed(seed);
        let world = world(random.u16(1..6)).await;
        let mut events = Vec::new();
        for number in 0..random.usize(1..150) {
            let values = (0..random.usize(1..5)).map(|_| random.usize(0..50)).collect();
            let seconds = START - i64::from(random.u16(0..5)) * 1_700;
            events.push(event(seconds, format!("e{number}"), values));
        }
        world.write(events).await;
        let sizes = world.sizes().await;
        for order in [Order::NewestFirst, Order::OldestFirst] {
            // A filter that drops nearly everything, and none.
            let query = SearchQuery::Equals { key: "k1".to_owned(), value: Bytes::from_static(b"\x07") };
            for query in [Some(query), None] {
                let request =
                    ReadRequest { page_records: random.usize(1..20), query, ..world.request(order) };
                let said = world.read_all(request, &sizes).await;
                assert_eq!(said, sizes, "seed {seed}");
            }
        }
    }
}

#[tokio::test]
async fn events_that_are_cut_or_put_off_count_once() {
    let world = world(2).await;
    let big = 1_000_000;
    // Two that do not fit on one page, and one that is larger than a page.
    world.write(vec![event(START, "a".to_owned(), vec![big, big])]).await;
    world.write(vec![event(START, "b".to_owned(), vec![big, big])]).await;
    for part in 0..3 {
        let mut parts = event(START + 1, "c".to_owned(), vec![big; 3]);
        parts.items.iter_mut().for_each(|item| item.key.push_str(&part.to_string()));
        world.write(vec![parts]).await;
    }
    world.write(vec![event(START + 2, "d".to_owned(), vec![big, 5])]).await;
    let sizes = world.sizes().await;
    for order in [Order::NewestFirst, Order::OldestFirst] {
        assert_eq!(world.read_all(world.request(order), &sizes).await, sizes);
    }
}

#[tokio::test]
async fn paging_through_a_wide_partition_is_noticed() {
    let world = world(1).await;
    for thousand in 0..4 {
        let events = (0..1_000).map(|number| event(START, format!("e{thousand}_{number}"), vec![1_000]));
        world.write(events.collect()).await;
    }
    let mut request = world.request(Order::NewestFirst);
    let mut largest = 0;
    loop {
        let page = world.engine.read(request.clone()).await.unwrap();
        assert!(page.cost.bytes_read < 300_000, "each page is small: {:?}", page.cost);
        largest = page.partitions.iter().map(|partition| partition.bytes).max().unwrap_or(0).max(largest);
        request.resume = page.next;
        if request.resume.is_none() {
            break;
        }
    }
    assert!(largest > 4_000_000, "{largest}");
}

#[tokio::test]
async fn totals_of_another_number_of_buckets_are_ignored() {
    let world = world(2).await;
    world.write((0..20).map(|number| event(START, format!("e{number}"), vec![10])).collect()).await;
    let request = ReadRequest { page_records: 5, ..world.request(Order::OldestFirst) };
    let first = world.engine.read(request.clone()).await.unwrap();
    let mut resume = first.next.unwrap();
    assert_eq!(resume.scanned_bytes.len(), 2);
    let sizes = world.sizes().await;
    let second = |resume| world.engine.read(ReadRequest { resume: Some(resume), ..request.clone() });
    let going_on = second(resume.clone()).await.unwrap();
    resume.scanned_bytes = vec![1 << 40; 3];
    let anew = second(resume.clone()).await.unwrap();
    assert_eq!(anew.events, going_on.events);
    assert!(places(&anew).iter().all(|(place, bytes)| *bytes < sizes[place]), "{:?}", anew.partitions);
    // Where they fit they count, also if they were of another time: a hint, not a proof.
    resume.scanned_bytes = vec![1 << 40; 2];
    let counted = second(resume).await.unwrap();
    assert!(places(&counted).iter().all(|(_, bytes)| *bytes >= 1 << 40), "{:?}", counted.partitions);
}
