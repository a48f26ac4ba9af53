//! Reading the rows of one partition between two keys, in either direction.
//!
//! One form for all scans: from an edge on, up to but not including another (`edge`).
//!
//! Nothing is read ahead here. Whoever reads on asks for the next scan while the rows of this one are used (the engine
//! does), and one scan of the engine is one answer, or two (see `page_rows`): there is no third to fetch meanwhile, and
//! the number of rows to ask for next is known only when an answer is there.

use std::ops::Bound;

use model::{Interval, Order, RowPlace, RowsInPlace, Timestamp};
use scylla::response::query_result::QueryRowsResult;
use store::{Error, ErrorKind, Result, Scan, ScanPage};

use crate::cells::{Cells, LENGTH_BYTES};
use crate::cluster::Cluster;
use crate::edge::Edge;
use crate::failure::unreadable;
use crate::page_rows::Read;
use crate::pages::Pages;
use crate::profiles::read_level;
use crate::retry::Task;
use crate::statements::Table;
use crate::write::partition_values;

/// The edges between which a scan moves, whatever its direction; none where nothing can lie between them.
fn edges(scan: &Scan) -> Option<(Edge, Edge)> {
    let interval = scan.interval.intersect(Interval::ALL);
    let (mut lower, mut upper) = (Edge::at(interval.start()), Edge::at(interval.end()));
    match (scan.order, &scan.from) {
        (_, Bound::Unbounded) => {}
        (Order::OldestFirst, Bound::Included(key)) => lower = lower.max(Edge::before(key)),
        (Order::OldestFirst, Bound::Excluded(key)) => lower = lower.max(Edge::behind(key)),
        (Order::NewestFirst, Bound::Included(key)) => upper = upper.min(Edge::behind(key)),
        (Order::NewestFirst, Bound::Excluded(key)) => upper = upper.min(Edge::before(key)),
    }
    (!interval.is_empty() && lower < upper).then_some((lower, upper))
}

/// What is read of each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Columns {
    /// All of it.
    All,
    /// All but the value.
    Headers,
}

/// Reads rows until a limit of `scan` is reached or there are no more.
pub(crate) async fn scan(
    cluster: &Cluster,
    table: &Table,
    scan: &Scan,
    columns: Columns,
) -> Result<ScanPage> {
    let statement = match (columns, scan.order) {
        (Columns::All, Order::NewestFirst) => &table.newest_first,
        (Columns::All, Order::OldestFirst) => &table.oldest_first,
        (Columns::Headers, Order::NewestFirst) => &table.newest_headers,
        (Columns::Headers, Order::OldestFirst) => &table.oldest_headers,
    };
    let Some((lower, upper)) = edges(scan) else {
        return cluster.prepared(statement, Some(&table.name)).await.map(|_| ScanPage::default());
    };
    let (series, time_bucket, event_bucket) = partition_values(&scan.partition);
    let values = (
        series,
        time_bucket,
        event_bucket,
        lower.time,
        lower.event_id,
        lower.item_key,
        upper.time,
        upper.event_id,
        upper.item_key,
    );
    let task = Task { what: "read rows", table: Some(&table.name), writes: false };
    let answers = Pages::new(cluster, task, statement, values).await?;
    let mut answers = answers.at(read_level(scan.consistency)).hedged(scan.hedge_after);
    let mut page = Page { scan, columns, rows: RowsInPlace::default() };
    let mut left_over = false;
    while !left_over && !page.is_full() {
        let (rows_left, bytes_left) = page.room();
        let asked = match columns {
            Columns::All => table.row_bytes.rows_behind(page.read(), rows_left, bytes_left),
            // Small, and all alike.
            Columns::Headers => i32::try_from(rows_left).unwrap_or(i32::MAX),
        };
        let Some(answer) = answers.next(asked).await? else {
            break;
        };
        left_over = page.take(&answer)?;
    }
    if columns == Columns::All {
        table.row_bytes.learn(page.read());
    }
    Ok(page.finish(left_over || answers.more()))
}

/// Time, event id, item key, metadata, value and write time of a row.
type Whole<'a> = (i64, &'a str, &'a str, &'a [u8], &'a [u8], i64);
/// The same without the value.
type Header<'a> = (i64, &'a str, &'a str, &'a [u8], i64);

/// A page that fills up.
struct Page<'a> {
    scan: &'a Scan,
    columns: Columns,
    rows: RowsInPlace,
}

