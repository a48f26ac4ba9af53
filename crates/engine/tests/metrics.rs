//! Metrics: the published names, what they count, and that no client can grow their labels.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{Engine, EventInput, ItemInput, NamespaceSpec, ReadRequest, WriteRequest};
use env::{Env, ManualClock};
use model::{Interval, NamespaceName, Order, SeriesId};
use prometheus_client::registry::Registry;
use store::layer::{Fault, FaultLayer, FaultPlan, Layered, Op};
use store::{MemoryStore, Store};

const START: i64 = 1_774_656_000;

struct World {
    engine: Engine,
    clock: ManualClock,
    faults: FaultLayer,
    registry: Registry,
}

async fn world() -> World {
    let clock = ManualClock::starting_at(START * 1_000_000_000);
    let env = Env { clock: Arc::new(clock.clone()), ..Env::system() };
    let faults = FaultLayer::new(env.clone(), FaultPlan::default());
    let store: Arc<dyn Store> = Arc::new(Layered::new(Arc::new(MemoryStore::new()), faults.clone()));
    let engine = Engine::open(store, env).await.unwrap();
    let mut registry = Registry::default();
    engine.register_metrics(&mut registry);
    World { engine, clock, faults, registry }
}

fn name(name: &str) -> NamespaceName {
    NamespaceName::new(name).unwrap()
}

fn event(seconds: i64) -> EventInput {
    let item = ItemInput { key: "k".to_owned(), value: Bytes::from_static(b"12345"), ..ItemInput::default() };
    EventInput {
        series: "s".to_owned(),
        time: Some((seconds, 0)),
        event_id: "e".to_owned(),
        items: vec![item],
    }
}

impl World {
    async fn create(&self, namespace: &str) {
        self.engine.create_namespace(&name(namespace), NamespaceSpec::default()).await.unwrap();
    }

    fn events(namespace: &str, seconds: &[i64]) -> WriteRequest {
        WriteRequest { namespace: name(namespace), events: seconds.iter().copied().map(event).collect() }
    }

    async fn read(&self, namespace: &str, page_records: usize) {
        let request = ReadRequest {
            namespace: name(namespace),
            series: vec![SeriesId::new("s").unwrap()],
            interval: Interval::ALL,
            query: None,
            max_latency: None,
            deadline: None,
            page_records,
            order: Order::NewestFirst,
            resume: None,
            total_limit: None,
        };
        let _counted = self.engine.read(request).await;
    }

    fn text(&self) -> String {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry).unwrap();
        text
    }

    #[track_caller]
    fn shows(&self, lines: &[&str]) {
        let text = self.text();
        for line in lines {
            assert!(text.lines().any(|found| found == *line), "`{line}` is not in\n{text}");
        }
    }
}

#[tokio::test]
async fn reads_and_writes_show_under_the_published_names() {
    let world = world().await;
    world.create("orders").await;
    let written = world.engine.write_synced(World::events("orders", &[START, START, START - 900])).await;
    assert_eq!(written.unwrap().accepted, 2);
    world.engine.write_queued(World::events("orders", &[START])).await.unwrap();
    world.read("orders", 10).await;
    world.read("orders", 0).await;
    world.shows(&[
        r#"braid_writes_total{namespace="orders",mode="synced",outcome="ok"} 2"#,
        r#"braid_writes_total{namespace="orders",mode="synced",outcome="event_too_old"} 1"#,
        r#"braid_writes_total{namespace="orders",mode="queued",outcome="ok"} 1"#,
        r#"braid_write_duration_seconds_count{namespace="orders",mode="synced"} 1"#,
        r#"braid_write_duration_seconds_count{namespace="orders",mode="queued"} 1"#,
        r#"braid_reads_total{namespace="orders",route="origin",outcome="ok"} 1"#,
        r#"braid_reads_total{namespace="orders",route="origin",outcome="field_invalid"} 1"#,
        r#"braid_read_duration_seconds_count{namespace="orders",route="origin"} 2"#,
        // Time, event id, item key and value.
        r#"braid_read_bytes_sum{namespace="orders"} 15.0"#,
        r#"braid_read_bytes_count{namespace="orders"} 1"#,
        r#"braid_write_queue_dropped_total{reason="store"} 0"#,
    ]);
}

