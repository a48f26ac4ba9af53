//! Scans: direction, interval and where they begin.

use std::ops::Bound;

use bytes::Bytes;
use model::{EventId, Interval, ItemKey, Order, Row, RowKey, Timestamp};

use super::Fixture;
use super::fixture::{key, partition, row, rows, scan};
use crate::Scan;

const BOTH: [Order; 2] = [Order::OldestFirst, Order::NewestFirst];

fn interval(start: i64, end: i64) -> Interval {
    Interval::new(start, end).expect("interval")
}

/// A partition with three events of two items at each of the times 10, 20 and 30.
async fn grid(fixture: &Fixture) -> (Scan, Vec<Row>) {
    let (table, at) = (fixture.made(1).await, partition("s"));
    let mut rows = Vec::new();
    for time in [10, 20, 30] {
        for event in ["b", "d", "f"] {
            rows.extend(["m", "q"].map(|item| row(time, event, item, "v")));
        }
    }
    fixture.write(&table, &at, &rows).await;
    (scan(&table, &at), rows)
}

/// Asserts that a scan returns exactly the rows of `all` that pass, in its direction.
async fn assert_scan(fixture: &Fixture, scan: &Scan, all: &[Row], passes: impl Fn(&RowKey) -> bool) {
    let mut expected: Vec<Row> = all.iter().filter(|row| passes(&row.key)).cloned().collect();
    expected.sort_by(|a, b| scan.order.compare(&a.key, &b.key));
    let page = fixture.store.scan(scan.clone()).await.expect("scan");
    assert_eq!(page.rows.to_vec(), expected, "{:?} {:?} {:?}", scan.order, scan.interval, scan.from);
    assert!(!page.more, "nothing follows");
}

/// Newest first is the exact reverse of oldest first.
pub async fn both_orders_read_the_same_rows(fixture: Fixture) {
    let (scan, rows) = grid(&fixture).await;
    for order in BOTH {
        assert_scan(&fixture, &Scan { order, ..scan.clone() }, &rows, |_| true).await;
    }
}

/// Every row without its value from where `scan` begins, page by page.
async fn walk_headers(fixture: &Fixture, mut scan: Scan) -> Vec<Row> {
    let mut found = Vec::new();
    loop {
        let page = fixture.store.scan_headers(scan.clone()).await.expect("scan");
        assert_eq!(page.bytes, page.rows.iter().map(|row| row.logical_bytes()).sum::<u64>());
        assert!(page.rows.len() <= scan.rows_max, "{} rows, asked for {}", page.rows.len(), scan.rows_max);
        found.extend(page.rows.to_vec());
        if !page.more {
            return found;
        }
        scan.from = Bound::Excluded(page.rows.last().expect("some before more").key);
    }
}

/// Asserts that pages of these limits give `rows`, with values and without, in both directions.
async fn assert_walks(fixture: &Fixture, scan: &Scan, rows: &[Row]) {
    for order in BOTH {
        let (scan, mut rows) = (Scan { order, ..scan.clone() }, rows.to_vec());
        rows.sort_by(|a, b| order.compare(&a.key, &b.key));
        let of = format!("{order:?} {} {}", scan.rows_max, scan.bytes_max);
        assert_eq!(fixture.walk(scan.clone()).await, rows, "{of}");
        rows.iter_mut().for_each(|row| row.value = Bytes::new());
        assert_eq!(walk_headers(fixture, scan).await, rows, "{of}");
    }
}

/// A scan of headers gives the same rows in the same order, each with an empty value, and goes on like any other.
pub async fn headers_are_the_same_rows_without_values(fixture: Fixture) {
    let (scan, rows) = grid(&fixture).await;
    assert_walks(&fixture, &Scan { rows_max: 7, ..scan }, &rows).await;
}

