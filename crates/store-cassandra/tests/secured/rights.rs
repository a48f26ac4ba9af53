//! Users with too few rights, with just enough, and with other people's keyspaces.

use std::sync::Arc;

use store::conformance::{Fixture, row};
use store::{CasOutcome, Effort, ErrorKind, MetaChange, TableOutcome};
use store_cassandra::{CassandraStore, LAYOUT_VERSION, Layout, Rights, examine};

use crate::node::Node;

async fn refused(node: &Node, user: &str, says: &str) {
    let error = CassandraStore::connect(&node.options(user), node.env.clone()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(error.to_string().ends_with(says), "{error}");
}

fn grants(rights: &Rights) -> Vec<&str> {
    match rights {
        Rights::Missing(missing) => missing.iter().map(|right| right.grant.as_str()).collect(),
        rights => panic!("nothing is missing: {rights:?}"),
    }
}

/// Nothing is granted: refused with the statement that would, and nothing is made.
pub(crate) async fn too_few(node: &Node) {
    node.run(&["CREATE ROLE poor WITH PASSWORD = 'poor' AND LOGIN = true"]).await;
    refused(node, "poor", "run GRANT CREATE ON ALL KEYSPACES TO poor").await;
    let found = examine(&node.options("poor")).await.unwrap();
    assert_eq!(grants(&found.rights), ["GRANT CREATE ON ALL KEYSPACES TO poor"]);
    assert_eq!((found.layout, found.tables), (None, None));
    assert_eq!(found.nodes.iter().map(|node| node.auto_snapshot).collect::<Vec<_>>(), [None]);
    assert_eq!(node.keyspaces().await, [""; 0]);
    node.say("a user without rights is refused with the statement that grants them; nothing was made");
}

/// What the documentation lists, and nothing else, is enough for everything.
pub(crate) async fn just_enough(node: &Node) {
    node.run(&[
        "CREATE ROLE braid WITH PASSWORD = 'braid' AND LOGIN = true",
        "GRANT CREATE ON ALL KEYSPACES TO braid",
    ])
    .await;
    let before = examine(&node.options("braid")).await.unwrap();
    assert_eq!(
        (before.rights, before.layout, before.tables),
        (Rights::Enough, Some(Layout::NotMade), Some(0))
    );
    assert_eq!(node.keyspaces().await, [""; 0], "a look makes nothing");

    let store = CassandraStore::connect(&node.options("braid"), node.env.clone()).await.unwrap();
    let fixture = Fixture::new(Arc::new(store));
    let table = fixture.made(1).await;
    let at =
        model::PartitionKey { series: model::SeriesId::new("s").unwrap(), time_bucket: 0, event_bucket: 0 };
    let rows = [row(5, "e", "i", "v")];
    fixture.write(&table, &at, &rows).await;
    assert_eq!(fixture.read(&table, &at).await, rows);
    assert_eq!(fixture.partitions(&table, 10).await, [at]);
    for effort in [Effort::Cheap, Effort::Measure] {
        fixture.store.histogram(&table, effort).await.unwrap();
    }
    let key = fixture.meta_key("g", "n");
    let put = fixture.store.meta_cas(&key, None, MetaChange::Put("v".into())).await.unwrap();
    assert!(matches!(put, CasOutcome::Applied(_)), "{put:?}");
    fixture.store.ready().await.unwrap();
    node.say("a user with the documented rights makes, writes and reads");

    // Another server over what is there, and a look at it.
    CassandraStore::connect(&node.options("braid"), node.env.clone()).await.unwrap();
    node.run(&["GRANT SELECT ON KEYSPACE system_views TO braid"]).await;
    let after = examine(&node.options("braid")).await.unwrap();
    assert_eq!((after.layout, after.tables), (Some(Layout::Version(LAYOUT_VERSION)), Some(1)));
    let [found] = after.nodes.as_slice() else { panic!("one node: {:?}", after.nodes) };
    assert_eq!((found.address.as_str(), found.auto_snapshot), (Node::address().as_str(), Some(true)));
    assert!(found.release.as_deref().is_some_and(|release| release.starts_with("5.0")), "{found:?}");
    assert_eq!((after.user.as_deref(), after.datacenter.as_str()), (Some("braid"), "datacenter1"));
    assert_eq!(fixture.store.drop_table(&table).await.unwrap(), TableOutcome::Done);
    node.say("and drops; what a look finds is what is there");
}

/// Keyspaces that another user made: every right in them is asked for.
pub(crate) async fn of_somebody_else(node: &Node) {
    node.run(&[
        "CREATE ROLE \"Second\" WITH PASSWORD = 'Second' AND LOGIN = true",
        "GRANT CREATE ON ALL KEYSPACES TO \"Second\"",
    ])
    .await;
    let found = examine(&node.options("Second")).await.unwrap();
    let missing = grants(&found.rights);
    for keyspace in node.keyspaces().await {
        for right in ["SELECT", "MODIFY", "DROP"] {
            let grant = format!("GRANT {right} ON KEYSPACE {keyspace} TO \"Second\"");
            assert!(missing.contains(&grant.as_str()), "{grant} is not in {missing:?}");
        }
    }
    refused(node, "Second", missing.first().unwrap()).await;
    for grant in &missing {
        node.run(&[grant]).await;
    }
    CassandraStore::connect(&node.options("Second"), node.env.clone()).await.unwrap();
    // Whoever may do everything needs nothing more.
    node.run(&["CREATE ROLE root WITH SUPERUSER = true", "GRANT root TO poor"]).await;
    assert_eq!(examine(&node.options("poor")).await.unwrap().rights, Rights::Enough);
    node.say("what another user made is used after the statements that were named, or by a superuser");
}
