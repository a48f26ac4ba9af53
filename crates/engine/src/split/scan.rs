//! Reading a partition from one end to the other, newest first, as the split needs it: one page ahead, so that the store reads
//! while the rows before are digested.

use std::ops::Bound;
use std::pin::Pin;
use std::sync::Arc;

use env::BoxFuture;
use futures::future::{MaybeDone, maybe_done};
use model::{Interval, Order, PartitionKey, RowKey, TableRef};
use split::Digest;
use store::{Consistency, Scan, ScanPage, Store};

/// Rows and bytes of a page.
const PAGE_ROWS: usize = 16_384;
const PAGE_BYTES: u64 = 1 << 20;

/// What is read of a partition.
pub(crate) struct Part {
    pub(crate) table: TableRef,
    pub(crate) partition: PartitionKey,
    pub(crate) interval: Interval,
    pub(crate) consistency: Consistency,
}

/// A partition that is being read.
pub(crate) struct Pages {
    store: Arc<dyn Store>,
    scan: Scan,
    /// The page behind the last one, while it is being read. Dropping it ends that.
    ahead: Option<MaybeDone<BoxFuture<'static, store::Result<ScanPage>>>>,
    is_over: bool,
}

impl Pages {
    /// Begins behind what `digest` holds.
    pub(crate) fn behind(store: &Arc<dyn Store>, part: Part, digest: &Digest) -> Self {
        let Part { table, partition, interval, consistency } = part;
        let from = digest.first.as_ref().and_then(split::Key::to_row_key);
        let scan = Scan {
            table,
            partition,
            order: Order::NewestFirst,
            interval,
            from: from.map_or(Bound::Unbounded, Bound::Excluded),
            rows_max: PAGE_ROWS,
            bytes_max: PAGE_BYTES,
            consistency,
            hedge_after: None,
            ahead: false,
        };
        Self { store: Arc::clone(store), scan, ahead: None, is_over: false }
    }

    /// By pages of so many bytes.
    pub(crate) fn by(mut self, page_bytes: u64) -> Self {
        self.scan.bytes_max = page_bytes;
        self
    }

    /// The next page; none at the end.
    pub(crate) async fn next(&mut self) -> store::Result<Option<ScanPage>> {
        if self.is_over {
            return Ok(None);
        }
        let mut next = self.ahead.take().unwrap_or_else(|| maybe_done(self.ask(false)));
        (&mut next).await;
        let Some(page) = Pin::new(&mut next).take_output().transpose()? else { return Ok(None) };
        self.is_over = !page.more;
        let Some(last) = page.rows.last() else { return Ok(None) };
        let key: RowKey = last.key;
        self.scan.from = Bound::Excluded(key);
        if !self.is_over {
            let mut ahead = maybe_done(self.ask(true));
            // Asked once, a store is at work.
            let _begun = futures::poll!(&mut ahead);
            self.ahead = Some(ahead);
        }
        Ok(Some(page))
    }

    fn ask(&self, ahead: bool) -> BoxFuture<'static, store::Result<ScanPage>> {
        let (store, scan) = (Arc::clone(&self.store), Scan { ahead, ..self.scan.clone() });
        Box::pin(async move { store.scan(scan).await })
    }
}
