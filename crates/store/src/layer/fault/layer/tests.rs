//! Each fault does what it says, and is counted.

use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use env::{Clock, ManualClock, SeededRandom, TokioSpawn};

use super::*;
use crate::layer::Layered;
use crate::{CasOutcome, MemoryStore, MetaChange, MetaKey, MetaRecord, MetaVersion, Storage, Store};

const SECOND: Duration = Duration::from_secs(1);

struct Stage {
    clock: ManualClock,
    faults: FaultLayer,
    inner: MemoryStore,
    store: Layered<FaultLayer>,
}

fn stage(plan: FaultPlan) -> Stage {
    let (clock, inner) = (ManualClock::default(), MemoryStore::new());
    let env = Env {
        clock: Arc::new(clock.clone()),
        random: Arc::new(SeededRandom::new(1)),
        spawn: Arc::new(TokioSpawn::current()),
    };
    let faults = FaultLayer::new(env, plan);
    let store = Layered::new(Arc::new(inner.clone()), faults.clone());
    Stage { clock, faults, inner, store }
}

fn key() -> MetaKey {
    MetaKey::new("group", "name")
}

impl Stage {
    async fn create(&self) -> Result<CasOutcome> {
        self.store.meta_cas(&key(), None, MetaChange::Put(Bytes::from_static(b"x"))).await
    }

    /// What the store under the faults holds, without settling anything.
    async fn held(&self) -> Option<MetaRecord> {
        self.inner.meta_get(&key()).await.unwrap()
    }

    /// Creates a record under one fault.
    async fn create_under(&self, fault: Fault) -> ErrorKind {
        self.faults.inject(Op::MetaCas, fault);
        let kind = self.create().await.unwrap_err().kind();
        assert_eq!(self.faults.happened(Op::MetaCas), 1);
        kind
    }
}

#[tokio::test]
async fn without_a_plan_nothing_happens() {
    let stage = stage(FaultPlan::default());
    stage.create().await.unwrap();
    assert!(stage.held().await.is_some());
    assert_eq!(stage.faults.happened(Op::MetaCas), 0);
}

#[tokio::test]
async fn a_refused_call_is_not_done_and_the_next_one_is() {
    let stage = stage(FaultPlan::default());
    assert_eq!(stage.create_under(Fault::Refuse).await, ErrorKind::Unavailable);
    assert_eq!(stage.held().await, None);
    stage.create().await.unwrap();
    assert_eq!(stage.faults.happened(Op::MetaCas), 1);
}

#[tokio::test]
async fn a_lost_answer_hides_what_was_done() {
    let stage = stage(FaultPlan::default());
    assert_eq!(stage.create_under(Fault::LoseAnswer).await, ErrorKind::Unknown);
    assert!(stage.held().await.is_some());
}

#[tokio::test]
async fn a_lost_call_is_never_done() {
    let stage = stage(FaultPlan::default());
    assert_eq!(stage.create_under(Fault::LoseCall).await, ErrorKind::Unknown);
    stage.faults.settle().await;
    assert_eq!(stage.held().await, None);
}

#[tokio::test]
async fn a_late_change_happens_by_itself_when_its_time_comes() {
    let stage = stage(FaultPlan::default());
    assert_eq!(stage.create_under(Fault::ApplyLate(SECOND)).await, ErrorKind::Unknown);
    tokio::task::yield_now().await;
    assert_eq!(stage.held().await, None);
    stage.clock.advance(SECOND);
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert!(stage.held().await.is_some());
}

#[tokio::test]
async fn a_late_change_of_metadata_happens_before_the_next_touch_and_once() {
    let stage = stage(FaultPlan::default());
    stage.create_under(Fault::ApplyLate(SECOND)).await;
    assert_eq!(stage.held().await, None);
    assert_eq!(stage.store.meta_get(&key()).await.unwrap().unwrap().version, MetaVersion(1));
    stage.clock.advance(SECOND);
    stage.faults.settle().await;
    assert_eq!(stage.held().await.unwrap().version, MetaVersion(1));
}

#[tokio::test]
async fn a_late_change_of_a_table_waits_for_its_time() {
    let stage = stage(FaultPlan::default().then(Op::CreateTable, Fault::ApplyLate(SECOND)));
    let table = "a.1.b".parse().unwrap();
    assert_eq!(
        stage.store.create_table(&table, &Storage::default()).await.unwrap_err().kind(),
        ErrorKind::Unknown
    );
    stage.store.meta_get(&key()).await.unwrap();
    assert_eq!(stage.store.list_tables().await.unwrap(), []);
    stage.faults.settle().await;
    assert_eq!(stage.store.list_tables().await.unwrap(), [table]);
}

#[tokio::test]
async fn a_delayed_call_answers_after_the_delay() {
    let stage = stage(FaultPlan::default().then(Op::MetaCas, Fault::Delay(SECOND)));
    let mut call = Box::pin(stage.create());
    assert!(futures::poll!(&mut call).is_pending());
    assert_eq!(stage.held().await, None);
    stage.clock.advance(SECOND);
    let Poll::Ready(outcome) = futures::poll!(&mut call) else {
        panic!("the delay is over at {:?}", stage.clock.boot());
    };
    assert_eq!(outcome.unwrap(), CasOutcome::Applied(MetaVersion(1)));
}

#[tokio::test]
async fn a_read_is_never_unknown() {
    for fault in [Fault::Refuse, Fault::LoseAnswer, Fault::LoseCall, Fault::ApplyLate(SECOND)] {
        let stage = stage(FaultPlan::default().then(Op::MetaGet, fault));
        let error = stage.store.meta_get(&key()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{fault:?}");
        assert_eq!(stage.faults.happened(Op::MetaGet), 1);
    }
}
