//! Pages of a scan: limits on rows and bytes, and going on behind the last row.

use std::ops::Bound;

use bytes::Bytes;
use model::{Order, Row};

use super::Fixture;
use super::fixture::{partition, row, rows, scan};
use crate::Scan;

const BOTH: [Order; 2] = [Order::OldestFirst, Order::NewestFirst];

/// A partition that holds `rows`, which are in order.
async fn filled(fixture: &Fixture, rows: &[Row]) -> Scan {
    let (table, at) = (fixture.made(1).await, partition("s"));
    fixture.write(&table, &at, rows).await;
    scan(&table, &at)
}

fn in_order(order: Order, rows: &[Row]) -> Vec<Row> {
    let mut rows = rows.to_vec();
    rows.sort_by(|a, b| order.compare(&a.key, &b.key));
    rows
}

/// Pages of every size, in both directions, give every row once and in order.
pub async fn pages_of_every_size_give_every_row_once(fixture: Fixture) {
    let rows = rows(12);
    let scan = filled(&fixture, &rows).await;
    for order in BOTH {
        for rows_max in 1..=rows.len() + 1 {
            let found = fixture.walk(Scan { order, rows_max, ..scan.clone() }).await;
            assert_eq!(found, in_order(order, &rows), "{order:?}, {rows_max} rows a page");
        }
    }
}

/// Pages of every number of bytes give every row once and in order.
pub async fn pages_of_every_weight_give_every_row_once(fixture: Fixture) {
    let rows: Vec<Row> =
        (0..8_u8).map(|n| row(i64::from(n), "e", "i", &"v".repeat(usize::from(n % 4) * 10))).collect();
    let scan = filled(&fixture, &rows).await;
    for order in BOTH {
        for bytes_max in (1..200).step_by(7) {
            let found = fixture.walk(Scan { order, bytes_max, ..scan.clone() }).await;
            assert_eq!(found, in_order(order, &rows), "{order:?}, {bytes_max} bytes a page");
        }
    }
}

/// Items of one event may fall on different pages and none is lost between them.
pub async fn pages_may_cut_through_an_event(fixture: Fixture) {
    let rows: Vec<Row> = (0..20).map(|n| row(5, "e", &format!("item {n:02}"), "v")).collect();
    let scan = filled(&fixture, &rows).await;
    for order in BOTH {
        for rows_max in [1, 3, 7] {
            assert_eq!(fixture.walk(Scan { order, rows_max, ..scan.clone() }).await, in_order(order, &rows));
        }
    }
}

/// A page holds as many rows as were asked for, and says that more follow.
pub async fn a_page_is_as_full_as_asked(fixture: Fixture) {
    let rows = rows(10);
    let scan = filled(&fixture, &rows).await;
    for rows_max in 1..10 {
        let page = fixture.store.scan(Scan { rows_max, ..scan.clone() }).await.expect("scan");
        assert_eq!((page.rows.to_vec().as_slice(), page.more), (&rows[..rows_max], true));
    }
    let page = fixture.store.scan(Scan { rows_max: 11, ..scan }).await.expect("scan");
    assert_eq!((page.rows.to_vec(), page.more), (rows, false));
}

/// A page ends with the row that reaches the limit of bytes, not before it and not after it.
pub async fn a_page_ends_when_its_bytes_are_reached(fixture: Fixture) {
    let rows: Vec<Row> = (0..10).map(|time| row(time, "e", "i", "0123456789")).collect();
    let each = rows[0].logical_bytes();
    let scan = filled(&fixture, &rows).await;
    for (bytes_max, expected) in
        [(1, 1), (each - 1, 1), (each, 1), (each + 1, 2), (3 * each, 3), (3 * each + 1, 4)]
    {
        let page = fixture.store.scan(Scan { bytes_max, ..scan.clone() }).await.expect("scan");
        assert_eq!((page.rows.len(), page.more), (expected, true), "{bytes_max} bytes of {each} each");
        assert_eq!(page.bytes, each * expected as u64);
    }
}

/// A row larger than the limit of bytes comes alone, and the scan goes on behind it.
pub async fn a_row_larger_than_the_limit_still_comes(fixture: Fixture) {
    let large = |time| Row { value: Bytes::from(vec![7; 100_000]), ..row(time, "e", "i", "") };
    let rows = [large(1), row(2, "e", "i", "small"), large(3)];
    let scan = Scan { bytes_max: 1, ..filled(&fixture, &rows).await };
    let page = fixture.store.scan(scan.clone()).await.expect("scan");
    assert_eq!((page.rows.len(), page.more), (1, true));
    for order in BOTH {
        assert!(fixture.walk(Scan { order, ..scan.clone() }).await == in_order(order, &rows), "{order:?}");
    }
}

/// A page that ends exactly at the last row may announce more, but then nothing comes and the scan ends.
pub async fn a_scan_behind_the_last_row_ends(fixture: Fixture) {
    let rows = rows(4);
    let scan = filled(&fixture, &rows).await;
    for order in BOTH {
        let last = in_order(order, &rows)[3].key.clone();
        let behind = Scan { order, rows_max: 4, from: Bound::Excluded(last), ..scan.clone() };
        let page = fixture.store.scan(behind).await.expect("scan");
        assert_eq!((page.rows.len(), page.bytes, page.more), (0, 0, false));
    }
}

/// A scan goes on behind the row it ended with although rows were written before and behind it meanwhile.
pub async fn a_scan_goes_on_while_rows_are_written(fixture: Fixture) {
    let (table, at) = (fixture.made(1).await, partition("s"));
    fixture.write(&table, &at, &[row(10, "e", "i", ""), row(20, "e", "i", ""), row(40, "e", "i", "")]).await;
    let first = fixture.store.scan(Scan { rows_max: 2, ..scan(&table, &at) }).await.expect("scan");
    assert_eq!(first.rows.len(), 2);
    fixture.write(&table, &at, &[row(5, "e", "i", ""), row(15, "e", "i", ""), row(30, "e", "i", "")]).await;
    let from = Bound::Excluded(first.rows.last().expect("two rows").key);
    let rest = fixture.walk(Scan { from, rows_max: 1, ..scan(&table, &at) }).await;
    assert_eq!(rest, [row(30, "e", "i", ""), row(40, "e", "i", "")]);
}

/// A partition much larger than a page is read whole, in both directions.
pub async fn a_large_partition_is_read_page_by_page(fixture: Fixture) {
    let rows: Vec<Row> =
        (0..3_000).map(|time| row(time, &format!("event {time}"), "i", &"v".repeat(200))).collect();
    let scan = filled(&fixture, &rows).await;
    for order in BOTH {
        let found = fixture.walk(Scan { order, bytes_max: 50_000, ..scan.clone() }).await;
        assert!(found == in_order(order, &rows), "{order:?}: {} rows", found.len());
    }
}
