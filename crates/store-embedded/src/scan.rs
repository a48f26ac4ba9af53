//! Reading the rows of one partition, in either direction, merging the versions of a row. Values that lie apart are fetched only
//! where values are asked for.

use std::ops::Bound;

use fjall::{Database, Guard, Readable};
use model::{Order, RowsBuilder};
use store::{Result, Scan, ScanPage};

use crate::bodies::{self, Bodies};
use crate::cancel::Cancelled;
use crate::engine::read_failed;
use crate::keys::row::{Unescaped, Version};
use crate::keys::text::cut_short;
use crate::keys::{partition, row};
use crate::tables::Table;

/// Room that a page has from the start: growing it would copy and fault in its memory again. What stays untouched
/// costs only addresses.
const FIRST_BYTES: usize = 2 << 20;
const FIRST_ROWS: usize = 8_192;
/// Room for the row that goes over the limit, unless it is a large one.
const LAST_ROW_BYTES: usize = 16 << 10;

/// What is kept of each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Columns {
    /// All of it.
    All,
    /// All but the value.
    Headers,
}

/// Reads rows from a snapshot until a limit of `scan` is reached.
pub(crate) fn scan(
    database: &Database,
    table: &Table,
    scan: &Scan,
    columns: Columns,
    cancelled: &Cancelled,
) -> Result<ScanPage> {
    let prefix = partition::encode(&scan.partition);
    let (from, to) = bounds(&prefix, scan);
    if from >= to {
        return Ok(ScanPage::default());
    }
    // Heads and bodies from one snapshot: whoever sees the one sees the other.
    let snapshot = database.snapshot();
    let mut entries = snapshot.range(&table.keyspace, from.as_slice()..to.as_slice());
    let bodies =
        Bodies { snapshot: &snapshot, table, order: scan.order, rows: (from, to), cancelled, entries: None };
    let mut page = Page::new(scan, columns, prefix.len(), bodies);
    loop {
        let entry = match scan.order {
            Order::OldestFirst => entries.next(),
            Order::NewestFirst => entries.next_back(),
        };
        let Some(entry) = entry else {
            return Ok(page.finish(false));
        };
        if !page.add(entry)? {
            return Ok(page.finish(true));
        }
        cancelled.check()?;
    }
}

/// The keys between which the scan moves, whatever its direction.
fn bounds(prefix: &[u8], scan: &Scan) -> (Vec<u8>, Vec<u8>) {
    let mut from = row::from_time(prefix, scan.interval.start());
    let mut to = row::from_time(prefix, scan.interval.end());
    match (scan.order, &scan.from) {
        (_, Bound::Unbounded) => {}
        (Order::OldestFirst, Bound::Included(key)) => from = from.max(row::base(prefix, key)),
        (Order::OldestFirst, Bound::Excluded(key)) => from = from.max(row::behind(prefix, key)),
        (Order::NewestFirst, Bound::Included(key)) => to = to.min(row::behind(prefix, key)),
        (Order::NewestFirst, Bound::Excluded(key)) => to = to.min(row::base(prefix, key)),
    }
    (from, to)
}

/// A page that fills up. Versions of a row lie beside each other, so a row is merged with the one before it.
struct Page<'a> {
    scan: &'a Scan,
    columns: Columns,
    prefix_length: usize,
    bodies: Bodies<'a>,
    rows: RowsBuilder,
    unescaped: Unescaped,
}

impl<'a> Page<'a> {
    fn new(scan: &'a Scan, columns: Columns, prefix_length: usize, bodies: Bodies<'a>) -> Self {
        let bytes = usize::try_from(scan.bytes_max).unwrap_or(usize::MAX).min(FIRST_BYTES) + LAST_ROW_BYTES;
        Self {
            scan,
            columns,
            prefix_length,
            bodies,
            rows: RowsBuilder::with_capacity(bytes, scan.rows_max.min(FIRST_ROWS)),
            unescaped: Unescaped::default(),
        }
    }

    /// Takes one version of one row; false once the page is full and this is another row.
    fn add(&mut self, entry: Guard) -> Result<bool> {
        let (key, value) = entry.into_inner().map_err(read_failed)?;
        let full = self.is_full();
        let version = row::decode(self.prefix_length, &key, &value, &mut self.unescaped);
        let Version { row: mut version, body_bytes } = version.ok_or_else(cut_short)?;
        let again = self.rows.last_is(&version);
        if full && !again {
            return Ok(false);
        }
        let body;
        match (self.columns, body_bytes) {
            (Columns::Headers, _) => version.value = &[],
            (Columns::All, Some(bytes)) => {
                body = self.bodies.of(&key)?;
                version.value = bodies::value(&body, bytes)?;
            }
            (Columns::All, None) => {}
        }
        if again {
            self.rows.merge_into_last(version);
        } else {
            self.rows.push(version);
        }
        Ok(true)
    }

    fn is_full(&self) -> bool {
        self.rows.len() >= self.scan.rows_max || self.rows.logical_bytes() >= self.scan.bytes_max
    }

    /// The page; `more` where a limit ended it.
    fn finish(self, more: bool) -> ScanPage {
        ScanPage { bytes: self.rows.logical_bytes(), rows: self.rows.finish(), more }
    }
}
