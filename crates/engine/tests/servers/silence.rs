//! Leases and barriers: who may still act on an old view is waited for, and acts on less when its lease is over.

use std::time::Duration;

use engine::{NamespaceSpec, Reason};
use store::layer::Op;

use crate::world::{HOUR, NANOS, SECOND, START, World, hourly, name};

#[tokio::test]
async fn the_first_event_of_a_slice_waits_until_every_server_knows_the_slice() {
    let world = World::new();
    let (one, two) = (world.server().await, world.server().await);
    one.engine.create_namespace(&name(), hourly()).await.unwrap();
    two.engine.refresh().await.unwrap();
    let (written, took) = world.took(world.during(&[&two], one.write(START))).await;
    assert_eq!(written.unwrap().accepted, 1);
    assert!(took <= 2 * SECOND, "{took:?}");
    // And then it is in every read.
    assert_eq!(two.read(START - 60, START + 60).await.events.len(), 1);
    // The second event waits for nobody.
    let (_, took) = world.took(one.write(START + 1)).await;
    assert_eq!(took, Duration::ZERO);
}

#[tokio::test]
async fn a_silent_server_is_waited_for_as_long_as_its_lease_may_run() {
    let world = World::new();
    let (one, silent) = (world.server().await, world.server().await);
    one.engine.create_namespace(&name(), hourly()).await.unwrap();
    silent.engine.refresh().await.unwrap();
    let (written, took) = world.took(world.during(&[&one], one.write(START))).await;
    assert_eq!(written.unwrap().accepted, 1);
    assert!((30 * SECOND..32 * SECOND).contains(&took), "{took:?}");
    assert!(!silent.engine.is_leased());
    // Once it is known to be silent, nobody waits for it any more.
    world.pass(50 * SECOND, &[&one]).await;
    one.engine.servers().await.unwrap();
    world.pass(50 * SECOND, &[&one]).await;
    let (written, took) = world.took(world.during(&[&one], one.write(START + 3_600))).await;
    let late = written.map(|answer| answer.accepted);
    assert!(late.is_err() || took < 2 * SECOND, "{late:?} {took:?}");
}

#[tokio::test]
async fn a_server_without_a_lease_reads_what_it_is_sure_of_and_says_so() {
    let world = World::new();
    let (one, cut) = (world.server().await, world.server().await);
    one.engine.create_namespace(&name(), hourly()).await.unwrap();
    world.during(&[&cut], one.write(START)).await.unwrap();
    cut.lose_metadata();
    world.pass(31 * SECOND, &[&one, &cut]).await;
    assert!(one.engine.is_leased() && !cut.engine.is_leased());
    // The slice that it knows is read whole.
    let page = cut.read(START, START + 600).await;
    assert_eq!((page.events.len(), page.partial.is_none()), (1, true));
    // Before it there may be one that others have made since.
    let page = cut.read(START - 7_200, START + 600).await;
    let partial = page.partial.unwrap();
    assert_eq!((page.events.len(), partial.reason), (1, "VIEW_STALE"));
    assert_eq!((partial.complete.start(), partial.complete.end()), (START * NANOS, (START + 600) * NANOS));
    assert!(page.next.is_some());
    // A request that finds the lease gone gets it back, once a second.
    cut.find_metadata();
    world.clock.advance(SECOND);
    assert!(cut.read(START - 7_200, START + 600).await.partial.is_none());
}

#[tokio::test]
async fn without_metadata_hot_writes_go_on_for_an_hour() {
    let world = World::new();
    let server = world.server().await;
    server.engine.create_namespace(&name(), hourly()).await.unwrap();
    server.write(START).await.unwrap();
    world.pass(HOUR / 2, &[&server]).await;
    server.write(START + 1_800).await.unwrap();
    assert_eq!(server.engine.make_slices_ahead().await.unwrap(), 1);
    server.lose_metadata();
    for minute in 31..=89 {
        world.pass(60 * SECOND, &[&server]).await;
        let at = START + minute * 60;
        assert_eq!(server.write(at).await.unwrap().accepted, 1, "minute {minute}");
        assert_eq!(server.read(at, at + 1).await.events.len(), 1);
    }
    world.pass(120 * SECOND, &[&server]).await;
    let refused = server.write(START + 91 * 60).await.unwrap_err();
    assert_eq!(refused.reason(), Reason::NotReady);
    assert_eq!(server.read(START, START + 10).await.events.len(), 1);
    server.find_metadata();
    world.pass(SECOND, &[&server]).await;
    assert_eq!(server.write(START + 91 * 60).await.unwrap().accepted, 1);
}

