//! Servers over a cluster, and a partition that is wide.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{
    Engine, EventInput, ItemInput, Member, NamespaceSpec, Options, ReadMode, ReadPage, ReadRequest, ReadSpec,
    Shape, SplitLayout, SplitSpec, WriteRequest,
};
use env::{Random, SeededRandom};
use model::{Interval, NamespaceName, Order, PartitionKey, SeriesId, TableName, TableRef};
use sim::cluster::Link;
use sim::{Cluster, World};

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const NANOS: i64 = 1_000_000_000;
/// Events of the partition.
pub(crate) const EVENTS: u64 = 40;
/// About how large each is.
const EVENT_BYTES: usize = 3_000;
const BUCKET: u32 = 900;
/// Each scene is played with targets of either layout.
pub(crate) const LAYOUTS: [SplitLayout; 2] = [SplitLayout::Rows, SplitLayout::Packed];

pub(crate) fn name() -> NamespaceName {
    NamespaceName::new("orders").expect("legal")
}

fn spec(layout: SplitLayout) -> NamespaceSpec {
    let shape = Shape { seconds_per_slice: 3_600, seconds_per_bucket: BUCKET, buckets_per_id: 1 };
    let split =
        SplitSpec { threshold_bytes: 64 << 10, target_bytes: 64 << 10, layout, ..SplitSpec::default() };
    let read = ReadSpec { mode: ReadMode::On, ..ReadSpec::default() };
    NamespaceSpec { shape, split, read, accept_limit: 120 * SECOND, ..NamespaceSpec::default() }
}

/// A server that follows what others change.
pub(crate) async fn server(
    world: &World,
    cluster: &Cluster,
    address: &'static str,
    options: Options,
) -> (Engine, Link) {
    let (link, store) = cluster.link(address);
    let member = Member { address: address.to_owned(), ..Member::default() };
    let env = world.env(address);
    let engine = Engine::open_with(store, env.clone(), Options { member, ..options }).await.expect("opens");
    let (follows, clock) = (engine.clone(), Arc::clone(&env.clock));
    let follow = async move {
        loop {
            let _tried_again = follows.refresh().await;
            clock.sleep(SECOND).await;
        }
    };
    env.spawn.task("refresh", Box::pin(follow));
    (engine, link)
}

/// Writes an event of so many items; whether it was acknowledged.
pub(crate) async fn write(engine: &Engine, second: i64, id: String, items: usize) -> bool {
    let item = |number: usize| {
        // By chance: what packing could shrink would need fewer targets.
        let mut value = vec![0; EVENT_BYTES / items];
        let seed = id.bytes().fold(number as u64, |seed, byte| seed * 251 + u64::from(byte));
        SeededRandom::new(seed).fill(&mut value);
        ItemInput { key: format!("k{number}"), value: Bytes::from(value), ..ItemInput::default() }
    };
    let items = (0..items).map(item).collect();
    let event = EventInput { series: "s".to_owned(), time: Some((second, 0)), event_id: id, items };
    let answer = engine.write_synced(WriteRequest { namespace: name(), events: vec![event] }).await;
    answer.is_ok_and(|answer| answer.accepted == 1)
}

/// Asks for the first page of the series.
pub(crate) async fn read(engine: &Engine, page_records: usize) -> ReadPage {
    let request = ReadRequest {
        namespace: name(),
        series: vec![SeriesId::new("s").expect("legal")],
        interval: Interval::ALL,
        query: None,
        page_records,
        order: Order::NewestFirst,
        resume: None,
        total_limit: None,
        max_latency: None,
        deadline: None,
    };
    engine.read(request).await.expect("read")
}

/// The table of the targets of splits of this slice.
pub(crate) fn wide_table(table: &str) -> TableRef {
    let wide = TableName::new(&format!("wide_{table}_0")).expect("legal");
    TableRef { namespace: name(), incarnation: 1, name: wide }
}

/// A partition that is wide and closed: its table, and its events' second.
pub(crate) async fn wide(world: &World, engine: &Engine, layout: SplitLayout) -> (String, PartitionKey, i64) {
    wide_of(world, engine, layout, 1).await
}

/// The same of events with so many items.
pub(crate) async fn wide_of(
    world: &World,
    engine: &Engine,
    layout: SplitLayout,
    items: usize,
) -> (String, PartitionKey, i64) {
    engine.create_namespace(&name(), spec(layout)).await.expect("made");
    let clock = world.clock();
    let second = clock.wall() / NANOS;
    for number in 0..EVENTS {
        assert!(write(engine, second, format!("e{number}"), items).await, "an event of now");
    }
    clock.sleep(1_200 * SECOND).await;
    engine.close_time_of(&name(), i64::MAX).await.expect("closed");
    let slices = engine.list_slices(&name()).expect("there");
    let slice = slices.iter().find(|info| info.slice.start() <= second * NANOS).expect("the first one");
    let time_bucket = u32::try_from((second * NANOS - slice.slice.start()) / NANOS).expect("small") / BUCKET;
    let partition = PartitionKey { series: SeriesId::new("s").expect("legal"), time_bucket, event_bucket: 0 };
    (slice.table.clone(), partition, second)
}
