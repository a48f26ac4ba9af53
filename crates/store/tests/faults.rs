//! What a caller may rely on when answers are lost: after `Unknown` a read tells the truth, and a loop that obeys it
//! takes effect exactly once. Faults come from scripts and from seeds; no test waits.

use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use env::{Env, ManualClock, SeededRandom, TokioSpawn};
use futures::future::join_all;
use model::{Interval, Order, PartitionKey, Row, SeriesId, TableRef};
use store::conformance::row;
use store::layer::{Fault, FaultLayer, FaultPlan, Layered, Op};
use store::{
    CasOutcome, Consistency, Durability, Error, ErrorKind, MemoryStore, MetaChange, MetaKey, MetaRecord,
    PartitionBatch, Result, Scan, Storage, Store,
};

const SECOND: Duration = Duration::from_secs(1);
/// Attempts after which a loop that should converge has failed.
const ATTEMPTS_MAX: usize = 1_000;
/// Seeds of each storm.
const SEEDS: u64 = 40;

struct Stage {
    clock: ManualClock,
    faults: FaultLayer,
    inner: MemoryStore,
    store: Layered<FaultLayer>,
}

fn stage(seed: u64, plan: FaultPlan) -> Stage {
    let (clock, inner) = (ManualClock::default(), MemoryStore::new());
    let env = Env {
        clock: Arc::new(clock.clone()),
        random: Arc::new(SeededRandom::new(seed)),
        spawn: Arc::new(TokioSpawn::current()),
    };
    let faults = FaultLayer::new(env, plan);
    let store = Layered::new(Arc::new(inner.clone()), faults.clone());
    Stage { clock, faults, inner, store }
}

fn key() -> MetaKey {
    MetaKey::new("group", "journal")
}

fn lines(record: Option<&MetaRecord>) -> Vec<String> {
    let text = record.map(|record| String::from_utf8_lossy(&record.value).into_owned()).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Calls until an answer comes; for reads and for writes that may be sent again as they are.
async fn insist<T, F: Future<Output = Result<T>>>(mut call: impl FnMut() -> F) -> T {
    for _ in 0..ATTEMPTS_MAX {
        match call().await {
            Ok(answer) => return answer,
            Err(error) => assert!(error.is_retryable(), "{error}"),
        }
        tokio::task::yield_now().await;
    }
    panic!("no answer after {ATTEMPTS_MAX} attempts");
}

/// Appends a line to the journal exactly once: the line is its own nonce. Returns how often the outcome was unknown.
async fn append(store: &dyn Store, line: &str) -> usize {
    let mut unknown = 0;
    for _ in 0..ATTEMPTS_MAX {
        let current = insist(|| async { store.meta_get(&key()).await }).await;
        let mut journal = lines(current.as_ref());
        if journal.iter().any(|found| found == line) {
            return unknown;
        }
        journal.push(line.to_owned());
        // Others come between the read and the change.
        tokio::task::yield_now().await;
        let change = MetaChange::Put(Bytes::from(journal.join("\n")));
        match store.meta_cas(&key(), current.map(|record| record.version), change).await {
            Ok(CasOutcome::Applied(_)) => return unknown,
            Ok(CasOutcome::Conflict(_)) => {}
            Err(error) if error.kind() == ErrorKind::Unknown => unknown += 1,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}"),
        }
    }
    panic!("`{line}` was not appended after {ATTEMPTS_MAX} attempts");
}

async fn journal(stage: &Stage) -> Vec<String> {
    lines(stage.inner.meta_get(&key()).await.expect("the memory store answers").as_ref())
}

#[tokio::test]
async fn after_unknown_a_read_tells_the_truth() {
    let faults = [
        (Fault::LoseAnswer, true),
        (Fault::LoseCall, false),
        (Fault::ApplyLate(SECOND), true),
        (Fault::ApplyLate(Duration::ZERO), true),
    ];
    for (fault, done) in faults {
        let stage = stage(1, FaultPlan::default().then(Op::MetaCas, fault));
        let change = MetaChange::Put(Bytes::from_static(b"x"));
        let error = stage.store.meta_cas(&key(), None, change).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unknown, "{fault:?}");
        let read = stage.store.meta_get(&key()).await.unwrap();
        assert_eq!(read.is_some(), done, "{fault:?}");
        stage.clock.advance(10 * SECOND);
        stage.faults.settle().await;
        assert_eq!(
            stage.store.meta_get(&key()).await.unwrap(),
            read,
            "what was read stays true after {fault:?}"
        );
    }
}

#[tokio::test]
async fn a_loop_takes_effect_once_under_every_single_fault() {
    let faults = [
        Fault::Refuse,
        Fault::LoseAnswer,
        Fault::LoseCall,
        Fault::ApplyLate(SECOND),
        Fault::ApplyLate(Duration::ZERO),
    ];
    for fault in faults {
        let stage = stage(1, FaultPlan::default().then_pass(Op::MetaCas).then(Op::MetaCas, fault));
        append(&stage.store, "first").await;
        let unknown = append(&stage.store, "second").await;
        append(&stage.store, "third").await;
        stage.clock.advance(10 * SECOND);
        stage.faults.settle().await;
        assert_eq!(journal(&stage).await, ["first", "second", "third"], "{fault:?}");
        assert_eq!(stage.faults.happened(Op::MetaCas), 1);
        assert_eq!(unknown, usize::from(fault != Fault::Refuse), "{fault:?}");
    }
}