#[tokio::test]
async fn durations_are_seconds_on_the_boot_clock() {
    let world = world().await;
    world.create("orders").await;
    world.faults.inject(Op::Upsert, Fault::Delay(Duration::from_millis(2_500)));
    let write = world.engine.write_synced(World::events("orders", &[START]));
    let time_passes = async {
        world.clock.sleepers(1).await;
        world.clock.advance(Duration::from_millis(2_500));
    };
    tokio::join!(write, time_passes).0.unwrap();
    world.shows(&[r#"braid_write_duration_seconds_sum{namespace="orders",mode="synced"} 2.5"#]);
}

#[tokio::test]
async fn a_failed_request_counts_all_its_events() {
    let world = world().await;
    world.create("orders").await;
    world.faults.inject(Op::Upsert, Fault::LoseAnswer);
    let failed = world.engine.write_synced(World::events("orders", &[START, START])).await;
    assert!(failed.is_err());
    world.shows(&[r#"braid_writes_total{namespace="orders",mode="synced",outcome="backend_timeout"} 2"#]);
}

#[tokio::test]
async fn rows_lost_from_the_queue_show_with_their_reason() {
    let world = world().await;
    for namespace in ["orders", "gone"] {
        world.create(namespace).await;
        world.engine.write_queued(World::events(namespace, &[START - 590])).await.unwrap();
    }
    world.engine.delete_namespace(&name("gone"), None).await.unwrap();
    world.clock.advance(Duration::from_secs(11));
    world.engine.flush_queue().await;
    (0..5).for_each(|_| world.faults.inject(Op::Upsert, Fault::Refuse));
    world.engine.write_queued(World::events("orders", &[START])).await.unwrap();
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
    world.shows(&[
        r#"braid_write_queue_dropped_total{reason="store"} 1"#,
        r#"braid_write_queue_dropped_total{reason="too_old"} 1"#,
        r#"braid_write_queue_dropped_total{reason="namespace_deleted"} 1"#,
    ]);
}

#[tokio::test]
async fn a_namespace_that_does_not_exist_is_no_label() {
    let world = world().await;
    for number in 0..50 {
        world.read(&format!("none_{number}"), 10).await;
    }
    let missing = world.engine.write_synced(World::events("none", &[START])).await;
    assert!(missing.is_err());
    world.shows(&[
        r#"braid_reads_total{namespace="other",route="origin",outcome="namespace_not_found"} 50"#,
        r#"braid_writes_total{namespace="other",mode="synced",outcome="namespace_not_found"} 1"#,
    ]);
    assert!(!world.text().contains("none"), "{}", world.text());
}

#[tokio::test]
async fn a_deleted_namespace_is_no_label_any_more() {
    let world = world().await;
    world.create("orders").await;
    let two = World::events("orders", &[START, START - 900]);
    world.engine.write_synced(two.clone()).await.unwrap();
    world.engine.write_queued(two).await.unwrap();
    world.read("orders", 10).await;
    world.read("orders", 0).await;
    world.engine.delete_namespace(&name("orders"), None).await.unwrap();
    assert!(!world.text().contains("orders"), "{}", world.text());
    world.read("orders", 10).await;
    assert!(!world.text().contains("orders"), "{}", world.text());
    world.create("orders").await;
    world.read("orders", 10).await;
    world.shows(&[r#"braid_reads_total{namespace="orders",route="origin",outcome="ok"} 1"#]);
}

#[tokio::test]
async fn labels_are_limited_and_the_rest_is_other() {
    let world = world().await;
    // One that is really called so shares the label instead of doubling it.
    world.create("other").await;
    world.read("other", 10).await;
    for number in 0..203 {
        let namespace = format!("n{number}");
        world.create(&namespace).await;
        world.read(&namespace, 10).await;
    }
    let text = world.text();
    let reads: Vec<&str> = text.lines().filter(|line| line.starts_with("braid_reads_total")).collect();
    assert_eq!(reads.len(), 201);
    world.shows(&[
        r#"braid_reads_total{namespace="n199",route="origin",outcome="ok"} 1"#,
        r#"braid_reads_total{namespace="other",route="origin",outcome="ok"} 4"#,
    ]);
}
