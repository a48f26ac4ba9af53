//! Joining: what is wrong is said, with what to do, and nothing is made.

use scylla::client::session::Session;
use scylla::value::Row;
use store::{ErrorKind, Storage, Store};
use store_cassandra::{LAYOUT_VERSION, Layout, Options, Pem, Rights, Tls, examine};

use crate::{node, shared};

/// Somebody's, who signs nobody here.
const CERTIFICATE: &str = include_str!("../../golden/authority.pem");

async fn check(options: Options, kind: ErrorKind, says: &str) {
    let error = node::connect_with(options).await.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(says), "{error}");
}

async fn keyspaces(prefix: &str) -> usize {
    let answer =
        node::session().await.query_unpaged("SELECT keyspace_name FROM system_schema.keyspaces", ()).await;
    let answer = answer.unwrap().into_rows_result().unwrap();
    answer.rows::<(&str,)>().unwrap().filter(|row| row.as_ref().unwrap().0.starts_with(prefix)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_contact_point_where_nobody_answers_is_named() {
    let options = Options { contact_points: vec!["127.0.0.1:1".to_owned()], ..node::options().await };
    check(options, ErrorKind::Unavailable, "127.0.0.1:1").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_datacenter_is_answered_with_those_that_exist() {
    let options = Options {
        local_datacenter: Some("nowhere".to_owned()),
        keyspace_prefix: "suitenodc".to_owned(),
        ..node::options().await
    };
    check(options, ErrorKind::Invalid, "set local_datacenter to one of: datacenter1").await;
    assert_eq!(keyspaces("suitenodc").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_in_another_datacenter_are_refused() {
    for (replication, says) in [
        (
            [("datacenter1", 1), ("nowhere", 3)],
            "names the data centre `nowhere`, which the cluster does not have",
        ),
        ([("datacenter2", 1), ("nowhere", 3)], "names the data centre `datacenter2`"),
    ] {
        let options = Options {
            replication: replication.map(|(name, count)| (name.to_owned(), count)).into(),
            keyspace_prefix: "suitenorep".to_owned(),
            ..node::options().await
        };
        check(options, ErrorKind::Invalid, says).await;
    }
    assert_eq!(keyspaces("suitenorep").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_does_not_speak_tls_says_so() {
    // Trust does not matter: it never comes to that.
    let authorities = Pem { path: "ca".to_owned(), bytes: CERTIFICATE.as_bytes().to_vec() };
    let tls = Some(Tls { authorities, identity: None, verify_hostname: true });
    let options = Options { tls, keyspace_prefix: "suitenotls".to_owned(), ..node::options().await };
    check(options, ErrorKind::Invalid, "does not speak TLS there").await;
    assert_eq!(keyspaces("suitenotls").await, 0);
}

/// Everything about a keyspace: its definition, its tables and columns, and the rows of its layout.
async fn all_of(session: &Session, keyspace: &str) -> Vec<String> {
    let mut found = Vec::new();
    for text in [
        format!("SELECT * FROM system_schema.keyspaces WHERE keyspace_name = '{keyspace}'"),
        format!("SELECT * FROM system_schema.tables WHERE keyspace_name = '{keyspace}'"),
        format!("SELECT * FROM system_schema.columns WHERE keyspace_name = '{keyspace}'"),
        format!("SELECT part, version, WRITETIME(version) FROM {keyspace}.layout"),
    ] {
        let answer = session.query_unpaged(text, ()).await.unwrap().into_rows_result().unwrap();
        found.extend(answer.rows::<Row>().unwrap().map(|row| format!("{:?}", row.unwrap())));
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_keyspace_of_another_layout_is_refused_and_not_touched() {
    shared::store().await;
    let session = node::session().await;
    for text in [
        "CREATE KEYSPACE IF NOT EXISTS suitenew_meta WITH replication = {'class': 'NetworkTopologyStrategy', \
         'datacenter1': 1}",
        "CREATE TABLE IF NOT EXISTS suitenew_meta.layout (part text PRIMARY KEY, version int)",
        "INSERT INTO suitenew_meta.layout (part, version) VALUES ('all', 99) IF NOT EXISTS",
    ] {
        session.query_unpaged(text, ()).await.unwrap();
    }
    let before = all_of(&session, "suitenew_meta").await;
    let options = Options { keyspace_prefix: "suitenew".to_owned(), ..node::options().await };
    check(options.clone(), ErrorKind::Corrupt, "has layout version 99").await;
    assert_eq!(examine(&options).await.unwrap().layout, Some(Layout::Version(99)));
    assert_eq!(all_of(&session, "suitenew_meta").await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_keyspace_of_somebody_else_is_refused_and_not_touched() {
    shared::store().await;
    let session = node::session().await;
    for text in [
        "CREATE KEYSPACE IF NOT EXISTS suitealien_meta WITH replication = {'class': 'NetworkTopologyStrategy', \
         'datacenter1': 1}",
        "CREATE TABLE IF NOT EXISTS suitealien_meta.records (id int PRIMARY KEY)",
    ] {
        session.query_unpaged(text, ()).await.unwrap();
    }
    let options = Options { keyspace_prefix: "suitealien".to_owned(), ..node::options().await };
    check(options.clone(), ErrorKind::Corrupt, "none of them is Braid's").await;
    assert_eq!(examine(&options).await.unwrap().layout, Some(Layout::Foreign));
    let text = "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'suitealien_meta'";
    let tables = session.query_unpaged(text, ()).await.unwrap().into_rows_result().unwrap();
    assert_eq!(tables.rows_num(), 1, "nothing was made beside it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_finds_what_is_there_and_makes_nothing() {
    let options = Options { keyspace_prefix: "suitelook".to_owned(), tables_max: 7, ..node::options().await };
    let found = examine(&options).await.unwrap();
    assert_eq!((found.layout, found.tables, found.tables_max), (Some(Layout::NotMade), Some(0), 7));
    // Where nobody logs in, nobody lacks a right.
    assert_eq!((found.rights, found.user), (Rights::Enough, None));
    assert_eq!(found.nodes.iter().map(|node| node.auto_snapshot).collect::<Vec<_>>(), [Some(false)]);
    assert_eq!(keyspaces("suitelook").await, 0);
    let fixture = store::conformance::Fixture::new(std::sync::Arc::new(
        node::connect_with(options.clone()).await.unwrap(),
    ));
    fixture.made(1).await;
    let found = examine(&options).await.unwrap();
    assert_eq!((found.layout, found.tables), (Some(Layout::Version(LAYOUT_VERSION)), Some(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_tables_is_limited() {
    let options = Options { keyspace_prefix: "suitefew".to_owned(), tables_max: 2, ..node::options().await };
    let fixture =
        store::conformance::Fixture::new(std::sync::Arc::new(node::connect_with(options).await.unwrap()));
    let (first, _) = (fixture.made(1).await, fixture.made(2).await);
    let error = fixture.store.create_table(&fixture.table(3), &Storage::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("max_tables"), "{error}");
    fixture.store.drop_table(&first).await.unwrap();
    fixture.made(3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_joined_is_ready() {
    shared::connect().await.ready().await.unwrap();
}
