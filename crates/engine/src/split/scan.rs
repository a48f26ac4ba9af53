//! Reading a partition from one end to the other, newest first, as the split needs it: one page ahead, so that the store reads
//! while the rows before are digested.

use std::ops::Bound;
use std::pin::Pin;
use std::sync::Arc;

use env::BoxFuture;
use futures::future::maybe_done;
use model::{Interval, Order, PartitionKey, TableRef};
use split::{CoverLayout, Digest};
use store::{Consistency, Scan, ScanPage, Store};

use crate::course::{Ahead, Arrived, Course, PageRows, Wanted, begun};

/// Rows and bytes of a page.
const PAGE_ROWS: usize = 16_384;
const PAGE_BYTES: u64 = 1 << 20;

/// What is read of a partition.
pub(crate) struct Part {
    pub(crate) table: TableRef,
    pub(crate) partition: PartitionKey,
    pub(crate) interval: Interval,
    pub(crate) consistency: Consistency,
    pub(crate) layout: CoverLayout,
}

/// The next rows of a partition.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) rows: PageRows,
    /// Logical bytes that the store read for them; of several pages that came together, the first has them all.
    pub(crate) bytes: u64,
    /// The same in stored rows: items, or chunks.
    pub(crate) stored_rows: u64,
}

/// A partition that is being read.
pub(crate) struct Pages {
    store: Arc<dyn Store>,
    course: Course,
    /// What the store gave and was not used yet.
    arrived: Arrived,
    /// The store's next answer, while it is being read. Dropping it ends that.
    ahead: Option<Ahead<store::Result<ScanPage>>>,
}

impl Pages {
    /// Begins behind what `digest` holds; by pages of so many bytes.
    pub(crate) fn behind(store: &Arc<dyn Store>, part: Part, digest: &Digest, page_bytes: u64) -> Self {
        let Part { table, partition, interval, consistency, layout } = part;
        let from = digest.first.as_ref().and_then(split::Key::to_row_key);
        let scan = Scan {
            table,
            partition,
            order: Order::NewestFirst,
            interval,
            from: from.map_or(Bound::Unbounded, Bound::Excluded),
            rows_max: PAGE_ROWS,
            bytes_max: page_bytes,
            consistency,
            hedge_after: None,
            ahead: false,
        };
        Self {
            store: Arc::clone(store),
            course: Course::new(scan, layout),
            arrived: Arrived::default(),
            ahead: None,
        }
    }

    /// The same from one end to the other.
    pub(crate) fn all(store: &Arc<dyn Store>, part: Part) -> Self {
        Self::behind(store, part, &Digest::default(), PAGE_BYTES)
    }

    /// The next page; none at the end.
    pub(crate) async fn next(&mut self) -> store::Result<Option<Page>> {
        let mut page = Page::default();
        loop {
            if let Some(rows) = self.arrived.next(None)? {
                return Ok(Some(Page { rows, ..page }));
            }
            let mut next = match self.ahead.take() {
                Some(ahead) => ahead,
                None if self.course.goes_on() => maybe_done(self.ask(false)),
                None => return Ok(None),
            };
            (&mut next).await;
            let Some(answer) = Pin::new(&mut next).take_output().transpose()? else { return Ok(None) };
            page.bytes += answer.bytes;
            page.stored_rows += answer.rows.len() as u64;
            self.arrived = self.course.take(answer)?;
            if self.course.goes_on() {
                self.ahead = Some(begun(self.ask(true)).await);
            }
        }
    }

    fn ask(&mut self, ahead: bool) -> BoxFuture<'static, store::Result<ScanPage>> {
        let scan = self.course.ask(Wanted { rows: PAGE_ROWS, rows_max: PAGE_ROWS }, ahead);
        let store = Arc::clone(&self.store);
        Box::pin(async move { store.scan(scan).await })
    }
}
