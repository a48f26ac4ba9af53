//! Scanning one partition of the memory backend.
//!
//! Invariant: the range handed to the map is never reversed (the map would panic), and rows outside it are never
//! visited.

use std::collections::BTreeMap;
use std::ops::Bound;

use bytes::Bytes;
use model::{EventId, Interval, ItemKey, Order, Row, RowKey, RowsBuilder, Timestamp};

use crate::{Scan, ScanPage};

type Range = (Bound<RowKey>, Bound<RowKey>);

/// Reads one page.
pub(super) fn page(rows: &BTreeMap<RowKey, Row>, scan: &Scan) -> ScanPage {
    let Some(range) = range_of(scan) else {
        return ScanPage::default();
    };
    let range = rows.range(range);
    match scan.order {
        Order::OldestFirst => fill(range.map(|(_, row)| row), scan),
        Order::NewestFirst => fill(range.rev().map(|(_, row)| row), scan),
    }
}

fn fill<'a>(mut rows: impl Iterator<Item = &'a Row>, scan: &Scan) -> ScanPage {
    let mut found = RowsBuilder::default();
    while found.len() < scan.rows_max && found.logical_bytes() < scan.bytes_max {
        let Some(row) = rows.next() else {
            break;
        };
        found.push(row.view());
    }
    ScanPage { bytes: found.logical_bytes(), rows: found.finish(), more: rows.next().is_some() }
}

/// What lies both in the interval and on the right side of `from`; none where nothing can.
fn range_of(scan: &Scan) -> Option<Range> {
    let (lower, upper) = bounds_of(scan.interval)?;
    let range = match scan.order {
        Order::OldestFirst => (later_start(lower, scan.from.clone()), upper),
        Order::NewestFirst => (lower, earlier_end(upper, scan.from.clone())),
    };
    (!is_reversed(&range)).then_some(range)
}

fn bounds_of(interval: Interval) -> Option<Range> {
    let interval = interval.intersect(Interval::ALL);
    if interval.is_empty() {
        return None;
    }
    let lower = Bound::Included(first_at(Timestamp::from_nanos(interval.start()).ok()?));
    // An end that is not a time lies behind the last one.
    let upper =
        Timestamp::from_nanos(interval.end()).map_or(Bound::Unbounded, |end| Bound::Excluded(first_at(end)));
    Some((lower, upper))
}

/// The least key of a time: no real id is empty.
fn first_at(event_time: Timestamp) -> RowKey {
    let empty = Bytes::new();
    RowKey {
        event_time,
        event_id: EventId::from_stored(empty.clone()),
        item_key: ItemKey::from_stored(empty),
    }
}

fn later_start(one: Bound<RowKey>, other: Bound<RowKey>) -> Bound<RowKey> {
    let rank = |bound: &Bound<RowKey>| match bound {
        Bound::Unbounded => None,
        Bound::Included(key) => Some((key.clone(), false)),
        Bound::Excluded(key) => Some((key.clone(), true)),
    };
    if rank(&one) >= rank(&other) { one } else { other }
}

fn earlier_end(one: Bound<RowKey>, other: Bound<RowKey>) -> Bound<RowKey> {
    match (&one, &other) {
        (Bound::Unbounded, _) => other,
        (_, Bound::Unbounded) => one,
        (Bound::Included(a), Bound::Included(b) | Bound::Excluded(b)) => {
            if a < b {
                one
            } else {
                other
            }
        }
        (Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) => {
            if a <= b {
                one
            } else {
                other
            }
        }
    }
}

fn is_reversed(range: &Range) -> bool {
    match range {
        (Bound::Included(start), Bound::Included(end)) => start > end,
        (Bound::Included(start) | Bound::Excluded(start), Bound::Included(end) | Bound::Excluded(end)) => {
            start >= end
        }
        _ => false,
    }
}
