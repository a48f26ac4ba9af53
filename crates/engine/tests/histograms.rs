//! Sizes of partitions, slice by slice.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use engine::{Engine, EventInput, ItemInput, NamespaceSpec, Reason, Shape, WriteRequest};
use env::{BoxFuture, Env, ManualClock};
use model::{HistogramQuality, NamespaceName};
use store::MemoryStore;
use store::layer::{Call, Layer, Layered, Op, Outcome};

const START: i64 = 1_774_656_000;
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(86_400);

/// Lets retention drop slices just before a histogram is asked for.
#[derive(Clone, Default)]
struct DropFirst {
    engine: Arc<OnceLock<Engine>>,
}

impl Layer for DropFirst {
    async fn around<T: Outcome>(
        &self,
        call: Call,
        next: BoxFuture<'static, store::Result<T>>,
    ) -> store::Result<T> {
        if call.op == Op::Histogram
            && let Some(engine) = self.engine.get()
        {
            engine.drop_expired().await.unwrap();
        }
        next.await
    }
}

/// Two slices of an hour, with one and two partitions.
async fn world() -> (Engine, NamespaceName, ManualClock, DropFirst) {
    let clock = ManualClock::starting_at(START * 1_000_000_000);
    let env = Env { clock: Arc::new(clock.clone()), ..Env::system() };
    let (dropping, name) = (DropFirst::default(), NamespaceName::new("orders").unwrap());
    let store = Arc::new(Layered::new(Arc::new(MemoryStore::new()), dropping.clone()));
    let engine = Engine::open(store, env).await.unwrap();
    let shape = Shape { seconds_per_slice: 3_600, seconds_per_bucket: 600, buckets_per_id: 2 };
    let spec = NamespaceSpec {
        shape,
        accept_limit: Duration::ZERO,
        future_limit: Duration::ZERO,
        close_after: DAY,
        delete_after: DAY,
        ..NamespaceSpec::default()
    };
    engine.create_namespace(&name, spec).await.unwrap();
    let event = |series: &str, seconds: i64| EventInput {
        series: series.to_owned(),
        time: Some((START + seconds, 0)),
        event_id: "e".to_owned(),
        items: vec![ItemInput {
            key: "k".to_owned(),
            value: Bytes::from_static(&[7; 90]),
            ..ItemInput::default()
        }],
    };
    let events = vec![event("a", 0), event("a", 3_600), event("b", 3_600)];
    let written = engine.write_synced(WriteRequest { namespace: name.clone(), events }).await.unwrap();
    assert_eq!(written.accepted, 3);
    (engine, name, clock, dropping)
}

#[tokio::test]
async fn one_slice_or_all_of_them_oldest_first() {
    let (engine, name, _, _) = world().await;
    let all = engine.partition_histogram(&name, None, false).await.unwrap();
    let shown: Vec<_> = all.iter().map(|one| (one.table.as_str(), one.summary.partitions)).collect();
    assert_eq!(shown, [("data_20260328", 1), ("data_20260328_0100", 2)]);
    let first = &all[0];
    // Time, event id, item key and value.
    assert_eq!((first.summary.max, first.quality, first.source), (100, HistogramQuality::Exact, "scan"));
    assert_eq!((first.slice.start(), first.observed), (START * 1_000_000_000, START * 1_000_000_000));
    let one = engine.partition_histogram(&name, Some("data_20260328_0100"), true).await.unwrap();
    assert_eq!(one.len(), 1);
    assert_eq!(one[0].sizes.count(), 2);
    let unknown = engine.partition_histogram(&name, Some("data_20260329"), false).await.unwrap_err();
    assert_eq!(unknown.reason(), Reason::SliceNotFound);
}

#[tokio::test]
async fn a_slice_that_retention_drops_meanwhile_is_left_out() {
    let (engine, name, clock, dropping) = world().await;
    dropping.engine.set(engine.clone()).ok().unwrap();
    clock.advance(DAY + HOUR + HOUR / 2);
    // When they were looked up, both were there.
    assert_eq!(engine.list_slices(&name).unwrap().len(), 2);
    let left = engine.partition_histogram(&name, None, false).await.unwrap();
    let left: Vec<_> = left.into_iter().map(|one| one.table).collect();
    assert_eq!(left, ["data_20260328_0100"]);
    clock.advance(HOUR);
    let gone = engine.partition_histogram(&name, Some("data_20260328_0100"), false).await.unwrap_err();
    assert_eq!(gone.reason(), Reason::SliceNotFound);
}
