//! The log: every server comes to the same state, whatever is lost on the way.

use std::time::Duration;

use engine::{Cause, NamespaceSpec, Reason};
use futures::future::join_all;
use model::NamespaceName;
use store::layer::{Fault, FaultPlan, Op};

use crate::world::{HOUR, NANOS, SECOND, START, Server, World, hourly, name};

#[tokio::test]
async fn what_one_server_changes_all_know_after_a_refresh() {
    let world = World::new();
    let (one, two) = (world.server().await, world.server().await);
    one.engine.create_namespace(&name(), hourly()).await.unwrap();
    assert!(two.engine.get_namespace(&name()).is_err());
    assert_eq!(two.engine.refresh().await.unwrap(), 1);
    assert_eq!(two.engine.get_namespace(&name()).unwrap(), one.engine.get_namespace(&name()).unwrap());
    assert_eq!(two.engine.refresh().await.unwrap(), 0);
    // Changes are decided on the newest state, not on what a server remembers.
    let etag = two.engine.get_namespace(&name()).unwrap().etag;
    one.engine.update_namespace(&name(), NamespaceSpec::default(), None).await.unwrap();
    let refused = two.engine.update_namespace(&name(), hourly(), Some(&etag)).await.unwrap_err();
    assert_eq!(refused.reason(), Reason::EtagMismatch);
    let exists = two.engine.create_namespace(&name(), hourly()).await.unwrap_err();
    assert_eq!(exists.reason(), Reason::NamespaceExists);
}

#[tokio::test]
async fn a_server_that_was_away_or_starts_anew_finds_everything() {
    let world = World::new();
    let (one, away) = (world.server().await, world.server().await);
    let names: Vec<NamespaceName> =
        (0..700).map(|at| NamespaceName::new(&format!("n{at}")).unwrap()).collect();
    for some in &names {
        one.engine.create_namespace(some, hourly()).await.unwrap();
    }
    // More than the head keeps: it was settled on the way.
    assert_eq!(away.engine.refresh().await.unwrap(), 700);
    assert_eq!(away.engine.list_namespaces(), one.engine.list_namespaces());
    one.engine.settle().await.unwrap();
    let fresh = world.server().await;
    assert_eq!(fresh.engine.list_namespaces(), one.engine.list_namespaces());
    assert_eq!(fresh.engine.epoch(), one.engine.epoch());
}

#[tokio::test]
async fn servers_that_change_at_once_all_succeed() {
    let world = World::new();
    let servers = [world.server().await, world.server().await, world.server().await];
    let make = |at: usize| {
        let server = servers.get(at % 3).unwrap();
        async move {
            let name = NamespaceName::new(&format!("n{at}")).unwrap();
            server.engine.create_namespace(&name, hourly()).await
        }
    };
    assert!(join_all((0..30).map(make)).await.into_iter().all(|made| made.is_ok()));
    for server in &servers {
        server.engine.refresh().await.unwrap();
        assert_eq!((server.engine.list_namespaces().len(), server.engine.epoch()), (30, 30));
    }
}

#[tokio::test]
async fn a_change_whose_outcome_is_unknown_happens_once() {
    for fault in [Fault::LoseAnswer, Fault::LoseCall, Fault::ApplyLate(SECOND)] {
        let world = World::new();
        let (one, two) = (world.server().await, world.server().await);
        one.faults.replace(FaultPlan::default().then(Op::MetaCas, fault));
        one.engine.create_namespace(&name(), hourly()).await.unwrap();
        world.pass(2 * SECOND, &[&one, &two]).await;
        assert_eq!((one.engine.epoch(), two.engine.epoch()), (1, 1), "{fault:?}");
        assert_eq!(two.engine.list_namespaces(), one.engine.list_namespaces());
    }
}

#[tokio::test]
async fn a_name_made_again_is_another_namespace_and_the_old_tables_go() {
    let world = World::new();
    let (one, two) = (world.server().await, world.server().await);
    one.engine.create_namespace(&name(), hourly()).await.unwrap();
    world.during(&[&two], one.write(START)).await.unwrap();
    world.during(&[&two], one.engine.delete_namespace(&name(), None)).await.unwrap();
    assert!(world.store.list_tables().await.unwrap().is_empty());
    two.engine.create_namespace(&name(), hourly()).await.unwrap();
    assert_eq!(two.engine.get_namespace(&name()).unwrap().incarnation, 2);
    one.engine.refresh().await.unwrap();
    assert_eq!(one.read(START - 60, START + 60).await.events.len(), 0);
}

