//! Histograms: measured ones are exact, cheap ones honest about how they were made.

use model::{HistogramQuality, Row, SizeHistogram, TableRef};

use super::Fixture;
use super::fixture::{bucket, partition, row, rows};
use crate::Effort;

/// Asserts that measuring gives exactly partitions of these sizes, and that a cheap answer called exact agrees.
async fn assert_sizes(fixture: &Fixture, table: &TableRef, sizes: &[u64]) {
    let mut expected = SizeHistogram::default();
    sizes.iter().for_each(|size| expected.record(*size));
    let measured = fixture.measure(table).await;
    assert_eq!(measured.quality, HistogramQuality::Exact);
    assert_eq!((measured.sizes.count(), measured.sizes.sum()), (expected.count(), expected.sum()));
    assert_eq!(measured.sizes, expected);
    assert_eq!(measured.summary, expected.summary());
    assert_cheap_is_honest(fixture, table, &expected).await;
}

async fn assert_cheap_is_honest(fixture: &Fixture, table: &TableRef, exact: &SizeHistogram) {
    let cheap = fixture.store.histogram(table, Effort::Cheap).await.expect("histogram");
    if cheap.quality == HistogramQuality::Exact {
        assert_eq!(cheap.sizes, *exact, "a cheap histogram that is called exact");
    }
}

fn bytes(rows: &[Row]) -> u64 {
    rows.iter().map(Row::logical_bytes).sum()
}

/// An empty table has no sizes.
pub async fn an_empty_table_has_no_sizes(fixture: Fixture) {
    let table = fixture.made(1).await;
    assert_sizes(&fixture, &table, &[]).await;
}

/// Partitions of known sizes are measured exactly.
pub async fn known_partitions_are_measured_exactly(fixture: Fixture) {
    let table = fixture.made(1).await;
    let mut sizes = Vec::new();
    for n in 1..=20 {
        let rows = rows(n * n);
        fixture.write(&table, &bucket("s", n, n % 3), &rows).await;
        sizes.push(bytes(&rows));
    }
    assert_sizes(&fixture, &table, &sizes).await;
}

/// Measuring again after later writes, new partitions and overwrites is right again.
pub async fn measuring_again_after_writes_is_right(fixture: Fixture) {
    let table = fixture.made(1).await;
    fixture.write(&table, &partition("a"), &rows(10)).await;
    assert_sizes(&fixture, &table, &[bytes(&rows(10))]).await;

    fixture.write(&table, &partition("b"), &rows(3)).await;
    fixture.write(&table, &partition("a"), &rows(15)).await;
    assert_sizes(&fixture, &table, &[bytes(&rows(15)), bytes(&rows(3))]).await;

    let shorter = [Row { write_time: 2_000, ..row(10, "event 0", "item", "") }];
    fixture.write(&table, &partition("b"), &shorter).await;
    let changed = bytes(&rows(3)) - bytes(&rows(1)) + bytes(&shorter);
    assert_sizes(&fixture, &table, &[bytes(&rows(15)), changed]).await;
}

/// A cheap answer that was exact is not called exact any more once a write has made it wrong.
pub async fn a_cheap_histogram_is_honest_after_writes(fixture: Fixture) {
    let table = fixture.made(1).await;
    fixture.write(&table, &partition("a"), &rows(10)).await;
    fixture.measure(&table).await;
    fixture.write(&table, &partition("a"), &rows(20)).await;
    let mut exact = SizeHistogram::default();
    exact.record(bytes(&rows(20)));
    assert_cheap_is_honest(&fixture, &table, &exact).await;
}

/// Measuring changes nothing: the same twice, and the rows stay.
pub async fn measuring_changes_nothing(fixture: Fixture) {
    let table = fixture.made(1).await;
    fixture.write(&table, &partition("a"), &rows(10)).await;
    let first = fixture.measure(&table).await;
    assert_eq!(fixture.measure(&table).await, first);
    assert_eq!(fixture.read(&table, &partition("a")).await, rows(10));
    assert_eq!(fixture.partitions(&table, 10).await, [partition("a")]);
}

/// Tables are measured each by itself.
pub async fn tables_are_measured_apart(fixture: Fixture) {
    let (one, other) = (fixture.made(1).await, fixture.made(2).await);
    fixture.write(&one, &partition("a"), &rows(10)).await;
    fixture.write(&other, &partition("a"), &rows(4)).await;
    assert_sizes(&fixture, &one, &[bytes(&rows(10))]).await;
    assert_sizes(&fixture, &other, &[bytes(&rows(4))]).await;
}

/// Many small partitions are all counted.
pub async fn many_partitions_are_all_counted(fixture: Fixture) {
    let (table, one) = (fixture.made(1).await, rows(1));
    for n in 0..500 {
        fixture.write(&table, &bucket("s", n, 0), &one).await;
    }
    assert_sizes(&fixture, &table, &[bytes(&one); 500]).await;
}
