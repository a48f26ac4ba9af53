//! Blocked ids: refused at once, kept across restarts, known to every server of the store, and whole whatever fails.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{
    Engine, EventInput, ItemInput, NamespaceSpec, NewBlock, Options, ReadRequest, Reason, Result,
    WriteRequest,
};
use env::{Env, ManualClock};
use model::{Interval, NamespaceName, Order, SeriesId};
use prometheus_client::registry::Registry;
use store::layer::{Fault, FaultLayer, FaultPlan, Layered, Op};
use store::{MemoryStore, Store};

const START: i64 = 1_774_656_000;

struct World {
    engine: Engine,
    store: Arc<dyn Store>,
    faults: FaultLayer,
    env: Env,
    clock: ManualClock,
}

async fn world() -> World {
    let clock = ManualClock::starting_at(START * 1_000_000_000);
    let env = Env { clock: Arc::new(clock.clone()), ..Env::system() };
    let faults = FaultLayer::new(env.clone(), FaultPlan::default());
    let store: Arc<dyn Store> = Arc::new(Layered::new(Arc::new(MemoryStore::new()), faults.clone()));
    let engine = Engine::open(Arc::clone(&store), env.clone()).await.unwrap();
    engine.create_namespace(&name(), NamespaceSpec::default()).await.unwrap();
    World { engine, store, faults, env, clock }
}

impl World {
    /// Another server on the same store.
    async fn server(&self) -> Engine {
        Engine::open_with(Arc::clone(&self.store), self.env.clone(), Options::default()).await.unwrap()
    }

    /// The next calls for metadata meet these, and nothing that only had to be reported is among them.
    async fn plan(&self, plan: FaultPlan) {
        self.engine.refresh().await.unwrap();
        self.faults.replace(plan);
    }

    /// Records that are stored of the list of incarnation 1: its head and its chunks.
    async fn stored(&self) -> (usize, usize) {
        self.engine.settle().await.unwrap();
        let count = async |group: &str| {
            self.store.meta_range(group.as_bytes(), None, 100).await.unwrap().records.len()
        };
        (count("blocks").await, count("blocks/orders.1").await)
    }
}

fn name() -> NamespaceName {
    NamespaceName::new("orders").unwrap()
}

fn id(series: &str) -> SeriesId {
    SeriesId::new(series).unwrap()
}

fn block(series: &str) -> NewBlock {
    let (reason, author) = ("too hot".to_owned(), "ann".to_owned());
    NewBlock { series: id(series), reads: false, writes: false, reason, author, expires: None, etag: None }
}

fn events(series: &[&str]) -> WriteRequest {
    let item = ItemInput { key: "k".to_owned(), value: Bytes::from_static(b"v"), ..ItemInput::default() };
    let event = |series: &&str| EventInput {
        series: (*series).to_owned(),
        time: Some((START, 0)),
        event_id: "e".to_owned(),
        items: vec![item.clone()],
    };
    WriteRequest { namespace: name(), events: series.iter().map(event).collect() }
}

fn reads(series: &[&str]) -> ReadRequest {
    ReadRequest {
        namespace: name(),
        series: series.iter().map(|series| id(series)).collect(),
        interval: Interval::ALL,
        query: None,
        max_latency: None,
        deadline: None,
        page_records: 10,
        order: Order::NewestFirst,
        resume: None,
        total_limit: None,
    }
}

/// What is refused to `series`: `r`, `w`, `rw` or nothing.
async fn refused(engine: &Engine, series: &str) -> String {
    let read = match engine.read(reads(&[series])).await {
        Ok(_) => "",
        Err(error) => {
            assert_eq!(error.reason(), Reason::IdBlocked, "{error}");
            "r"
        }
    };
    let written = engine.write_synced(events(&[series])).await.unwrap();
    let write = match written.refused.first() {
        None => "",
        Some(refusal) => {
            assert_eq!(refusal.reason, Reason::IdBlocked, "{}", refusal.message);
            "w"
        }
    };
    format!("{read}{write}")
}