#[tokio::test]
async fn a_slice_is_dropped_behind_everybodys_back_only_when_nobody_looks() {
    let world = World::new();
    let (one, two) = (world.server().await, world.server().await);
    let spec = NamespaceSpec { close_after: HOUR, delete_after: 2 * HOUR, ..hourly() };
    one.engine.create_namespace(&name(), spec.clone()).await.unwrap();
    world.during(&[&two], one.write(START)).await.unwrap();
    world.pass(3 * HOUR - 60 * SECOND, &[&one, &two]).await;
    // Until the drop it can be kept longer.
    two.engine
        .update_namespace(&name(), NamespaceSpec { delete_after: 3 * HOUR, ..spec }, None)
        .await
        .unwrap();
    world.pass(120 * SECOND, &[&one, &two]).await;
    assert_eq!(one.engine.drop_expired().await.unwrap(), 0);
    assert_eq!(two.read(START, START + 10).await.events.len(), 1);
    world.pass(HOUR, &[&one, &two]).await;
    // Two keepers at once drop it once.
    let both = async { tokio::join!(one.engine.drop_expired(), two.engine.drop_expired()) };
    let (first, second) = world.during(&[&one, &two], both).await;
    assert_eq!(first.unwrap() + second.unwrap(), 1);
    let page = two.read(START, START + 10).await;
    assert_eq!((page.events.len(), page.retention_truncated), (0, true));
    // Its time takes no events any more, whatever the settings become.
    let never = NamespaceSpec { accept_limit: Duration::ZERO, close_after: Duration::ZERO, ..hourly() };
    let never = NamespaceSpec { delete_after: Duration::ZERO, ..never };
    one.engine.update_namespace(&name(), never, None).await.unwrap();
    let answer = one.write(START).await.unwrap();
    assert_eq!(answer.refused.first().unwrap().reason, Reason::EventTooOld);
    assert!(answer.refused.first().unwrap().message.contains("was dropped by retention"));
    assert!(world.store.list_tables().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_refresh_is_one_read_and_a_report_one_write_whatever_there_is() {
    let world = World::new();
    let (one, two) = (world.server().await, world.server().await);
    for at in 0..50 {
        let name = model::NamespaceName::new(&format!("n{at}")).unwrap();
        one.engine.create_namespace(&name, hourly()).await.unwrap();
    }
    two.engine.refresh().await.unwrap();
    let fault = store::layer::Fault::Delay(Duration::ZERO);
    let ops = [Op::MetaGet, Op::MetaRange, Op::MetaCas, Op::ListTables];
    let plan = ops
        .into_iter()
        .fold(store::layer::FaultPlan::default(), |plan, op| plan.with_chance(op, 1_000, fault));
    two.faults.replace(plan);
    let counts = || ops.map(|op| two.faults.happened(op));
    two.engine.refresh().await.unwrap();
    assert_eq!(counts(), [1, 0, 0, 0], "nothing new");
    one.engine.create_namespace(&name(), hourly()).await.unwrap();
    two.engine.refresh().await.unwrap();
    assert_eq!(counts(), [2, 0, 1, 0], "something new is read with the head and reported");
    world.clock.advance(5 * SECOND);
    two.engine.refresh().await.unwrap();
    assert_eq!(counts(), [3, 0, 2, 0], "and now and then it says that it is there");
    one.engine.settle().await.unwrap();
    two.engine.refresh().await.unwrap();
    two.engine.settle().await.unwrap();
    assert_eq!(counts(), [4, 0, 2, 0], "where all is settled nobody looks again");
}
