//! One partition, row by row, page by page, at most one page ahead.

use std::ops::Bound;
use std::pin::Pin;
use std::sync::Arc;

use env::BoxFuture;
use futures::future::{MaybeDone, maybe_done};
use model::{Row, RowView, Rows};
use store::{Scan, ScanPage, Store};

use crate::Result;

/// Rows that a page of the store has at most.
const PAGE_ROWS_MAX: usize = 4_096;

/// Rows to ask for where so many are wanted. Events are spread by a hash, so partitions differ; what is added is eight
/// standard deviations of that, whatever the number.
pub(super) fn rows_to_ask(wanted_rows: usize) -> usize {
    wanted_rows.saturating_add(wanted_rows / 4).saturating_add(64).min(PAGE_ROWS_MAX)
}

/// The next row of a partition, looked at in place.
pub(super) struct Head<'a> {
    pub(super) view: RowView<'a>,
    /// Whose row: a place in the read's list of series.
    pub(super) series: usize,
    rows: &'a Rows,
    at: usize,
}

impl Head<'_> {
    /// The row, sharing the buffer of its page.
    pub(super) fn to_row(&self) -> Option<Row> {
        self.rows.get(self.at)
    }
}

/// A partition that is being read in order.
pub(super) struct PartitionReader {
    store: Arc<dyn Store>,
    /// Its place in the read's list of series.
    pub(super) series: usize,
    scan: Scan,
    rows: Rows,
    at: usize,
    more: bool,
    /// The page behind this one, while it is being read. Dropping it ends that.
    ahead: Option<MaybeDone<BoxFuture<'static, store::Result<ScanPage>>>>,
    rows_read: usize,
    /// Rows that are wanted beyond those read: while there are any, the next page is read ahead.
    wanted_rows: usize,
    /// Logical bytes that the store read.
    pub(super) bytes: u64,
    /// Logical bytes of the rows that were taken.
    pub(super) taken_bytes: u64,
}

impl PartitionReader {
    /// Reads the first page of a partition of the read's `series`th series. `wanted_rows` is how many rows it will probably
    /// have to give.
    pub(super) async fn open(
        store: Arc<dyn Store>,
        series: usize,
        scan: Scan,
        wanted_rows: usize,
    ) -> Result<Self> {
        let page = store.scan(scan.clone()).await?;
        let mut reader = Self {
            store,
            series,
            scan,
            rows: Rows::default(),
            at: 0,
            more: false,
            ahead: None,
            rows_read: 0,
            wanted_rows,
            bytes: 0,
            taken_bytes: 0,
        };
        reader.turn_to(page).await;
        Ok(reader)
    }

    /// The next row; none at the end, and where [`Self::turn_page`] is due.
    pub(super) fn head(&self) -> Option<Head<'_>> {
        let view = self.rows.view(self.at)?;
        Some(Head { view, series: self.series, rows: &self.rows, at: self.at })
    }

    /// Goes on behind the next row.
    pub(super) fn take(&mut self) {
        self.taken_bytes += self.rows.view(self.at).map_or(0, |row| row.logical_bytes());
        self.at += 1;
    }

    /// Whether the store has to be asked before [`Self::head`] shows the next row.
    pub(super) fn page_is_over(&self) -> bool {
        self.at >= self.rows.len() && self.more
    }

    /// Makes [`Self::head`] show the next row if there is one; gives back how many bytes the store had to read.
    pub(super) async fn turn_page(&mut self) -> Result<u64> {
        if !self.page_is_over() {
            return Ok(0);
        }
        let mut next = match self.ahead.take() {
            Some(ahead) => ahead,
            None => {
                // The guess was too small. What has gone on so long is guessed to go on as long again.
                self.wanted_rows = self.rows_read;
                maybe_done(self.next_page())
            }
        };
        (&mut next).await;
        let Some(page) = Pin::new(&mut next).take_output().transpose()? else { return Ok(0) };
        let bytes = page.bytes;
        self.turn_to(page).await;
        Ok(bytes)
    }

    async fn turn_to(&mut self, page: ScanPage) {
        self.bytes += page.bytes;
        (self.rows, self.at, self.more) = (page.rows, 0, page.more);
        self.rows_read += self.rows.len();
        self.wanted_rows = self.wanted_rows.saturating_sub(self.rows.len());
        if self.more && self.wanted_rows > 0 {
            let mut ahead = maybe_done(self.next_page());
            // Asked once, a store is at work; it is asked again when the rows of this page are used up.
            let _begun = futures::poll!(&mut ahead);
            self.ahead = Some(ahead);
        }
    }

    /// Reads what lies behind the present page.
    fn next_page(&mut self) -> BoxFuture<'static, store::Result<ScanPage>> {
        if let Some(last) = self.rows.last() {
            self.scan.from = Bound::Excluded(last.key);
        }
        self.scan.rows_max = rows_to_ask(self.wanted_rows);
        let (store, scan) = (Arc::clone(&self.store), self.scan.clone());
        Box::pin(async move { store.scan(scan).await })
    }
}
