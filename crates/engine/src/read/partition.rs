//! One partition, row by row, page by page.

use std::ops::Bound;
use std::sync::Arc;

use model::{Row, RowView, Rows};
use store::{Scan, Store};

use crate::Result;

/// A partition that is being read in order.
pub(super) struct PartitionReader {
    store: Arc<dyn Store>,
    scan: Scan,
    rows: Rows,
    at: usize,
    more: bool,
    /// Logical bytes read so far.
    pub(super) bytes: u64,
}

impl PartitionReader {
    /// Reads the first page.
    pub(super) async fn open(store: Arc<dyn Store>, scan: Scan) -> Result<Self> {
        let page = store.scan(scan.clone()).await?;
        Ok(Self { store, scan, rows: page.rows, at: 0, more: page.more, bytes: page.bytes })
    }

    /// The next row, if there is one.
    pub(super) fn peek(&self) -> Option<RowView<'_>> {
        self.rows.view(self.at)
    }

    /// Takes the next row; afterwards [`Self::peek`] shows the one behind it.
    pub(super) async fn take(&mut self) -> Result<Option<Row>> {
        let row = self.rows.get(self.at);
        self.at += 1;
        if self.at >= self.rows.len() && self.more {
            if let Some(last) = self.rows.last() {
                self.scan.from = Bound::Excluded(last.key);
            }
            let page = self.store.scan(self.scan.clone()).await?;
            self.bytes += page.bytes;
            (self.rows, self.at, self.more) = (page.rows, 0, page.more);
        }
        Ok(row)
    }
}