/// Two servers, of which the first has begun to delete a namespace and failed to drop its table.
async fn cut_short() -> (World, Server, Server) {
    let world = World::new();
    let (one, two) = (world.server().await, world.server().await);
    one.engine.create_namespace(&name(), hourly()).await.unwrap();
    world.during(&[&two], one.write(START)).await.unwrap();
    one.faults.inject(Op::DropTable, Fault::Refuse);
    world.during(&[&two], one.engine.delete_namespace(&name(), None)).await.unwrap_err();
    (world, one, two)
}

#[tokio::test]
async fn a_delete_that_was_cut_short_is_finished_by_another_server() {
    let (world, one, two) = cut_short().await;
    // Gone for everybody, but its table is left; also for one that starts now.
    two.engine.refresh().await.unwrap();
    assert!(two.engine.get_namespace(&name()).is_err());
    one.engine.settle().await.unwrap();
    assert_eq!(world.store.list_tables().await.unwrap().len(), 1);
    let three = world.server().await;
    world.during(&[&one, &two], three.engine.drop_expired()).await.unwrap();
    assert!(world.store.list_tables().await.unwrap().is_empty());
    two.engine.create_namespace(&name(), hourly()).await.unwrap();
    assert_eq!(two.engine.get_namespace(&name()).unwrap().incarnation, 2);
}

#[tokio::test]
async fn a_name_is_made_again_only_when_nothing_is_left_of_the_one_before() {
    let (world, one, two) = cut_short().await;
    two.faults.inject(Op::DropTable, Fault::Refuse);
    let refused = world.during(&[&one], two.engine.create_namespace(&name(), hourly())).await.unwrap_err();
    assert_eq!(refused.reason(), Reason::BackendOverloaded);
    world.during(&[&one], two.engine.create_namespace(&name(), hourly())).await.unwrap();
    assert!(world.store.list_tables().await.unwrap().is_empty());
}

#[tokio::test]
async fn who_changed_what_and_why_is_kept() {
    let world = World::new();
    let server = world.server().await;
    let ann = server.engine.because(Cause { author: "ann".to_owned(), reason: "more data".to_owned() });
    server.engine.create_namespace(&name(), hourly()).await.unwrap();
    let wide = NamespaceSpec { accept_limit: 2 * HOUR, ..hourly() };
    ann.update_namespace(&name(), wide, None).await.unwrap();
    // What servers do by themselves is no change of configuration.
    server.write(START).await.unwrap();
    let lines = server.engine.audit(None, 10).await.unwrap();
    let shown: Vec<_> =
        lines.iter().map(|line| (line.epoch, line.author.as_str(), line.name.as_str())).collect();
    assert_eq!(shown, [(2, "ann", "orders"), (1, "", "orders")]);
    let (newest, oldest) = (lines.first().unwrap(), lines.last().unwrap());
    assert_eq!((newest.reason.as_str(), newest.kind.as_str()), ("more data", "namespaces"));
    assert!(newest.before.as_ref().unwrap().contains("\"accept_limit\":{\"secs\":600"));
    assert!(newest.after.contains("\"accept_limit\":{\"secs\":7200"));
    assert_eq!((oldest.before.as_ref(), oldest.time), (None, START * NANOS));
    assert_eq!(server.engine.audit(Some(2), 10).await.unwrap(), std::slice::from_ref(oldest));
    assert_eq!(server.engine.audit(None, 1).await.unwrap(), std::slice::from_ref(newest));
}

#[tokio::test]
async fn metadata_that_was_put_back_is_noticed() {
    let world = World::new();
    let server = world.server().await;
    let old = world.store.meta_get(&store::MetaKey::new("view", "head")).await.unwrap();
    assert!(old.is_none());
    server.engine.create_namespace(&name(), hourly()).await.unwrap();
    let head = world.store.meta_get(&store::MetaKey::new("view", "head")).await.unwrap().unwrap();
    let empty = r#"{"version":1,"epoch":0,"settled":0,"passed":0,"entries":[]}"#;
    let put = store::MetaChange::Put(empty.into());
    world.store.meta_cas(&store::MetaKey::new("view", "head"), Some(head.version), put).await.unwrap();
    let refused = server.engine.refresh().await.unwrap_err();
    assert!(refused.to_string().contains("the metadata was put back"), "{refused}");
    world.clock.advance(Duration::from_secs(31));
    assert!(!server.engine.is_leased());
}