fn listed(engine: &Engine) -> Vec<String> {
    let blocks = engine.list_blocks(&name()).unwrap();
    blocks.iter().map(|block| block.series.as_str().to_owned()).collect()
}

#[tokio::test]
async fn blocked_ids_are_refused_and_no_others() {
    let world = world().await;
    let blocks =
        vec![NewBlock { reads: true, ..block("r") }, NewBlock { writes: true, ..block("w") }, block("rw")];
    let made = world.engine.add_blocks(&name(), blocks).await.unwrap();
    assert_eq!(made.len(), 3);
    for (series, expect) in [("r", "r"), ("w", "w"), ("rw", "rw"), ("free", "")] {
        assert_eq!(refused(&world.engine, series).await, expect);
    }
    // One blocked series among others refuses the search; one blocked event refuses itself only, queued or not.
    let refusal = world.engine.read(reads(&["free", "r"])).await.unwrap_err();
    assert!(refusal.to_string().starts_with("time_series_id `r` is blocked for reads"), "{refusal}");
    for answer in [
        world.engine.write_synced(events(&["free", "w", "r"])).await.unwrap(),
        world.engine.write_queued(events(&["free", "w", "r"])).await.unwrap(),
    ] {
        assert_eq!(answer.accepted, 2);
        let refused: Vec<_> = answer.refused.iter().map(|refusal| (refusal.index, refusal.reason)).collect();
        assert_eq!(refused, [(1, Reason::IdBlocked)]);
    }
    let removed = world.engine.remove_blocks(&name(), vec![id("rw"), id("nobody")]).await.unwrap();
    assert_eq!(removed.len(), 1);
    assert_eq!(refused(&world.engine, "rw").await, "");
    assert_eq!(listed(&world.engine), ["r", "w"]);
}

#[tokio::test]
async fn a_block_ends_at_its_expiry() {
    let world = world().await;
    let expires = Some((START + 60) * 1_000_000_000);
    world.engine.add_blocks(&name(), vec![NewBlock { expires, ..block("s") }]).await.unwrap();
    world.clock.advance(Duration::from_nanos(59_999_999_999));
    assert_eq!((refused(&world.engine, "s").await, listed(&world.engine).len()), ("rw".to_owned(), 1));
    world.clock.advance(Duration::from_nanos(1));
    assert_eq!((refused(&world.engine, "s").await, listed(&world.engine).len()), (String::new(), 0));
}

#[tokio::test]
async fn every_server_knows_after_its_next_refresh_and_after_a_start() {
    let world = world().await;
    // The slice is there, and a server that starts knows that nobody waits for it.
    assert_eq!(refused(&world.engine, "any").await, "");
    world.engine.settle().await.unwrap();
    let other = world.server().await;
    world.engine.add_blocks(&name(), vec![block("s")]).await.unwrap();
    assert_eq!(refused(&other, "s").await, "");
    assert_eq!(other.refresh().await.unwrap(), 1);
    assert_eq!(other.refresh().await.unwrap(), 0);
    assert_eq!(world.engine.refresh().await.unwrap(), 0);
    assert_eq!(refused(&other, "s").await, "rw");
    assert_eq!(refused(&world.server().await, "s").await, "rw");
    // A change of the other one is made to what is stored, not to what it remembers.
    let third = world.server().await;
    other.add_blocks(&name(), vec![block("t")]).await.unwrap();
    third.add_blocks(&name(), vec![block("u")]).await.unwrap();
    assert_eq!(listed(&third), ["s", "t", "u"]);
    world.engine.refresh().await.unwrap();
    assert_eq!(listed(&world.engine), ["s", "t", "u"]);
    // Changing the namespace or making a slice keeps what is blocked.
    world.engine.update_namespace(&name(), NamespaceSpec::default(), None).await.unwrap();
    assert_eq!(refused(&world.engine, "s").await, "rw");
}

