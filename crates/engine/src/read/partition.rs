//! One partition, row by row, page by page, at most one page ahead.

use std::ops::Bound;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use env::{BoxFuture, Clock};
use futures::future::{MaybeDone, maybe_done};
use model::{PartitionKey, Row, RowView, Rows, SeriesId};
use store::{Scan, ScanPage, Store};

use crate::Result;

/// Rows that a page of the store has at most.
const PAGE_ROWS_MAX: usize = 8_192;

/// Rows to ask for where so many are wanted. Events are spread by a hash, so partitions differ; what is added is eight
/// standard deviations of that, whatever the number.
pub(super) fn rows_to_ask(wanted_rows: usize) -> usize {
    wanted_rows.saturating_add(wanted_rows / 4).saturating_add(64).min(PAGE_ROWS_MAX)
}

/// The next row of a partition, looked at in place.
pub(crate) struct Head<'a> {
    pub(crate) view: RowView<'a>,
    /// Whose row.
    pub(crate) series: &'a SeriesId,
    rows: &'a Rows,
    at: usize,
    is_last_page: bool,
}

impl Head<'_> {
    /// The rows of this row's event, if they do not go on behind the page.
    pub(super) fn whole_event(&self) -> Option<Taken> {
        let mut whole = self.row();
        loop {
            match self.rows.view(self.at + whole.rows) {
                Some(next) if is_same_event(&next, &self.view) => {
                    whole.rows += 1;
                    whole.bytes += next.logical_bytes();
                }
                Some(_) => return Some(whole),
                None => return self.is_last_page.then_some(whole),
            }
        }
    }

    /// This row alone.
    pub(super) fn row(&self) -> Taken {
        Taken { rows: 1, bytes: self.view.logical_bytes() }
    }

    /// This row and those behind it in the page, `count` in all.
    pub(crate) fn rows(&self, count: usize) -> impl Iterator<Item = RowView<'_>> {
        (self.at..self.at + count).map_while(|at| self.rows.view(at))
    }

    /// The row, sharing the buffer of its page.
    pub(super) fn to_row(&self) -> Option<Row> {
        self.rows.get(self.at)
    }
}

/// Rows of one page that were taken, and their logical bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) rows: usize,
    bytes: u64,
}

fn is_same_event(a: &RowView<'_>, b: &RowView<'_>) -> bool {
    a.event_time == b.event_time && a.event_id == b.event_id
}

/// A partition that is being read in order.
pub(super) struct PartitionReader {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    scan: Scan,
    rows: Rows,
    at: usize,
    more: bool,
    /// The page behind this one, while it is being read. Dropping it ends that.
    ahead: Option<MaybeDone<BoxFuture<'static, store::Result<Timed>>>>,
    rows_read: usize,
    /// Rows that are wanted beyond those read: while there are any, the next page is read ahead.
    wanted_rows: usize,
    /// Logical bytes that the store read.
    pub(super) bytes: u64,
    /// Logical bytes of the rows that were taken.
    pub(super) taken_bytes: u64,
    /// How often the store answered.
    pub(super) calls: u64,
    /// How long that took.
    pub(super) waited: Duration,
}

/// A page of the store, and how long it took.
struct Timed {
    page: ScanPage,
    took: Duration,
}

async fn timed(store: Arc<dyn Store>, clock: Arc<dyn Clock>, scan: Scan) -> store::Result<Timed> {
    let started = clock.boot();
    let page = store.scan(scan).await?;
    Ok(Timed { page, took: clock.boot().since(started) })
}

impl PartitionReader {
    /// Reads the first page of a partition. `wanted_rows` is how many rows it will probably have to give.
    pub(super) async fn open(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        scan: Scan,
        wanted_rows: usize,
    ) -> Result<Self> {
        let first = timed(Arc::clone(&store), Arc::clone(&clock), scan.clone()).await?;
        let mut reader = Self {
            store,
            clock,
            scan,
            rows: Rows::default(),
            at: 0,
            more: false,
            ahead: None,
            rows_read: 0,
            wanted_rows,
            bytes: 0,
            taken_bytes: 0,
            calls: 0,
            waited: Duration::ZERO,
        };
        reader.turn_to(first).await;
        Ok(reader)
    }

    /// Which partition it is.
    pub(super) fn partition(&self) -> &PartitionKey {
        &self.scan.partition
    }

    /// Rows that the store gave.
    pub(super) fn rows_read(&self) -> usize {
        self.rows_read
    }

    /// The next row; none at the end, and where [`Self::turn_page`] is due.
    pub(super) fn head(&self) -> Option<Head<'_>> {
        self.head_at(self.at)
    }

    /// The row before; none where the page has just been turned.
    pub(super) fn last_taken(&self) -> Option<Head<'_>> {
        self.head_at(self.at.checked_sub(1)?)
    }

    fn head_at(&self, at: usize) -> Option<Head<'_>> {
        let view = self.rows.view(at)?;
        let (series, rows) = (&self.scan.partition.series, &self.rows);
        Some(Head { view, series, rows, at, is_last_page: !self.more })
    }

    /// Goes on behind these rows.
    pub(super) fn take(&mut self, taken: Taken) {
        self.taken_bytes += taken.bytes;
        self.at += taken.rows;
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
                maybe_done(self.next_page(false))
            }
        };
        (&mut next).await;
        let Some(page) = Pin::new(&mut next).take_output().transpose()? else { return Ok(0) };
        let bytes = page.page.bytes;
        self.turn_to(page).await;
        Ok(bytes)
    }

    async fn turn_to(&mut self, Timed { page, took }: Timed) {
        self.calls += 1;
        self.waited += took;
        self.bytes += page.bytes;
        (self.rows, self.at, self.more) = (page.rows, 0, page.more);
        self.rows_read += self.rows.len();
        self.wanted_rows = self.wanted_rows.saturating_sub(self.rows.len());
        if self.more && self.wanted_rows > 0 {
            let mut ahead = maybe_done(self.next_page(true));
            // Asked once, a store is at work; it is asked again when the rows of this page are used up.
            let _begun = futures::poll!(&mut ahead);
            self.ahead = Some(ahead);
        }
    }

    /// Reads what lies behind the present page, ahead of need or because it is needed now.
    fn next_page(&mut self, ahead: bool) -> BoxFuture<'static, store::Result<Timed>> {
        if let Some(last) = self.rows.last() {
            self.scan.from = Bound::Excluded(last.key);
        }
        self.scan.rows_max = rows_to_ask(self.wanted_rows);
        self.scan.ahead = ahead;
        Box::pin(timed(Arc::clone(&self.store), Arc::clone(&self.clock), self.scan.clone()))
    }
}
