//! Batches that are too large for one mutation, and events that are nearly so.

use std::sync::Arc;

use bytes::Bytes;
use model::{PartitionKey, Row, SeriesId};
use store::conformance::{Fixture, row};
use store::{Consistency, Durability, ErrorKind, PartitionBatch};

use crate::shared;

fn at() -> PartitionKey {
    PartitionKey { series: SeriesId::new("s").unwrap(), time_bucket: 0, event_bucket: 0 }
}

fn item(time: i64, item: usize, bytes: usize) -> Row {
    Row { value: Bytes::from(vec![7; bytes]), ..row(time, "event", &format!("{item:06}"), "") }
}

async fn check(rows: Vec<Row>, expect: Option<ErrorKind>) {
    let fixture = Fixture::new(Arc::new(shared::store().await));
    let table = fixture.made(1).await;
    let batch = PartitionBatch {
        table: table.clone(),
        partition: at(),
        rows: rows.clone(),
        consistency: Consistency::default(),
    };
    let outcome = fixture.store.upsert(batch, Durability::Synced).await;
    assert_eq!(outcome.map_err(|error| error.kind()).err(), expect);
    let expected = if expect.is_none() { rows } else { Vec::new() };
    assert!(fixture.read(&table, &at()).await == expected, "what was read is not what was written");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_largest_batch_is_written() {
    check((0..15).map(|time| item(time, 0, 1 << 20)).collect(), None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_batch_with_the_most_rows_is_written() {
    check((0..65_536).map(|time| row(time, "e", "i", "v")).collect(), None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_largest_event_of_a_request_is_one_mutation() {
    check((0..64).map(|number| item(5, number, 64 << 10)).collect(), None).await;
    check((0..11).map(|number| item(5, number, 1 << 20)).collect(), None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_cannot_be_kept_together_is_refused_before_anything_is_written() {
    let mut rows = vec![row(1, "small", "i", "v")];
    rows.extend((0..13).map(|number| item(5, number, 1 << 20)));
    check(rows, Some(ErrorKind::Invalid)).await;
}
