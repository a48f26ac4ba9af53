//! Reading the rows of one partition, in either direction, merging the versions of a row.

use std::ops::Bound;

use bytes::Bytes;
use fjall::{Database, Guard, Readable};
use model::{Order, Row};
use store::{Result, Scan, ScanPage};

use crate::cancel::Cancelled;
use crate::engine::read_failed;
use crate::keys::{partition, row};
use crate::tables::Table;

/// Reads rows from a snapshot until a limit of `scan` is reached.
pub(crate) fn scan(
    database: &Database,
    table: &Table,
    scan: &Scan,
    cancelled: &Cancelled,
) -> Result<ScanPage> {
    let prefix = partition::encode(&scan.partition);
    let (from, to) = bounds(&prefix, scan);
    if from >= to {
        return Ok(ScanPage::default());
    }
    let mut entries = database.snapshot().range(&table.keyspace, from..to);
    let mut page = Page::new(scan, prefix.len());
    loop {
        let entry = match scan.order {
            Order::OldestFirst => entries.next(),
            Order::NewestFirst => entries.next_back(),
        };
        let Some(entry) = entry else {
            return Ok(page.end());
        };
        if !page.add(entry)? {
            return Ok(page.stop());
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

/// A page that fills up. The newest row is held back until a key of another row proves that all its versions came.
struct Page<'a> {
    scan: &'a Scan,
    prefix_length: usize,
    found: ScanPage,
    held: Option<(Bytes, Row)>,
}

impl<'a> Page<'a> {
    fn new(scan: &'a Scan, prefix_length: usize) -> Self {
        Self { scan, prefix_length, found: ScanPage::default(), held: None }
    }

    /// Takes one version of one row; false once the page is full and this row no longer fits.
    fn add(&mut self, entry: Guard) -> Result<bool> {
        let (key, value) = entry.into_inner().map_err(read_failed)?;
        let (key, value): (Bytes, Bytes) = (key.into(), value.into());
        let version = row::decode(self.prefix_length, &key, &value)?;
        match self.held.take() {
            Some((held_key, held)) if row::same_row(&held_key, &key) => {
                self.held = Some((key, held.merge(version)));
            }
            Some((_, held)) => {
                self.push(held);
                if self.is_full() {
                    return Ok(false);
                }
                self.held = Some((key, version));
            }
            None => self.held = Some((key, version)),
        }
        Ok(true)
    }

    fn is_full(&self) -> bool {
        self.found.rows.len() >= self.scan.rows_max || self.found.bytes >= self.scan.bytes_max
    }

    fn push(&mut self, row: Row) {
        self.found.bytes += row.logical_bytes();
        self.found.rows.push(row);
    }

    /// The page, where the partition ended.
    fn end(mut self) -> ScanPage {
        if let Some((_, held)) = self.held.take() {
            self.push(held);
        }
        self.found
    }

    /// The page, where a limit ended it.
    fn stop(mut self) -> ScanPage {
        self.found.more = true;
        self.found
    }
}