/// Rows without item key, which no client can write and chunks are, are read like all, with values and without: by pages of any
/// size and weight, among other rows, where one write replaced another and where two had the same time.
pub async fn rows_without_an_item_key_are_read_like_all(fixture: Fixture) {
    let (table, at) = (fixture.made(1).await, partition("s"));
    let packed = |time: i64, write_time, value: String| {
        let item_key = ItemKey::from_stored(Bytes::new());
        let (key, metadata) =
            (RowKey { item_key, ..key(time, "e", "i") }, Bytes::from(format!("header {time}")));
        Row { key, write_time, metadata, value: value.into() }
    };
    let mut rows: Vec<Row> =
        (0..8_u8).map(|n| packed(n.into(), 9, "v".repeat(usize::from(n) * 40))).collect();
    let older =
        [packed(1, 8, "older and longer than the later one".repeat(9)), packed(6, 8, "older".to_owned())];
    let tied = [packed(2, 9, "u".repeat(900)), packed(5, 9, String::new())];
    rows.extend([0, 3, 4, 7].map(|time| row(time, "e", "i", "beside")));
    rows.extend([2, 3].map(|time| row(time, "f", "i", "between")));
    for part in [&older[..], &rows, &tied] {
        fixture.write(&table, &at, part).await;
    }
    for rows_max in [1, 2, 5, rows.len(), rows.len() + 1] {
        assert_walks(&fixture, &Scan { rows_max, ..scan(&table, &at) }, &rows).await;
    }
    for bytes_max in [1, 30, 150, 400, 5_000] {
        assert_walks(&fixture, &Scan { bytes_max, ..scan(&table, &at) }, &rows).await;
    }
    let sizes = fixture.measure(&table).await.sizes;
    assert_eq!((sizes.count(), sizes.sum()), (1, rows.iter().map(Row::logical_bytes).sum::<u64>()));
}

/// A partition that was never written is empty.
pub async fn an_unwritten_partition_is_empty(fixture: Fixture) {
    let (scan, _) = grid(&fixture).await;
    for order in BOTH {
        for from in [Bound::Unbounded, Bound::Included(key(20, "d", "m")), Bound::Excluded(key(20, "d", "m"))]
        {
            let empty = Scan { partition: partition("other"), order, from, ..scan.clone() };
            assert_scan(&fixture, &empty, &[], |_| true).await;
        }
    }
}

/// The start of an interval belongs to it, its end does not.
pub async fn intervals_hold_their_start_and_not_their_end(fixture: Fixture) {
    let (scan, rows) = grid(&fixture).await;
    for start in [0, 9, 10, 11, 20, 30, 31] {
        for end in [start, 10, 11, 20, 21, 30, 31, 99] {
            for order in BOTH {
                if start > end {
                    continue;
                }
                let clipped = Scan { order, interval: interval(start, end), ..scan.clone() };
                assert_scan(&fixture, &clipped, &rows, |key| (start..end).contains(&key.event_time.nanos()))
                    .await;
            }
        }
    }
}

/// An interval may reach beyond every time that can be placed, on either side.
pub async fn intervals_may_reach_beyond_all_times(fixture: Fixture) {
    let (table, at, max) = (fixture.made(1).await, partition("s"), Timestamp::MAX.nanos());
    let rows = [row(0, "e", "i", "first"), row(7, "e", "i", "middle"), row(max, "e", "i", "last")];
    fixture.write(&table, &at, &rows).await;
    let wide =
        [(i64::MIN, i64::MAX), (-1, max + 1), (0, max), (1, i64::MAX), (max, max + 1), (max + 1, i64::MAX)];
    for (start, end) in wide.into_iter().chain([(i64::MIN, 0), (i64::MIN, 1), (-9, -2), (i64::MAX, i64::MAX)])
    {
        for order in BOTH {
            let scan = Scan { order, interval: interval(start, end), ..scan(&table, &at) };
            assert_scan(&fixture, &scan, &rows, |key| (start..end).contains(&key.event_time.nanos())).await;
        }
    }
}