#[tokio::test]
async fn a_late_change_loses_against_the_one_that_came_before_it() {
    let stage = stage(1, FaultPlan::default());
    append(&stage.store, "first").await;
    let seen = stage.inner.meta_get(&key()).await.unwrap().unwrap();
    stage.faults.inject(Op::MetaCas, Fault::ApplyLate(SECOND));
    let late = MetaChange::Put(Bytes::from_static(b"late"));
    stage.store.meta_cas(&key(), Some(seen.version), late).await.unwrap_err();
    // Another process, which does not go through these faults, is faster.
    append(&stage.inner, "second").await;
    stage.clock.advance(SECOND);
    stage.faults.settle().await;
    assert_eq!(journal(&stage).await, ["first", "second"]);
}

/// Half of all changes and a fifth of all reads go wrong.
fn storm() -> FaultPlan {
    let mut plan = FaultPlan::default().with_chance(Op::MetaGet, 200, Fault::Refuse);
    for op in [Op::MetaCas, Op::Upsert] {
        plan = plan
            .with_chance(op, 100, Fault::Refuse)
            .with_chance(op, 100, Fault::LoseAnswer)
            .with_chance(op, 100, Fault::LoseCall)
            .with_chance(op, 100, Fault::ApplyLate(SECOND))
            .with_chance(op, 100, Fault::ApplyLate(Duration::ZERO));
    }
    plan
}

#[tokio::test]
async fn loops_of_many_callers_take_effect_once_in_a_storm() {
    let (mut unknown, mut faults) = (0, 0);
    for seed in 0..SEEDS {
        let stage = stage(seed, storm());
        let callers = (0..6).map(|caller| {
            let store = &stage.store;
            async move {
                let mut unknown = 0;
                for n in 0..5 {
                    unknown += append(store, &format!("{caller}/{n}")).await;
                }
                unknown
            }
        });
        unknown += join_all(callers).await.into_iter().sum::<usize>();
        stage.clock.advance(10 * SECOND);
        stage.faults.settle().await;
        let mut found = journal(&stage).await;
        found.sort();
        let expected: Vec<String> =
            (0..6).flat_map(|caller| (0..5).map(move |n| format!("{caller}/{n}"))).collect();
        assert_eq!(found, expected, "seed {seed}");
        faults += stage.faults.happened(Op::MetaCas);
    }
    assert!(unknown > 100 && faults > 100, "the storm was a breeze: {unknown} unknown, {faults} faults");
}

fn table() -> TableRef {
    "faults.1.t".parse().expect("table name")
}

fn partition() -> PartitionKey {
    PartitionKey { series: SeriesId::new("s").expect("series id"), time_bucket: 0, event_bucket: 0 }
}

async fn write(store: &dyn Store, rows: &[Row]) -> std::result::Result<(), Error> {
    let batch = PartitionBatch {
        table: table(),
        partition: partition(),
        rows: rows.to_vec(),
        consistency: Consistency::default(),
    };
    store.upsert(batch, Durability::Synced).await
}

async fn read(store: &dyn Store) -> Vec<Row> {
    let scan = Scan {
        table: table(),
        partition: partition(),
        order: Order::OldestFirst,
        interval: Interval::ALL,
        from: Bound::Unbounded,
        rows_max: 10_000,
        bytes_max: 1 << 20,
        consistency: Consistency::default(),
        hedge_after: None,
        ahead: false,
    };
    store.scan(scan).await.expect("scan").rows.to_vec()
}

#[tokio::test]
async fn writes_sent_again_until_acknowledged_are_there_once() {
    for seed in 0..SEEDS {
        let stage = stage(seed, storm());
        stage.inner.create_table(&table(), &Storage::default()).await.unwrap();
        let mut expected = Vec::new();
        for n in 0..30 {
            let rows = ["a", "b", "c"].map(|item| row(n, "event", item, "value"));
            insist(|| write(&stage.store, &rows)).await;
            expected.extend(rows);
            assert_eq!(read(&stage.inner).await, expected, "seed {seed}");
        }
        assert!(stage.faults.happened(Op::Upsert) > 5, "seed {seed}");
        stage.clock.advance(10 * SECOND);
        stage.faults.settle().await;
        assert_eq!(read(&stage.inner).await, expected, "late writes changed nothing; seed {seed}");
    }
}

#[tokio::test]
async fn a_late_write_loses_against_a_newer_one() {
    let stage = stage(1, FaultPlan::default().then(Op::Upsert, Fault::ApplyLate(SECOND)));
    stage.inner.create_table(&table(), &Storage::default()).await.unwrap();
    let (old, new) =
        (row(5, "event", "item", "z"), Row { write_time: 2_000, ..row(5, "event", "item", "a") });
    assert_eq!(write(&stage.store, &[old]).await.unwrap_err().kind(), ErrorKind::Unknown);
    write(&stage.store, std::slice::from_ref(&new)).await.unwrap();
    stage.faults.settle().await;
    assert_eq!(read(&stage.inner).await, [new]);
}
