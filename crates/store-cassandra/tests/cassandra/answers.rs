//! How many answers of the node a scan takes: one where rows are alike, two where nobody has read any, never many.
//!
//! The node counts the reads of every table; with one replica each of them is one answer.

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use model::{Interval, Order, PartitionKey, Row, SeriesId, TableRef};
use scylla::client::session::Session;
use store::conformance::{Fixture, row};
use store::{Consistency, Scan, ScanPage};

use crate::{node, shared};

/// What the engine asks for in one scan, at most.
const ROWS_MAX: usize = 8_192;
const BYTES_MAX: u64 = 2 << 20;

fn of(series: &str) -> PartitionKey {
    PartitionKey { series: SeriesId::new(series).unwrap(), time_bucket: 0, event_bucket: 0 }
}

/// Rows with values of so many bytes, a little more than one scan takes.
fn rows(value_bytes: usize) -> Vec<Row> {
    let count = (usize::try_from(BYTES_MAX).unwrap() / value_bytes + 2).min(ROWS_MAX + 2);
    let value = Bytes::from(vec![7; value_bytes]);
    (0..count)
        .map(|n| Row {
            value: value.clone(),
            ..row(i64::try_from(n).unwrap() + 10, &format!("{n:08}"), "item", "")
        })
        .collect()
}

async fn reads(session: &Session, table: &TableRef) -> i64 {
    let text = "SELECT count FROM system_views.local_read_latency WHERE keyspace_name = ? AND table_name = ?";
    let values = (node::keyspace(table), table.name.as_str());
    let answer = session.query_unpaged(text, values).await.unwrap().into_rows_result().unwrap();
    answer.first_row::<(i64,)>().unwrap().0
}

struct Counted {
    fixture: Fixture,
    table: TableRef,
    session: Session,
}

impl Counted {
    async fn new() -> Self {
        let fixture = Fixture::new(Arc::new(shared::store().await));
        Self { table: fixture.made(1).await, fixture, session: node::session().await }
    }

    async fn write(&self, series: &str, rows: &[Row]) {
        self.fixture.write(&self.table, &of(series), rows).await;
    }

    /// One scan, and how many answers it took.
    async fn scan(&self, series: &str) -> (ScanPage, i64) {
        let before = reads(&self.session, &self.table).await;
        let scan = Scan {
            table: self.table.clone(),
            partition: of(series),
            order: Order::NewestFirst,
            interval: Interval::ALL,
            from: Bound::Unbounded,
            rows_max: ROWS_MAX,
            bytes_max: BYTES_MAX,
            consistency: Consistency::default(),
            hedge_after: None,
            ahead: false,
        };
        let page = self.fixture.store.scan(scan).await.unwrap();
        (page, reads(&self.session, &self.table).await - before)
    }
}

async fn check(value_bytes: usize, first: i64) {
    let counted = Counted::new().await;
    let rows = rows(value_bytes);
    counted.write("s", &rows).await;
    for expect in [first, 1, 1] {
        let (page, answers) = counted.scan("s").await;
        let full = page.rows.len() == ROWS_MAX || page.bytes >= BYTES_MAX;
        assert!(full && page.more, "{} rows, {} bytes", page.rows.len(), page.bytes);
        assert_eq!(answers, expect, "rows of {value_bytes} bytes");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_of_small_rows_is_one_answer_and_the_first_ever_two() {
    check(20, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_of_rows_of_a_kilobyte_is_one_answer_and_the_first_ever_two() {
    check(1_000, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_of_large_rows_is_one_answer() {
    check(200_000, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn small_rows_beside_large_ones_take_two_answers_not_many() {
    let counted = Counted::new().await;
    counted.write("large", &rows(200_000)).await;
    counted.write("small", &rows(20)).await;
    counted.scan("large").await;
    let (page, answers) = counted.scan("small").await;
    assert_eq!((page.rows.len(), answers), (ROWS_MAX, 2));
}