#[tokio::test]
async fn an_etag_is_compared_with_what_is_stored_not_with_what_this_server_remembers() {
    let world = world().await;
    let other = world.server().await;
    let etag = world.engine.add_blocks(&name(), vec![block("s")]).await.unwrap().remove(0).etag();
    world.clock.advance(Duration::from_secs(1));
    let asked = NewBlock { etag: Some(etag.clone()), ..block("s") };
    let made = other.add_blocks(&name(), vec![asked.clone()]).await.unwrap().remove(0);
    // Here the old one is still in force.
    assert_eq!(world.engine.list_blocks(&name()).unwrap().remove(0).etag(), etag);
    let refused = world.engine.add_blocks(&name(), vec![block("t"), asked]).await.unwrap_err();
    assert_eq!(refused.reason(), Reason::EtagMismatch);
    assert_eq!(listed(&world.server().await), ["s"]);
    // Read from the store by a third server, it is the one that was made.
    assert_eq!(world.server().await.list_blocks(&name()).unwrap().remove(0), made);
    let again = NewBlock { etag: Some(made.etag()), ..block("s") };
    world.engine.add_blocks(&name(), vec![again]).await.unwrap();
}

#[tokio::test]
async fn servers_that_change_at_once_lose_nothing() {
    // Another server is faster while the chunk waits, or the head.
    for passed in 0..2 {
        let world = world().await;
        let other = world.server().await;
        world.engine.add_blocks(&name(), vec![block("before")]).await.unwrap();
        let plan = (0..passed).fold(FaultPlan::default(), |plan, _| plan.then_pass(Op::MetaCas));
        world.plan(plan.then(Op::MetaCas, Fault::Delay(Duration::from_secs(1)))).await;
        let faster = async {
            world.clock.sleepers(1).await;
            other.add_blocks(&name(), vec![block("fast")]).await.unwrap();
            world.clock.advance(Duration::from_secs(1));
        };
        let slower = async { world.engine.add_blocks(&name(), vec![block("slow")]).await };
        let (made, ()) = tokio::join!(slower, faster);
        made.unwrap();
        assert_eq!(listed(&world.engine), ["before", "fast", "slow"]);
        assert_eq!(listed(&world.server().await), ["before", "fast", "slow"]);
        // What the slower one wrote in vain may be left; the next change sweeps it.
        world.engine.remove_blocks(&name(), vec![id("fast")]).await.unwrap();
        assert_eq!(world.stored().await, (1, 1));
    }
}

#[tokio::test]
async fn a_refresh_that_is_slower_than_a_change_does_not_undo_it() {
    let world = world().await;
    let other = world.server().await;
    other.add_blocks(&name(), vec![block("s")]).await.unwrap();
    // What the heads were is known, then this server changes the list itself.
    world.faults.inject(Op::MetaGet, Fault::Delay(Duration::from_secs(1)));
    let change = async {
        world.clock.sleepers(1).await;
        world.clock.advance(Duration::from_secs(1));
        world.engine.add_blocks(&name(), vec![block("t")]).await.unwrap();
    };
    let (refreshed, ()) = tokio::join!(world.engine.refresh(), change);
    assert_eq!(refreshed.unwrap(), 1);
    assert_eq!(listed(&world.engine), ["s", "t"]);
}

