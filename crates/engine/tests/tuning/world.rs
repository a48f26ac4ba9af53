//! A namespace that lives through slices.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{
    Engine, EventInput, ItemInput, NamespaceSpec, Options, Shape, SliceInfo, TunePolicy, TuneSpec, Tuned,
    TuningStatus, WriteRequest,
};
use env::{Env, ManualClock};
use model::NamespaceName;
use store::{MemoryStore, Store};

/// Where a slice of a week starts: a Thursday.
pub(crate) const START: i64 = 1_774_483_200;
pub(crate) const DAY: u32 = 86_400;
pub(crate) const WEEK: u32 = 7 * DAY;
const NANOS: i64 = 1_000_000_000;
/// Events that one request takes.
const BATCH: usize = 500;

pub(crate) struct World {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) clock: ManualClock,
    pub(crate) engine: Engine,
    pub(crate) shape: Shape,
}

/// What a slice gets: series, events each, bytes of each.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) series: u32,
    pub(crate) events: u32,
    pub(crate) bytes: usize,
}

pub(crate) fn name() -> NamespaceName {
    NamespaceName::new("my_dataset_1").unwrap()
}

pub(crate) fn shape(slice: u32, bucket: u32, buckets: u16) -> Shape {
    Shape { seconds_per_slice: slice, seconds_per_bucket: bucket, buckets_per_id: buckets }
}

impl World {
    /// A server alone, at the start of a slice.
    pub(crate) async fn new(shape: Shape, tune: TuneSpec) -> Self {
        let store = Arc::new(MemoryStore::new());
        let clock = ManualClock::starting_at(START * NANOS);
        let engine = Engine::open(Arc::clone(&store) as Arc<dyn Store>, env(&clock)).await.unwrap();
        let spec = NamespaceSpec { shape, tune, future_limit: Duration::ZERO, ..NamespaceSpec::default() };
        engine.create_namespace(&name(), spec).await.unwrap();
        Self { store, clock, engine, shape }
    }

    /// The same with a policy and the usual density.
    pub(crate) async fn with_policy(shape: Shape, policy: TunePolicy) -> Self {
        Self::new(shape, TuneSpec { policy, ..TuneSpec::default() }).await
    }

    /// Another server over the same store.
    pub(crate) async fn another(&self) -> Engine {
        let store = Arc::clone(&self.store) as Arc<dyn Store>;
        Engine::open_with(store, env(&self.clock), Options::default()).await.unwrap()
    }

    /// Lives through so many slices and a little longer, so that the last is closed.
    pub(crate) async fn live(&self, slices: u32, load: Load) {
        for _ in 0..slices {
            self.write(load).await;
            self.clock.advance(Duration::from_secs(u64::from(self.shape.seconds_per_slice)));
            self.engine.refresh().await.unwrap();
        }
        self.close().await;
    }

    /// Writes the events of the present slice.
    pub(crate) async fn write(&self, load: Load) {
        let width = i64::from(self.shape.seconds_per_slice);
        let now = env::Clock::wall(&self.clock) / NANOS;
        let start = now - now % width;
        let step = width / i64::from(load.events);
        let mut events = Vec::new();
        for series in 0..load.series {
            for at in 0..load.events {
                let second = (start + i64::from(at) * step).max(now);
                let item = ItemInput {
                    key: "k".to_owned(),
                    value: Bytes::from(vec![7; load.bytes]),
                    ..ItemInput::default()
                };
                events.push(EventInput {
                    series: format!("s{series}"),
                    time: Some((second, 0)),
                    event_id: format!("e{at}"),
                    items: vec![item],
                });
            }
        }
        for batch in events.chunks(BATCH) {
            let request = WriteRequest { namespace: name(), events: batch.to_vec() };
            let written = self.engine.write_synced(request).await.unwrap();
            assert_eq!(written.accepted, batch.len(), "{:?}", written.refused.first());
        }
    }

    /// Past the accept limit, as the keeper does it.
    pub(crate) async fn close(&self) {
        self.clock.advance(Duration::from_secs(700));
        self.engine.refresh().await.unwrap();
        self.engine.close_time().await.unwrap();
    }

    /// The next look.
    pub(crate) async fn look(&self) -> TuningStatus {
        self.clock.advance(Duration::from_secs(3_600));
        self.engine.refresh().await.unwrap();
        self.engine.tune().await.unwrap();
        self.status().await
    }

    pub(crate) async fn status(&self) -> TuningStatus {
        self.engine.tuning_status(Some(&name())).await.unwrap().remove(0).of
    }

    pub(crate) async fn proposals(&self) -> Vec<Tuned> {
        let found = self.engine.list_proposals(Some(&name())).await.unwrap();
        found.into_iter().map(|found| found.of).collect()
    }

    pub(crate) fn slices(&self) -> Vec<SliceInfo> {
        self.engine.list_slices(&name()).unwrap()
    }

    /// The code of the present finding.
    pub(crate) async fn finding(&self) -> String {
        self.status().await.finding.map(|(code, _)| code).unwrap_or_default()
    }
}

pub(crate) fn env(clock: &ManualClock) -> Env {
    Env { clock: Arc::new(clock.clone()), ..Env::system() }
}
