//! Several servers over one cluster: tables have one maker, and what one left half done another finishes.

use std::sync::Arc;

use model::{PartitionKey, SeriesId, TableRef};
use store::conformance::{Fixture, row};
use store::{
    CasOutcome, Consistency, Durability, Effort, ErrorKind, MetaChange, MetaKey, PartitionBatch, Storage,
    TableOutcome,
};

use crate::{node, shared};

/// The same namespace, as two servers see it.
async fn two() -> (Fixture, Fixture) {
    let one = Fixture::new(Arc::new(shared::store().await));
    let other = Fixture { store: Arc::new(shared::connect().await), ..one.clone() };
    (one, other)
}

fn at() -> PartitionKey {
    PartitionKey { series: SeriesId::new("s").unwrap(), time_bucket: 0, event_bucket: 0 }
}

/// Writes what another server would have left in the table of tables.
async fn leave(table: &TableRef, id: &str, state: &str) {
    let text = "INSERT INTO suite_meta.tables (part, namespace, incarnation, name, id, state, stamp) \
                VALUES ('all', ?, ?, ?, ?, ?, 1) IF NOT EXISTS";
    let values = (table.namespace.as_str(), i64::from(table.incarnation), table.name.as_str(), id, state);
    node::session().await.query_unpaged(text, values).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_make_one_table_at_once_make_it_once() {
    let (one, other) = two().await;
    for number in 0..4 {
        let table = one.table(number);
        let storage = Storage::default();
        let (made, found) = tokio::join!(
            one.store.create_table(&table, &storage),
            other.store.create_table(&table, &storage)
        );
        let outcomes = [made.unwrap(), found.unwrap()];
        assert_eq!(
            outcomes.iter().filter(|outcome| **outcome == TableOutcome::Done).count(),
            1,
            "{outcomes:?}"
        );
        one.write(&table, &at(), &[row(5, "e", "i", "one")]).await;
        assert_eq!(other.read(&table, &at()).await, [row(5, "e", "i", "one")]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_another_server_dropped_and_made_again_is_used_as_it_is_now() {
    let (one, other) = two().await;
    let table = one.made(1).await;
    one.write(&table, &at(), &[row(5, "e", "i", "old")]).await;
    assert_eq!(other.read(&table, &at()).await.len(), 1);
    assert_eq!(one.store.drop_table(&table).await.unwrap(), TableOutcome::Done);

    let batch = PartitionBatch {
        table: table.clone(),
        partition: at(),
        rows: vec![row(5, "e", "i", "lost")],
        consistency: Consistency::default(),
    };
    let error = other.store.upsert(batch, Durability::Synced).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoTable, "{error}");
    assert_eq!(other.store.drop_table(&table).await.unwrap(), TableOutcome::Already);

    one.made(1).await;
    assert_eq!(other.read(&table, &at()).await, []);
    other.write(&table, &at(), &[row(5, "e", "i", "new")]).await;
    assert_eq!(one.read(&table, &at()).await, [row(5, "e", "i", "new")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_was_left_half_made_is_finished() {
    let (one, _) = two().await;
    let table = one.table(1);
    leave(&table, "00000000-0000-4000-8000-00000000abcd", "making").await;
    assert_eq!(one.store.list_tables().await.unwrap().iter().filter(|found| **found == table).count(), 0);
    assert_eq!(one.store.create_table(&table, &Storage::default()).await.unwrap(), TableOutcome::Done);
    one.write(&table, &at(), &[row(5, "e", "i", "v")]).await;
    assert_eq!(one.store.drop_table(&table).await.unwrap(), TableOutcome::Done);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_was_left_half_dropped_is_dropped_before_it_is_made_again() {
    let (one, other) = two().await;
    let table = one.made(1).await;
    one.write(&table, &at(), &[row(5, "e", "i", "old")]).await;
    let text = "UPDATE suite_meta.tables SET state = 'dropping' \
                WHERE part = 'all' AND namespace = ? AND incarnation = 1 AND name = ? IF state = 'live'";
    let session = node::session().await;
    session.query_unpaged(text, (table.namespace.as_str(), table.name.as_str())).await.unwrap();
    assert_eq!(other.store.create_table(&table, &Storage::default()).await.unwrap(), TableOutcome::Done);
    assert_eq!(one.read(&table, &at()).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stray_table_without_a_row_does_not_become_the_table() {
    let (one, _) = two().await;
    let (first, stray) = (one.made(1).await, one.table(2));
    let text = format!(
        "CREATE TABLE \"{}\".{} (time_series_id text PRIMARY KEY)",
        node::keyspace(&first),
        stray.name.as_str()
    );
    node::session().await.query_unpaged(text, ()).await.unwrap();
    assert_eq!(one.store.create_table(&stray, &Storage::default()).await.unwrap(), TableOutcome::Done);
    one.write(&stray, &at(), &[row(5, "e", "i", "v")]).await;
    assert_eq!(one.read(&stray, &at()).await, [row(5, "e", "i", "v")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_only_a_node_does_not_know_is_not_called_missing() {
    let (one, _) = two().await;
    let table = one.made(1).await;
    let text = format!("DROP TABLE \"{}\".{}", node::keyspace(&table), table.name.as_str());
    node::session().await.query_unpaged(text, ()).await.unwrap();
    let batch = PartitionBatch {
        table: table.clone(),
        partition: at(),
        rows: vec![row(5, "e", "i", "v")],
        consistency: Consistency::default(),
    };
    let error = one.store.upsert(batch, Durability::Synced).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unknown, "{error}");
    let error = one.store.histogram(&table, Effort::Measure).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert_eq!(one.store.drop_table(&table).await.unwrap(), TableOutcome::Done);
    let error = one.store.histogram(&table, Effort::Measure).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoTable, "{error}");
}

/// Adds a mark to the record, as often as it takes, and obeys what it reads where nobody knows.
async fn mark(fixture: &Fixture, key: &MetaKey, mark: u8) {
    loop {
        let current = fixture.store.meta_get(key).await.unwrap();
        let marks = current.as_ref().map(|record| record.value.to_vec()).unwrap_or_default();
        if marks.contains(&mark) {
            return;
        }
        let change = MetaChange::Put([marks, vec![mark]].concat().into());
        let expected = current.map(|record| record.version);
        match fixture.store.meta_cas(key, expected, change).await {
            Ok(CasOutcome::Applied(_)) => return,
            Ok(CasOutcome::Conflict(now)) => {
                let marked = now.is_some_and(|record| record.value.contains(&mark));
                assert!(!marked, "a conflict, and yet the change was made");
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Unknown, "{error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_change_one_record_at_once_lose_nothing_and_double_nothing() {
    let (one, other) = two().await;
    let key = one.meta_key("g", "marks");
    let add = async |fixture: &Fixture, marks: std::ops::Range<u8>| {
        for number in marks {
            mark(fixture, &key, number).await;
        }
    };
    tokio::join!(add(&one, 0..15), add(&other, 15..30));
    let mut marks = one.store.meta_get(&key).await.unwrap().unwrap().value.to_vec();
    marks.sort_unstable();
    assert_eq!(marks, (0..30).collect::<Vec<u8>>());
}