#[tokio::test]
async fn an_unknown_outcome_is_looked_at_and_nothing_is_done_twice_or_by_half() {
    for fault in [Fault::LoseAnswer, Fault::LoseCall, Fault::ApplyLate(Duration::from_secs(1))] {
        // The chunk meets it, or the head.
        for passed in 0..2 {
            let world = world().await;
            world.engine.add_blocks(&name(), vec![block("before")]).await.unwrap();
            let plan = (0..passed).fold(FaultPlan::default(), |plan, _| plan.then_pass(Op::MetaCas));
            world.plan(plan.then(Op::MetaCas, fault)).await;
            let made = world.engine.add_blocks(&name(), vec![block("s")]).await.unwrap();
            assert_eq!(made.len(), 1);
            world.clock.advance(Duration::from_secs(2));
            tokio::task::yield_now().await;
            assert_eq!(refused(&world.engine, "s").await, "rw", "{fault:?} {passed}");
            assert_eq!(listed(&world.server().await), ["before", "s"], "{fault:?} {passed}");
            // Whatever was left behind is swept.
            world.engine.remove_blocks(&name(), vec![id("s")]).await.unwrap();
            assert_eq!(listed(&world.server().await), ["before"]);
            assert_eq!(world.stored().await, (1, 1), "{fault:?} {passed}");
        }
    }
    // A removal whose answer was lost was done, and says so.
    let world = world().await;
    world.engine.add_blocks(&name(), vec![block("s"), block("t")]).await.unwrap();
    world.plan(FaultPlan::default().then_pass(Op::MetaCas).then(Op::MetaCas, Fault::LoseAnswer)).await;
    assert_eq!(world.engine.remove_blocks(&name(), vec![id("t")]).await.unwrap().len(), 1);
    world.engine.remove_blocks(&name(), vec![id("s")]).await.unwrap();
    world.plan(FaultPlan::default().then(Op::MetaCas, Fault::Refuse)).await;
    let refusal: Result<_> = world.engine.add_blocks(&name(), vec![block("s")]).await;
    assert_eq!(refusal.unwrap_err().reason(), Reason::BackendOverloaded);
    assert_eq!(refused(&world.engine, "s").await, "");
}

#[tokio::test]
async fn blocks_go_with_their_namespace() {
    let world = world().await;
    let nowhere = NamespaceName::new("nowhere").unwrap();
    let missing = world.engine.add_blocks(&nowhere, vec![block("s")]).await.unwrap_err();
    assert_eq!(missing.reason(), Reason::NamespaceNotFound);
    world.engine.add_blocks(&name(), vec![block("s")]).await.unwrap();
    world.engine.delete_namespace(&name(), None).await.unwrap();
    assert_eq!(world.stored().await, (0, 0));
    world.engine.create_namespace(&name(), NamespaceSpec::default()).await.unwrap();
    assert_eq!(refused(&world.engine, "s").await, "");
}

#[tokio::test]
async fn ten_thousand_ids_and_not_one_more() {
    let world = world().await;
    let many = |at: usize| (0..1_000).map(|one| block(&format!("{at}-{one}"))).collect();
    for at in 0..10 {
        world.engine.add_blocks(&name(), many(at)).await.unwrap();
    }
    let refusal = world.engine.add_blocks(&name(), vec![block("one more")]).await.unwrap_err();
    assert_eq!(refusal.reason(), Reason::RangeTooWide);
    let would = world.engine.check_blocks(&name(), vec![block("one more")]).unwrap_err();
    assert_eq!(would.to_string(), refusal.to_string());
    assert_eq!(listed(&world.server().await).len(), 10_000);
}

#[tokio::test]
async fn refused_requests_are_counted() {
    let world = world().await;
    let mut registry = Registry::default();
    world.engine.register_metrics(&mut registry);
    world.engine.add_blocks(&name(), vec![block("s"), block("t")]).await.unwrap();
    world.engine.read(reads(&["s"])).await.unwrap_err();
    world.engine.read(reads(&["free"])).await.unwrap();
    for _ in 0..2 {
        world.engine.write_synced(events(&["s", "t", "free"])).await.unwrap();
    }
    world.engine.write_queued(events(&["free"])).await.unwrap();
    let shown = |registry: &Registry| {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, registry).unwrap();
        let lines = text.lines().filter(|line| line.starts_with("braid_blocked_requests"));
        let mut lines: Vec<String> = lines.map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(
        shown(&registry),
        [
            "braid_blocked_requests_total{namespace=\"orders\",access=\"read\"} 1",
            "braid_blocked_requests_total{namespace=\"orders\",access=\"write\"} 2",
        ]
    );
    world.engine.delete_namespace(&name(), None).await.unwrap();
    assert_eq!(shown(&registry), [""; 0]);
}
