//! Deleted partitions: rows are hidden by their write times, which come from the clocks of many servers.

use std::sync::Arc;

use env::Env;
use model::{PartitionKey, Row, SeriesId};
use store::conformance::{Fixture, row};

use crate::shared;

const SECOND_MICROS: i64 = 1_000_000;

fn at() -> PartitionKey {
    PartitionKey { series: SeriesId::new("s").unwrap(), time_bucket: u32::MAX, event_bucket: 1 << 31 }
}

/// A row of a server whose clock is so much ahead.
fn ahead(time: i64, seconds: i64) -> Row {
    let write_time = Env::system().clock.wall() / 1_000 + seconds * SECOND_MICROS;
    Row { write_time, ..row(time, "e", "i", "v") }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_a_clock_that_is_ahead_go_too() {
    let fixture = Fixture::new(Arc::new(shared::store().await));
    let table = fixture.made(1).await;
    // The last one by more than clocks may be.
    let rows = [ahead(1, 0), ahead(2, 30), ahead(3, 600)];
    fixture.write(&table, &at(), &rows).await;
    fixture.delete(&table, &at()).await;
    assert_eq!(fixture.read(&table, &at()).await, rows[2..]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_after_its_deletion_stays_hidden() {
    let fixture = Fixture::new(Arc::new(shared::store().await));
    let table = fixture.made(1).await;
    fixture.delete(&table, &at()).await;
    fixture.write(&table, &at(), &[ahead(1, 0), row(2, "e", "i", "old")]).await;
    assert_eq!(fixture.read(&table, &at()).await, []);
    assert_eq!(fixture.partitions(&table, 10).await, []);
    assert_eq!(fixture.measure(&table).await.sizes.count(), 0);
}
