//! Deleted partitions: all of their rows are gone and nothing else is. No case writes to a partition that it deleted.

use model::{HistogramQuality, Order, PartitionKey, Row, SizeHistogram, TableRef};

use super::fixture::{bucket, partition, rows, scan};
use super::{Fixture, parallel};
use crate::{Consistency, Effort, Named, Scan};

/// More rows than a store removes in one step.
const MANY: u32 = 20_000;

/// Asserts that nothing shows that the partition was ever there.
async fn assert_gone(fixture: &Fixture, table: &TableRef, at: &PartitionKey) {
    for order in [Order::OldestFirst, Order::NewestFirst] {
        assert_eq!(fixture.walk(Scan { order, ..scan(table, at) }).await, [], "{at:?}");
    }
    let listed = fixture.partitions(table, 1_000).await;
    assert!(!listed.contains(at), "{at:?} is listed");
}

/// Every row of a deleted partition is gone, with all that it replaced.
pub async fn a_deleted_partition_is_empty(fixture: Fixture) {
    let (table, at) = (fixture.made(1).await, partition("s"));
    for write_time in [1, 3, 2] {
        let again: Vec<Row> = rows(50).into_iter().map(|row| Row { write_time, ..row }).collect();
        fixture.write(&table, &at, &again).await;
    }
    fixture.delete(&table, &at).await;
    assert_gone(&fixture, &table, &at).await;
    assert_eq!(fixture.measure(&table).await.sizes.count(), 0);
}

/// Partitions beside a deleted one keep every row: other buckets of its series, and series whose names are nearly the same.
pub async fn neighbours_of_a_deleted_partition_stay(fixture: Fixture) {
    let (table, at) = (fixture.made(1).await, bucket("marks", 1, 1));
    let mut others = vec![
        bucket("marks", 0, 1),
        bucket("marks", 2, 1),
        bucket("marks", 1, 0),
        bucket("marks", 1, 2),
        bucket("marks", 1, 0x0100),
        bucket("marks", 0x0100, 1),
        bucket("marks", u32::MAX, u32::MAX),
    ];
    others
        .extend(["mark", "marks\0", "marks ", "marksa", "markr", "markt", "Marks"].map(|s| bucket(s, 1, 1)));
    for partition in others.iter().chain([&at]) {
        fixture.write(&table, partition, &rows(5)).await;
    }
    fixture.delete(&table, &at).await;
    assert_gone(&fixture, &table, &at).await;
    for other in &others {
        assert_eq!(fixture.read(&table, other).await, rows(5), "{other:?}");
    }
    let mut listed = fixture.partitions(&table, 3).await;
    listed.sort();
    others.sort();
    assert_eq!(listed, others);
}

/// The same partition of another table, or of another incarnation, stays.
pub async fn a_deletion_stays_in_its_table(fixture: Fixture) {
    let (one, other, at) = (fixture.made(1).await, fixture.made(2).await, partition("s"));
    let again = Fixture { incarnation: 2, ..fixture.clone() };
    let third = again.made(1).await;
    for table in [&one, &other, &third] {
        fixture.write(table, &at, &rows(5)).await;
    }
    fixture.delete(&one, &at).await;
    assert_gone(&fixture, &one, &at).await;
    assert_eq!(fixture.read(&other, &at).await, rows(5));
    assert_eq!(fixture.read(&third, &at).await, rows(5));
}

/// Deleting twice is deleting once.
pub async fn deleting_again_changes_nothing(fixture: Fixture) {
    let (table, at, other) = (fixture.made(1).await, partition("a"), partition("b"));
    fixture.write(&table, &at, &rows(5)).await;
    fixture.write(&table, &other, &rows(5)).await;
    for _ in 0..3 {
        fixture.delete(&table, &at).await;
        assert_gone(&fixture, &table, &at).await;
        assert_eq!(fixture.read(&table, &other).await, rows(5));
    }
}

