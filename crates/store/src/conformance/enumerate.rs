//! Enumerations: every partition once, always in the same order, from any place on.

use model::{PartitionKey, Row, TableRef};

use super::Fixture;
use super::fixture::{bucket, partition, row, rows};
use crate::{Consistency, Enumerate, ErrorKind};

/// A table with 30 partitions of one row; returns them sorted.
async fn filled(fixture: &Fixture) -> (TableRef, Vec<PartitionKey>) {
    let table = fixture.made(1).await;
    let mut partitions = Vec::new();
    for n in 0..10 {
        partitions.push(partition(&format!("series {n}")));
        partitions.push(bucket("one series", n, 0));
        partitions.push(bucket("other series", 0, n));
    }
    for at in &partitions {
        fixture.write(&table, at, &[row(5, "e", "i", "v")]).await;
    }
    partitions.sort();
    (table, partitions)
}

fn sorted(mut partitions: Vec<PartitionKey>) -> Vec<PartitionKey> {
    partitions.sort();
    partitions
}

/// Pages of any size list every partition once.
pub async fn pages_of_any_size_list_every_partition_once(fixture: Fixture) {
    let (table, expected) = filled(&fixture).await;
    for partitions_max in [1, 3, 29, 30, 31, 1_000] {
        let found = fixture.partitions(&table, partitions_max).await;
        assert_eq!(sorted(found), expected, "{partitions_max} a page");
    }
}

/// The order is the same every time, whatever the size of a page.
pub async fn the_order_is_always_the_same(fixture: Fixture) {
    let (table, _) = filled(&fixture).await;
    let order = fixture.partitions(&table, 1_000).await;
    for partitions_max in [1, 4, 1_000] {
        assert_eq!(fixture.partitions(&table, partitions_max).await, order);
    }
}

/// A partition is a place: behind it the same rest comes again and again, with pages of another size.
pub async fn a_place_can_be_used_again(fixture: Fixture) {
    let (table, _) = filled(&fixture).await;
    let order = fixture.partitions(&table, 1_000).await;
    let (first, next) = fixture.partitions_page(&table, None, 10).await;
    let place = next.expect("more partitions follow");
    for partitions_max in [1, 7, 1_000] {
        let mut found = first.clone();
        found.extend(fixture.partitions_after(&table, Some(place.clone()), partitions_max).await);
        assert_eq!(found, order, "{partitions_max} a page");
    }
}

/// A place stays valid while partitions are written: those there before all come, none twice.
pub async fn a_place_outlives_writes(fixture: Fixture) {
    let (table, before) = filled(&fixture).await;
    let (mut found, place) = fixture.partitions_page(&table, None, 7).await;
    for n in 0..40 {
        fixture.write(&table, &partition(&format!("later {n}")), &[row(5, "e", "i", "v")]).await;
    }
    for at in &before {
        fixture.write(&table, at, &[row(6, "e", "i", "v")]).await;
    }
    assert!(place.is_some(), "more partitions follow");
    found.extend(fixture.partitions_after(&table, place, 7).await);
    let mut once = sorted(found.clone());
    once.dedup();
    assert_eq!(once.len(), found.len(), "a partition came twice");
    assert!(
        before.iter().all(|at| once.binary_search(at).is_ok()),
        "a partition that was there before is missing"
    );
}

/// A partition with many rows is one entry.
pub async fn a_partition_with_many_rows_is_listed_once(fixture: Fixture) {
    let table = fixture.made(1).await;
    for series in ["a", "b"] {
        for part in rows(2_000).chunks(500) {
            fixture.write(&table, &partition(series), part).await;
        }
    }
    fixture.write(&table, &partition("c"), &rows(1)).await;
    for partitions_max in [1, 1_000] {
        let found = sorted(fixture.partitions(&table, partitions_max).await);
        assert_eq!(found, ["a", "b", "c"].map(partition));
    }
}

/// A partition whose rows were overwritten is one entry.
pub async fn an_overwritten_partition_is_listed_once(fixture: Fixture) {
    let (table, expected) = filled(&fixture).await;
    for write_time in [1, 2_000, 3_000] {
        for at in &expected {
            fixture.write(&table, at, &[Row { write_time, ..row(5, "e", "i", "again") }]).await;
        }
    }
    assert_eq!(sorted(fixture.partitions(&table, 4).await), expected);
}

/// A partition counts from its first row on.
pub async fn a_new_partition_is_listed_at_once(fixture: Fixture) {
    let table = fixture.made(1).await;
    for n in 0..10_u32 {
        assert_eq!(fixture.partitions(&table, 1_000).await.len(), n as usize);
        fixture.write(&table, &partition(&format!("series {n}")), &rows(1)).await;
    }
}

/// After a drop nothing is listed under the name, and a place from before finds nothing old.
pub async fn nothing_is_listed_after_a_drop(fixture: Fixture) {
    let (table, _) = filled(&fixture).await;
    let (_, place) = fixture.partitions_page(&table, None, 3).await;
    fixture.store.drop_table(&table).await.expect("drop");
    let request = Enumerate {
        table: table.clone(),
        after: place.clone(),
        partitions_max: 5,
        consistency: Consistency::default(),
    };
    let error = fixture.store.enumerate(request).await.expect_err("the table is gone");
    assert_eq!(error.kind(), ErrorKind::NoTable);

    fixture.made(1).await;
    assert_eq!(fixture.partitions(&table, 10).await, []);
    assert_eq!(fixture.partitions_page(&table, place, 10).await, (Vec::new(), None));
}

/// Behind a partition that does not exist the enumeration goes on with those that would come behind it.
pub async fn a_place_needs_no_partition(fixture: Fixture) {
    let (table, _) = filled(&fixture).await;
    for absent in [partition("series 5x"), bucket("one series", 77, 1), bucket("z", u32::MAX, u32::MAX)] {
        let behind = fixture.partitions_after(&table, Some(absent.clone()), 4).await;
        fixture.write(&table, &absent, &[row(5, "e", "i", "v")]).await;
        let order = fixture.partitions(&table, 1_000).await;
        let place = order.iter().position(|at| *at == absent).expect("it was just written");
        assert_eq!(Some(behind.as_slice()), order.get(place + 1..), "{absent:?}");
    }
}
