//! Random operations against a plain reference: what nobody thought of writing a case for.
//!
//! Everything is drawn from small sets, so that keys, times and bounds meet often. A failure names its seed.

use std::collections::BTreeSet;
use std::ops::Bound;

use bytes::Bytes;
use model::{HistogramQuality, Interval, ItemKey, Order, PartitionKey, Row, RowKey, TableRef};

use super::Fixture;
use super::fixture::{bucket, key};
use super::reference::Reference;
use crate::{Consistency, Scan, limits};

/// Runs, each from its own seed and in its own table.
const SEEDS: u32 = 30;
/// Operations of a run.
const OPERATIONS: usize = 150;
/// Event ids, item keys and series.
const NAMES: [&str; 5] = ["a", "a\0", "aa", "b", "\u{10FFFF}"];
/// Times lie below.
const TIMES: i64 = 12;

struct Draw(fastrand::Rng);

impl Draw {
    fn name(&mut self) -> &'static str {
        self.0.choice(NAMES).unwrap_or("a")
    }

    fn bytes(&mut self) -> Bytes {
        let length = self.0.usize(..6);
        std::iter::repeat_with(|| self.0.u8(..3)).take(length).collect()
    }

    fn partition(&mut self) -> PartitionKey {
        bucket(self.name(), self.0.u32(..2), self.0.u32(..2))
    }

    fn key(&mut self) -> RowKey {
        let key = key(self.0.i64(0..TIMES), self.name(), self.name());
        // As chunks have it; no client can write such a row.
        let is_packed = self.0.u8(..4) == 0;
        if is_packed { RowKey { item_key: ItemKey::from_stored(Bytes::new()), ..key } } else { key }
    }

    fn row(&mut self) -> Row {
        Row { key: self.key(), write_time: self.0.i64(0..6), value: self.bytes(), metadata: self.bytes() }
    }

    fn rows(&mut self) -> Vec<Row> {
        let count = self.0.usize(..12);
        (0..count).map(|_| self.row()).collect()
    }

    fn scan(&mut self, table: &TableRef) -> Scan {
        let (one, other) = (self.0.i64(-1..TIMES + 2), self.0.i64(-1..TIMES + 2));
        let clipped = Interval::new(one.min(other), one.max(other)).expect("ordered");
        Scan {
            table: table.clone(),
            partition: self.partition(),
            order: if self.0.bool() { Order::OldestFirst } else { Order::NewestFirst },
            interval: if self.0.bool() { Interval::ALL } else { clipped },
            from: match self.0.u8(..3) {
                0 => Bound::Unbounded,
                1 => Bound::Included(self.key()),
                _ => Bound::Excluded(self.key()),
            },
            rows_max: if self.0.bool() { limits::SCAN_ROWS_MAX } else { self.0.usize(1..10) },
            bytes_max: if self.0.bool() { limits::SCAN_BYTES_MAX } else { self.0.u64(1..120) },
            consistency: Consistency::default(),
            hedge_after: None,
            ahead: self.0.bool(),
        }
    }
}

async fn assert_scan(fixture: &Fixture, reference: &Reference, scan: Scan, seed: u32) {
    let expected = reference.scan(&scan);
    let page = fixture.store.scan(scan.clone()).await.expect("scan");
    assert_eq!((&page.rows, page.bytes), (&expected.rows, expected.bytes), "seed {seed}: {scan:?}");
    // Where the page ends exactly at the last row, a backend may not know that nothing follows.
    let full = page.rows.len() == scan.rows_max || page.bytes >= scan.bytes_max;
    assert!(
        page.more == expected.more || (full && page.more),
        "seed {seed}: more is {}: {scan:?}",
        page.more
    );
    assert_headers(fixture, reference, scan, expected.rows.len(), seed).await;
}

/// The same without values. What is left out may make room for more rows.
async fn assert_headers(fixture: &Fixture, reference: &Reference, scan: Scan, rows_min: usize, seed: u32) {
    let light = reference.scan(&Scan { bytes_max: limits::SCAN_BYTES_MAX, ..scan.clone() });
    let all = light.without_values().rows;
    let page = fixture.store.scan_headers(scan.clone()).await.expect("scan");
    let found = page.rows.len();
    assert!((rows_min..=all.len()).contains(&found), "seed {seed}: {found} headers: {scan:?}");
    assert!(page.rows.iter().eq(all.iter().take(found)), "seed {seed}: {:?}: {scan:?}", page.rows);
    assert!(page.more || (found == all.len() && !light.more), "seed {seed}: {found} headers: {scan:?}");
}

async fn run(fixture: &Fixture, seed: u32) {
    let (table, mut reference) = (fixture.made(seed).await, Reference::default());
    let mut draw = Draw(fastrand::Rng::with_seed(u64::from(seed)));
    let mut deleted = BTreeSet::new();
    for _ in 0..OPERATIONS {
        match draw.0.u8(..21) {
            0..9 => {
                let (at, rows) = (draw.partition(), draw.rows());
                // Nobody writes to what was deleted.
                if !deleted.contains(&at) {
                    fixture.write(&table, &at, &rows).await;
                    reference.upsert(&at, &rows);
                }
            }
            9..18 => assert_scan(fixture, &reference, draw.scan(&table), seed).await,
            18 => {
                let mut found = fixture.partitions(&table, draw.0.usize(1..30)).await;
                found.sort();
                assert_eq!(found, reference.partitions(), "seed {seed}");
            }
            19 => {
                let at = draw.partition();
                fixture.delete(&table, &at).await;
                reference.delete(&at);
                deleted.insert(at);
            }
            _ => {
                let histogram = fixture.measure(&table).await;
                assert_eq!(histogram.quality, HistogramQuality::Exact, "seed {seed}");
                assert_eq!(histogram.sizes, reference.sizes(), "seed {seed}");
            }
        }
    }
    fixture.store.drop_table(&table).await.expect("drop");
}

/// Random operations give what the reference gives.
pub async fn random_operations_agree_with_the_reference(fixture: Fixture) {
    for seed in 0..SEEDS {
        run(&fixture, seed).await;
    }
}