/// What was never written can be deleted, and that leaves no trace.
pub async fn deleting_what_was_never_written_succeeds(fixture: Fixture) {
    let table = fixture.made(1).await;
    fixture.delete(&table, &partition("nothing")).await;
    fixture.write(&table, &partition("s"), &rows(5)).await;
    fixture.delete(&table, &bucket("s", 0, 1)).await;
    fixture.delete(&table, &partition("nothing")).await;
    assert_eq!(fixture.partitions(&table, 10).await, [partition("s")]);
    assert_eq!(fixture.read(&table, &partition("s")).await, rows(5));
    assert_eq!(fixture.measure(&table).await.sizes.count(), 1);
}

/// A partition with more rows than one step takes is deleted whole, and ends where it ends.
pub async fn a_large_partition_is_deleted_whole(fixture: Fixture) {
    let table = fixture.made(1).await;
    let (before, at, behind) = (bucket("s", 6, 9), bucket("s", 7, 0), bucket("s", 7, 1));
    for part in rows(MANY).chunks(5_000) {
        fixture.write(&table, &at, part).await;
    }
    let newer: Vec<Row> = rows(MANY / 4).into_iter().map(|row| Row { write_time: 2_000, ..row }).collect();
    fixture.write(&table, &at, &newer).await;
    for neighbour in [&before, &behind] {
        fixture.write(&table, neighbour, &rows(100)).await;
    }
    fixture.delete(&table, &at).await;
    assert_gone(&fixture, &table, &at).await;
    for neighbour in [&before, &behind] {
        assert_eq!(fixture.read(&table, neighbour).await, rows(100));
    }
}

/// A partition is gone for whoever asks as it was deleted.
pub async fn every_consistency_deletes(fixture: Fixture) {
    let table = fixture.made(1).await;
    for (number, consistency) in (0..).zip(Consistency::ALL) {
        let (asking, at) = (Fixture { consistency: *consistency, ..fixture.clone() }, bucket("s", number, 0));
        asking.write(&table, &at, &rows(5)).await;
        asking.delete(&table, &at).await;
        assert_gone(&asking, &table, &at).await;
    }
}

/// A measurement from before a deletion is not shown as exact after it, and the next one is right.
pub async fn sizes_are_honest_after_a_deletion(fixture: Fixture) {
    let (table, small, large) = (fixture.made(1).await, partition("small"), partition("large"));
    fixture.write(&table, &small, &rows(3)).await;
    fixture.write(&table, &large, &rows(5_000)).await;
    assert_eq!(fixture.measure(&table).await.sizes.count(), 2);

    fixture.delete(&table, &large).await;
    let mut left = SizeHistogram::default();
    left.record(rows(3).iter().map(Row::logical_bytes).sum());
    let cheap = fixture.store.histogram(&table, Effort::Cheap).await.expect("histogram");
    assert!(cheap.quality != HistogramQuality::Exact || cheap.sizes == left, "{cheap:?}");
    let measured = fixture.measure(&table).await;
    assert_eq!((measured.quality, measured.sizes), (HistogramQuality::Exact, left));
}

/// Partitions deleted at once, beside one that is written meanwhile: all of them go, and it loses nothing.
pub async fn deletions_and_writes_do_not_disturb_each_other(fixture: Fixture) {
    let (table, written) = (fixture.made(1).await, partition("written"));
    let doomed: Vec<PartitionKey> = (0..6).map(|n| bucket("doomed", n, 0)).collect();
    for at in &doomed {
        fixture.write(&table, at, &rows(500)).await;
    }
    let deleting = {
        let (fixture, table, doomed) = (fixture.clone(), table.clone(), doomed.clone());
        let delete = move |at| {
            let (fixture, table) = (fixture.clone(), table.clone());
            async move { fixture.delete(&table, &at).await }
        };
        parallel::all(doomed.into_iter().map(delete))
    };
    let writing = {
        let (fixture, table, at) = (fixture.clone(), table.clone(), written.clone());
        async move {
            for row in rows(100) {
                fixture.write(&table, &at, &[row]).await;
            }
        }
    };
    parallel::both(deleting, writing).await;
    assert_eq!(fixture.read(&table, &written).await, rows(100));
    assert_eq!(fixture.partitions(&table, 10).await, [written]);
    for at in &doomed {
        assert_gone(&fixture, &table, at).await;
    }
}
