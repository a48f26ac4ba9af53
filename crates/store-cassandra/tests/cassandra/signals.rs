//! What the node says about itself, as metrics.

use std::sync::Arc;
use std::time::Duration;

use env::{BoxFuture, Clock, Env, ManualClock, Spawn, SystemClock, Work};
use futures::stream::{self, StreamExt};
use model::{PartitionKey, SeriesId};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use store::conformance::{Fixture, row};
use store_cassandra::CassandraStore;
use tokio::sync::Notify;

use crate::{node, shared};

/// Looks at the metrics, with a tenth of a second between.
const LOOKS_MAX: u32 = 300;
/// Above Cassandra's `tombstone_warn_threshold`.
const TOMBSTONES: u32 = 1_100;

async fn shown_once(registry: &Registry, line: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    for _ in 0..LOOKS_MAX {
        text.clear();
        encode(&mut text, registry).unwrap();
        if text.lines().any(&line) {
            return text;
        }
        SystemClock.sleep(Duration::from_millis(100)).await;
    }
    panic!("not shown:\n{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_and_warnings_are_shown_as_metrics() {
    let store = shared::connect().await;
    let fixture = Fixture::new(Arc::new(store.clone()));
    let table = fixture.made(1).await;
    let at = PartitionKey { series: SeriesId::new("s").unwrap(), time_bucket: 0, event_bucket: 0 };
    fixture.write(&table, &at, &[row(5, "e", "i", "v")]).await;
    // Rows that somebody deletes by hand: Braid never does.
    let session = node::session().await;
    let text = format!(
        "DELETE FROM {}.{} WHERE time_series_id = 's' AND time_bucket = 0 AND event_bucket = 0 AND event_time = ? \
         AND event_id = 'e' AND event_item_key = 'i'",
        node::keyspace(&table),
        table.name.as_str()
    );
    let delete = session.prepare(text).await.unwrap();
    let deletes = (0..TOMBSTONES).map(|at| session.execute_unpaged(&delete, (i64::from(at) + 100,)));
    stream::iter(deletes).buffer_unordered(32).for_each(async |done| drop(done.unwrap())).await;

    let mut registry = Registry::default();
    store.register_metrics(&mut registry);
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    for kind in ["tombstones", "large_partition", "other"] {
        assert!(text.contains(&format!("braid_cassandra_warnings_total{{kind=\"{kind}\"}} 0\n")), "{text}");
    }
    assert_eq!(fixture.read(&table, &at).await.len(), 1);
    shown_once(&registry, |line| line.starts_with("braid_cassandra_warnings_total{kind=\"tombstones\"} 1"))
        .await;
    let text = shown_once(&registry, |line| {
        line.starts_with("braid_cassandra_pending_reads{node=\"127.0.0.1:9042\"} ")
    })
    .await;
    assert!(text.contains("braid_cassandra_tombstones_per_read{node=\"127.0.0.1:9042\"} "), "{text}");
}

/// Tells the end of a task.
struct Telling {
    inner: Arc<dyn Spawn>,
    ended: Arc<Notify>,
}

impl Spawn for Telling {
    fn task(&self, name: &'static str, task: BoxFuture<'static, ()>) {
        let ended = Arc::clone(&self.ended);
        let told = async move {
            task.await;
            ended.notify_one();
        };
        self.inner.task(name, Box::pin(told));
    }

    fn pooled(&self, work: Work) {
        self.inner.pooled(work);
    }

    fn thread(&self, name: &'static str, work: Work) -> std::io::Result<()> {
        self.inner.thread(name, work)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_asks_the_nodes_when_the_store_is_gone() {
    // Its clock stands still, so the next round never comes: only the end of the store ends the task.
    let (system, clock, ended) = (Env::system(), ManualClock::default(), Arc::new(Notify::new()));
    let spawn = Arc::new(Telling { inner: system.spawn, ended: Arc::clone(&ended) });
    let env = Env { clock: Arc::new(clock.clone()), spawn, random: system.random };
    let store = CassandraStore::connect(&node::options().await, env).await.unwrap();
    let mut registry = Registry::default();
    store.register_metrics(&mut registry);
    shown_once(&registry, |line| line.starts_with("braid_cassandra_tombstones_per_read{")).await;
    clock.sleepers(1).await;
    drop(store);
    tokio::select! {
        () = ended.notified() => {}
        () = SystemClock.sleep(Duration::from_secs(30)) => panic!("it still waits for the next round"),
    }
}
