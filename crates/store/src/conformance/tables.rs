//! Tables: made, listed, dropped, made again, independent of one another.

use model::TableRef;

use super::fixture::{batch, partition, row, scan};
use super::{Fixture, parallel};
use crate::{Consistency, Durability, Effort, Enumerate, ErrorKind, Storage, TableOutcome};

/// Only this case's tables, in the order of the list.
async fn listed(fixture: &Fixture) -> Vec<TableRef> {
    let tables = fixture.store.list_tables().await.expect("list");
    assert!(tables.is_sorted(), "tables are listed in order");
    tables.into_iter().filter(|table| table.namespace == fixture.namespace).collect()
}

/// A table that was made is listed, and it is empty.
pub async fn a_table_is_made(fixture: Fixture) {
    assert_eq!(listed(&fixture).await, []);
    let table = fixture.made(1).await;
    assert_eq!(listed(&fixture).await, std::slice::from_ref(&table));
    assert_eq!(fixture.read(&table, &partition("s")).await, []);
    assert_eq!(fixture.partitions(&table, 10).await, []);
}

/// Making a table twice leaves it as it is.
pub async fn making_a_table_again_keeps_its_rows(fixture: Fixture) {
    let (table, rows) = (fixture.made(1).await, [row(5, "e", "i", "v")]);
    fixture.write(&table, &partition("s"), &rows).await;
    assert_eq!(
        fixture.store.create_table(&table, &Storage::default()).await.expect("create"),
        TableOutcome::Already
    );
    assert_eq!(fixture.read(&table, &partition("s")).await, rows);
}

/// The list has every table, in the order of their names whatever the order in which they were made.
pub async fn tables_are_listed_in_order(fixture: Fixture) {
    for number in [5, 1, 9, 3] {
        fixture.made(number).await;
    }
    assert_eq!(listed(&fixture).await, [1, 3, 5, 9].map(|number| fixture.table(number)));
}

/// A dropped table is gone; dropping it again says so.
pub async fn a_table_is_dropped_once(fixture: Fixture) {
    let (one, other) = (fixture.made(1).await, fixture.made(2).await);
    assert_eq!(fixture.store.drop_table(&one).await.expect("drop"), TableOutcome::Done);
    assert_eq!(fixture.store.drop_table(&one).await.expect("drop"), TableOutcome::Already);
    assert_eq!(listed(&fixture).await, [other]);
}

/// Dropping what was never made is no error.
pub async fn dropping_what_was_never_made_changes_nothing(fixture: Fixture) {
    assert_eq!(fixture.store.drop_table(&fixture.table(7)).await.expect("drop"), TableOutcome::Already);
    assert_eq!(listed(&fixture).await, []);
}

async fn assert_refused(fixture: &Fixture, table: &TableRef) {
    let (store, at) = (&fixture.store, partition("s"));
    let enumerate = Enumerate {
        table: table.clone(),
        after: None,
        partitions_max: 10,
        consistency: Consistency::default(),
    };
    let errors = [
        store.scan(scan(table, &at)).await.expect_err("scan"),
        store
            .upsert(batch(table, &at, vec![row(5, "e", "i", "v")]), Durability::Synced)
            .await
            .expect_err("upsert"),
        store.upsert(batch(table, &at, Vec::new()), Durability::Buffered).await.expect_err("empty upsert"),
        store.delete_partition(table, &at, Consistency::default()).await.expect_err("delete"),
        store.enumerate(enumerate).await.expect_err("enumerate"),
        store.histogram(table, Effort::Cheap).await.expect_err("cheap histogram"),
        store.histogram(table, Effort::Measure).await.expect_err("measured histogram"),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::NoTable, "{error}");
    }
}

/// Nothing can be read from or written to a table that was never made.
pub async fn a_table_that_was_never_made_refuses_everything(fixture: Fixture) {
    assert_refused(&fixture, &fixture.table(1)).await;
}

/// Nothing can be read from or written to a dropped table, and a refused write does not bring it back.
pub async fn a_dropped_table_refuses_everything(fixture: Fixture) {
    let table = fixture.made(1).await;
    fixture.write(&table, &partition("s"), &[row(5, "e", "i", "v")]).await;
    fixture.measure(&table).await;
    fixture.store.drop_table(&table).await.expect("drop");
    assert_refused(&fixture, &table).await;
    assert_eq!(listed(&fixture).await, []);
}

/// A table made again under an old name has nothing of the old one, not even where old writes were newer.
pub async fn a_table_made_again_is_empty(fixture: Fixture) {
    let (table, at) = (fixture.made(1).await, partition("s"));
    let mut newer = row(5, "e", "i", "old");
    newer.write_time = 9_000_000_000_000_000;
    fixture.write(&table, &at, &[newer]).await;
    fixture.measure(&table).await;
    fixture.store.drop_table(&table).await.expect("drop");
    fixture.made(1).await;
    assert_eq!(fixture.read(&table, &at).await, []);
    assert_eq!(fixture.partitions(&table, 10).await, []);
    assert_eq!(fixture.measure(&table).await.sizes.count(), 0);

    let older = [row(5, "e", "i", "new")];
    fixture.write(&table, &at, &older).await;
    assert_eq!(fixture.read(&table, &at).await, older);
}

/// The same partition in two tables holds different rows, and one table outlives the other.
pub async fn tables_are_independent(fixture: Fixture) {
    let (one, other, at) = (fixture.made(1).await, fixture.made(2).await, partition("s"));
    fixture.write(&one, &at, &[row(5, "e", "i", "one")]).await;
    fixture.write(&other, &at, &[row(5, "e", "i", "other")]).await;
    fixture.store.drop_table(&one).await.expect("drop");
    assert_eq!(fixture.read(&other, &at).await, [row(5, "e", "i", "other")]);
    assert_eq!(fixture.partitions(&other, 10).await, [at]);
}

/// The same table name in another incarnation of the namespace is another table.
pub async fn incarnations_are_independent(fixture: Fixture) {
    let (first, at) = (fixture.made(1).await, partition("s"));
    fixture.write(&first, &at, &[row(5, "e", "i", "first")]).await;
    let again = Fixture { incarnation: 2, ..fixture.clone() };
    let second = again.made(1).await;
    assert_eq!(again.read(&second, &at).await, []);
    assert_eq!(listed(&fixture).await, [first.clone(), second.clone()]);
    again.store.drop_table(&second).await.expect("drop");
    assert_eq!(fixture.read(&first, &at).await, [row(5, "e", "i", "first")]);
}

/// Of many that make the same table at once, one has made it and the others found it.
pub async fn one_of_many_creators_makes_the_table(fixture: Fixture) {
    let creators =
        (0..8).map(|_| {
            let fixture = fixture.clone();
            async move {
                fixture.store.create_table(&fixture.table(1), &Storage::default()).await.expect("create")
            }
        });
    let outcomes = parallel::all(creators).await;
    let done = outcomes.iter().filter(|outcome| **outcome == TableOutcome::Done).count();
    assert_eq!(done, 1, "{outcomes:?}");
    assert_eq!(listed(&fixture).await, [fixture.table(1)]);
}

/// A store in which nothing went wrong takes writes.
pub async fn a_healthy_store_is_ready(fixture: Fixture) {
    fixture.store.ready().await.expect("ready");
}

/// Whoever can see its disks says which share of the fullest is used: some of it, and not more than there is.
pub async fn a_disk_is_used_in_part(fixture: Fixture) {
    let share = fixture.store.disk_share().await.expect("disk share");
    assert!(share.is_none_or(|share| (0.0..=1.0).contains(&share)), "{share:?}");
}
