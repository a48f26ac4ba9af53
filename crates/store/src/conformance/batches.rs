//! Batches: whole, in any order, with any bytes.

use bytes::Bytes;
use model::Row;
use model::row::{METADATA_BYTES_MAX, VALUE_BYTES_MAX};

use super::Fixture;
use super::fixture::{batch, partition, row, rows};
use crate::Durability;

/// Writes rows into a fresh table and asserts that exactly `expected` is read.
async fn assert_reads(fixture: &Fixture, written: &[Row], expected: &[Row]) {
    let (table, at) = (fixture.made(1).await, partition("s"));
    fixture.write(&table, &at, written).await;
    assert!(fixture.read(&table, &at).await == expected, "what was read is not what was written");
}

/// Every row of an acknowledged batch is read.
pub async fn an_acknowledged_batch_is_read_whole(fixture: Fixture) {
    assert_reads(&fixture, &rows(100), &rows(100)).await;
}

/// Both durabilities are acknowledged, and their rows are read together.
pub async fn both_durabilities_are_read_at_once(fixture: Fixture) {
    let (table, at) = (fixture.made(1).await, partition("s"));
    for (row, durability) in
        rows(6).into_iter().zip([Durability::Synced, Durability::Buffered].into_iter().cycle())
    {
        fixture.store.upsert(batch(&table, &at, vec![row]), durability).await.expect("upsert");
    }
    assert_eq!(fixture.read(&table, &at).await, rows(6));
}

/// An empty batch succeeds and leaves no trace.
pub async fn an_empty_batch_leaves_no_trace(fixture: Fixture) {
    let table = fixture.made(1).await;
    for durability in [Durability::Synced, Durability::Buffered] {
        fixture.store.upsert(batch(&table, &partition("s"), Vec::new()), durability).await.expect("upsert");
    }
    assert_eq!(fixture.partitions(&table, 10).await, []);
    assert_eq!(fixture.measure(&table).await.sizes.count(), 0);
}

/// Rows need no order in a batch.
pub async fn rows_of_a_batch_come_in_any_order(fixture: Fixture) {
    let mut shuffled = rows(200);
    fastrand::Rng::with_seed(11).shuffle(&mut shuffled);
    assert_reads(&fixture, &shuffled, &rows(200)).await;
}

/// Two rows with one key in a batch are merged as two writes would be.
pub async fn duplicate_rows_in_a_batch_are_merged(fixture: Fixture) {
    let with = |write_time, value: &str| Row { write_time, ..row(5, "e", "i", value) };
    let written = [with(3, "b"), with(7, "a"), with(1, "c"), row(6, "e", "i", "z"), row(6, "e", "i", "y")];
    assert_reads(&fixture, &written, &[with(7, "a"), row(6, "e", "i", "z")]).await;
}

/// Items of one event lie together, in the order of their keys, whatever lies around them.
pub async fn items_of_one_event_stay_together(fixture: Fixture) {
    let ordered = [
        row(4, "z", "a", ""),
        row(5, "a", "z", ""),
        row(5, "e", "a", ""),
        row(5, "e", "b", ""),
        row(5, "e", "c", ""),
        row(5, "f", "a", ""),
        row(6, "e", "a", ""),
    ];
    let reversed: Vec<Row> = ordered.iter().rev().cloned().collect();
    assert_reads(&fixture, &reversed, &ordered).await;
}

/// Values are bytes: empty, zero, not text.
pub async fn values_are_any_bytes(fixture: Fixture) {
    let values: [&[u8]; 6] = [b"", b"\0", b"\0\0\0", b"\xFF\xFE", b"a\0b", b"\x80"];
    let written: Vec<Row> = (5..)
        .zip(values)
        .map(|(time, value)| Row { value: Bytes::copy_from_slice(value), ..row(time, "e", "i", "") })
        .collect();
    assert_reads(&fixture, &written, &written).await;
}

/// Metadata is bytes beside the value, and may be empty.
pub async fn metadata_is_kept_apart_from_the_value(fixture: Fixture) {
    let with = |time, value: &str, metadata: &'static [u8]| Row {
        metadata: Bytes::from_static(metadata),
        ..row(time, "e", "i", value)
    };
    let written = [
        with(1, "", b""),
        with(2, "", b"ab"),
        with(3, "ab", b""),
        with(4, "a", b"b"),
        with(5, "\0", b"\0\xFF"),
    ];
    assert_reads(&fixture, &written, &written).await;
}

/// The largest value and the largest metadata come back as they were.
pub async fn the_largest_row_is_kept(fixture: Fixture) {
    let noise = |seed, length| {
        let mut random = fastrand::Rng::with_seed(seed);
        Bytes::from_iter(std::iter::repeat_with(move || random.u8(..)).take(length))
    };
    let large = |seed, time| Row {
        value: noise(seed, VALUE_BYTES_MAX),
        metadata: noise(seed + 1, METADATA_BYTES_MAX),
        ..row(time, "e", "i", "")
    };
    let written = [row(1, "e", "i", "small"), large(1, 2), large(3, 3), row(4, "e", "i", "small")];
    assert_reads(&fixture, &written, &written).await;
}

/// A batch of many small rows is one batch.
pub async fn a_batch_may_have_many_rows(fixture: Fixture) {
    assert_reads(&fixture, &rows(5_000), &rows(5_000)).await;
}

/// Batches of different partitions do not meet.
pub async fn partitions_of_one_table_are_independent(fixture: Fixture) {
    let table = fixture.made(1).await;
    for series in ["a", "b", "c"] {
        fixture.write(&table, &partition(series), &[row(5, "e", "i", series)]).await;
    }
    for series in ["a", "b", "c"] {
        assert_eq!(fixture.read(&table, &partition(series)).await, [row(5, "e", "i", series)]);
    }
    assert_eq!(fixture.read(&table, &partition("d")).await, []);
}