/// An empty interval reads nothing, from wherever it is asked.
pub async fn an_empty_interval_reads_nothing(fixture: Fixture) {
    let (scan, rows) = grid(&fixture).await;
    for time in [0, 10, 20, 30, 40] {
        for from in [Bound::Unbounded, Bound::Included(key(20, "d", "m")), Bound::Excluded(key(20, "d", "m"))]
        {
            for order in BOTH {
                let empty =
                    Scan { order, interval: interval(time, time), from: from.clone(), ..scan.clone() };
                assert_scan(&fixture, &empty, &rows, |_| false).await;
            }
        }
    }
}

/// Keys around, between and beyond the rows of the grid.
fn places() -> Vec<RowKey> {
    let mut places = vec![key(0, "a", "a"), key(Timestamp::MAX.nanos(), "z", "z")];
    for time in [10, 15, 20, 30] {
        for event in ["a", "b", "c", "f", "g"] {
            places.extend(["l", "m", "n", "q", "r"].map(|item| key(time, event, item)));
        }
    }
    // No row can have these: they lie before or behind all items of an event, or all events of a time.
    let bytes: [&[u8]; 4] = [b"", b"\xFF", b"d\xFF", b"d\xC3"];
    let stored = |event: &'static [u8], item: &'static [u8]| RowKey {
        event_id: EventId::from_stored(Bytes::from_static(event)),
        item_key: ItemKey::from_stored(Bytes::from_static(item)),
        ..key(20, "d", "m")
    };
    places.extend(bytes.into_iter().flat_map(|odd| [stored(b"d", odd), stored(odd, b"m")]));
    places
}

/// A scan begins at a row, or behind it, whether that row exists or not.
pub async fn scans_begin_at_or_behind_any_place(fixture: Fixture) {
    let (scan, rows) = grid(&fixture).await;
    for place in places() {
        for order in BOTH {
            let at = Scan { order, from: Bound::Included(place.clone()), ..scan.clone() };
            assert_scan(&fixture, &at, &rows, |key| order.compare(key, &place).is_ge()).await;
            let behind = Scan { order, from: Bound::Excluded(place.clone()), ..scan.clone() };
            assert_scan(&fixture, &behind, &rows, |key| order.compare(key, &place).is_gt()).await;
        }
    }
}

/// Where a scan begins and the interval both hold, also where the beginning lies outside of the interval.
pub async fn the_beginning_and_the_interval_both_hold(fixture: Fixture) {
    let (scan, rows) = grid(&fixture).await;
    for place in
        [key(5, "z", "z"), key(10, "d", "m"), key(20, "d", "m"), key(30, "d", "m"), key(99, "a", "a")]
    {
        for (start, end) in [(0, 20), (10, 30), (15, 25), (20, 21), (30, 40), (50, 60)] {
            for order in BOTH {
                let (interval, from) = (interval(start, end), Bound::Excluded(place.clone()));
                let scan = Scan { order, interval, from, ..scan.clone() };
                assert_scan(&fixture, &scan, &rows, |key| {
                    (start..end).contains(&key.event_time.nanos()) && order.compare(key, &place).is_gt()
                })
                .await;
            }
        }
    }
}

/// A row written later, between others, is read in its place.
pub async fn later_rows_are_read_in_their_place(fixture: Fixture) {
    let (table, at, all) = (fixture.made(1).await, partition("s"), rows(30));
    let (even, odd): (Vec<_>, Vec<_>) = (0..).zip(all.clone()).partition(|(n, _)| n % 2 == 0);
    for half in [odd, even] {
        let half: Vec<Row> = half.into_iter().map(|(_, row)| row).collect();
        fixture.write(&table, &at, &half).await;
    }
    for order in BOTH {
        assert_scan(&fixture, &Scan { order, ..scan(&table, &at) }, &all, |_| true).await;
    }
}