impl Page<'_> {
    fn is_full(&self) -> bool {
        self.rows.len() >= self.scan.rows_max || self.rows.logical_bytes() >= self.scan.bytes_max
    }

    /// What it has so far.
    fn read(&self) -> Read {
        Read { rows: self.rows.len(), bytes: self.rows.logical_bytes() }
    }

    /// Rows and bytes that are still wanted.
    fn room(&self) -> (usize, u64) {
        let rows = self.scan.rows_max.saturating_sub(self.rows.len());
        (rows, self.scan.bytes_max.saturating_sub(self.rows.logical_bytes()))
    }

    /// Takes rows until the page is full; whether some are left over.
    fn take(&mut self, answer: &QueryRowsResult) -> Result<bool> {
        // The driver says whether the columns have the types that they should; they are read in place.
        let typed = match self.columns {
            Columns::All => answer.rows::<Whole<'_>>().map(|_| ()),
            Columns::Headers => answer.rows::<Header<'_>>().map(|_| ()),
        };
        typed.map_err(|error| unreadable("table of rows", error))?;
        let Some(mut cells) = Cells::of(answer)? else { return Ok(false) };
        self.rows.begin(cells.frame().clone(), LENGTH_BYTES, answer.rows_num());
        for _ in 0..answer.rows_num() {
            if self.is_full() {
                return Ok(true);
            }
            self.rows.push(row(&mut cells, self.columns)?);
        }
        Ok(false)
    }

    fn finish(self, more: bool) -> ScanPage {
        ScanPage { bytes: self.rows.logical_bytes(), rows: self.rows.finish(), more }
    }
}

/// The next row.
#[inline]
fn row(cells: &mut Cells, columns: Columns) -> Result<RowPlace> {
    let time = cells.number()?;
    let event_time = Timestamp::checked(time).ok_or_else(|| {
        let message = format!("a row has the time {time}, which no event can have; something else wrote it");
        Error::new(ErrorKind::Corrupt, message)
    })?;
    let (event_id, item_key, metadata) = (cells.cell()?, cells.cell()?, cells.cell()?);
    let value_bytes = match columns {
        Columns::All => cells.cell()?.len(),
        Columns::Headers => 0,
    };
    // No answer has as many bytes as 32 bits can count.
    let length = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
    let lengths = [event_id.len(), item_key.len(), metadata.len(), value_bytes].map(length);
    Ok(RowPlace { event_time, write_time: cells.number()?, start: event_id.start, lengths })
}

#[cfg(test)]
mod tests {
    use model::{EventId, ItemKey, NamespaceName, PartitionKey, RowKey, SeriesId, TableName, TableRef};
    use store::Consistency;

    use super::*;

    fn key(time: i64) -> RowKey {
        RowKey {
            event_time: Timestamp::from_nanos(time).unwrap(),
            event_id: EventId::new("e").unwrap(),
            item_key: ItemKey::new("i").unwrap(),
        }
    }

    /// Time and item key.
    type Short<'a> = (i64, &'a str);

    fn check(order: Order, from: Bound<RowKey>, expect: Option<(Short<'_>, Short<'_>)>) {
        let scan = Scan {
            table: TableRef {
                namespace: NamespaceName::new("n").unwrap(),
                incarnation: 1,
                name: TableName::new("t").unwrap(),
            },
            partition: PartitionKey { series: SeriesId::new("s").unwrap(), time_bucket: 0, event_bucket: 0 },
            order,
            interval: Interval::new(10, 20).unwrap(),
            from,
            rows_max: 1,
            bytes_max: 1,
            consistency: Consistency::default(),
            hedge_after: None,
            ahead: false,
        };
        let found = edges(&scan);
        let short = found.as_ref().map(|(lower, upper)| {
            ((lower.time, lower.item_key.as_str()), (upper.time, upper.item_key.as_str()))
        });
        assert_eq!(short, expect, "{order:?} {:?}", scan.from);
    }

    #[test]
    fn edges_hold_the_interval_and_where_the_scan_begins() {
        let (oldest, newest) = (Order::OldestFirst, Order::NewestFirst);
        check(oldest, Bound::Unbounded, Some(((10, ""), (20, ""))));
        check(oldest, Bound::Included(key(15)), Some(((15, "i"), (20, ""))));
        check(oldest, Bound::Excluded(key(15)), Some(((15, "i\0"), (20, ""))));
        check(newest, Bound::Included(key(15)), Some(((10, ""), (15, "i\0"))));
        check(newest, Bound::Excluded(key(15)), Some(((10, ""), (15, "i"))));
        check(oldest, Bound::Included(key(5)), Some(((10, ""), (20, ""))));
        check(newest, Bound::Excluded(key(25)), Some(((10, ""), (20, ""))));
        check(oldest, Bound::Included(key(20)), None);
        check(newest, Bound::Included(key(9)), None);
    }
}
