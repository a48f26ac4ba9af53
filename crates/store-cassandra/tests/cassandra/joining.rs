//! Joining: what is wrong is said, with what to do, and nothing is made.

use store::{ErrorKind, Storage, Store};
use store_cassandra::Options;

use crate::node;

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
async fn a_keyspace_of_another_layout_is_refused() {
    node::store().await;
    let session = node::session().await;
    for text in [
        "CREATE KEYSPACE IF NOT EXISTS suitenew_meta WITH replication = {'class': 'NetworkTopologyStrategy', \
         'datacenter1': 1}",
        "CREATE TABLE IF NOT EXISTS suitenew_meta.layout (part text PRIMARY KEY, version int)",
        "INSERT INTO suitenew_meta.layout (part, version) VALUES ('all', 99) IF NOT EXISTS",
    ] {
        session.query_unpaged(text, ()).await.unwrap();
    }
    let options = Options { keyspace_prefix: "suitenew".to_owned(), ..node::options().await };
    check(options, ErrorKind::Corrupt, "has layout version 99").await;
    let text = "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'suitenew_meta'";
    let tables = session.query_unpaged(text, ()).await.unwrap().into_rows_result().unwrap();
    assert_eq!(tables.rows_num(), 1, "nothing was made beside the layout");
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
    node::connect().await.ready().await.unwrap();
}
