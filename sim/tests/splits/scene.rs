//! Servers over a cluster, and a partition that is wide.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{Engine, EventInput, ItemInput, Member, NamespaceSpec, Options, Shape, SplitSpec, WriteRequest};
use model::{NamespaceName, PartitionKey, SeriesId};
use sim::cluster::Link;
use sim::{Cluster, World};

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const NANOS: i64 = 1_000_000_000;
/// Events of the partition.
pub(crate) const EVENTS: u64 = 40;
const BUCKET: u32 = 900;

pub(crate) fn name() -> NamespaceName {
    NamespaceName::new("orders").expect("legal")
}

fn spec() -> NamespaceSpec {
    let shape = Shape { seconds_per_slice: 3_600, seconds_per_bucket: BUCKET, buckets_per_id: 1 };
    let split = SplitSpec { threshold_bytes: 64 << 10, target_bytes: 64 << 10, ..SplitSpec::default() };
    NamespaceSpec { shape, split, accept_limit: 120 * SECOND, ..NamespaceSpec::default() }
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

/// Writes an event; whether it was acknowledged.
pub(crate) async fn write(engine: &Engine, second: i64, id: String) -> bool {
    let value = Bytes::from(vec![b'v'; 3_000]);
    let item = ItemInput { key: "k".to_owned(), value, ..ItemInput::default() };
    let event =
        EventInput { series: "s".to_owned(), time: Some((second, 0)), event_id: id, items: vec![item] };
    let answer = engine.write_synced(WriteRequest { namespace: name(), events: vec![event] }).await;
    answer.is_ok_and(|answer| answer.accepted == 1)
}

/// A partition that is wide and closed: its table, and its events' second.
pub(crate) async fn wide(world: &World, engine: &Engine) -> (String, PartitionKey, i64) {
    engine.create_namespace(&name(), spec()).await.expect("made");
    let clock = world.clock();
    let second = clock.wall() / NANOS;
    for number in 0..EVENTS {
        assert!(write(engine, second, format!("e{number}")).await, "an event of now");
    }
    clock.sleep(1_200 * SECOND).await;
    engine.close_time_of(&name(), i64::MAX).await.expect("closed");
    let slices = engine.list_slices(&name()).expect("there");
    let slice = slices.iter().find(|info| info.slice.start() <= second * NANOS).expect("the first one");
    let time_bucket = u32::try_from((second * NANOS - slice.slice.start()) / NANOS).expect("small") / BUCKET;
    let partition = PartitionKey { series: SeriesId::new("s").expect("legal"), time_bucket, event_bucket: 0 };
    (slice.table.clone(), partition, second)
}
