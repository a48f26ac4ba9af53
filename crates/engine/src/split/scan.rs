//! Reading a partition from one end to the other, newest first, as the split needs it.

use std::ops::Bound;
use std::sync::Arc;

use model::{Interval, Order, PartitionKey, RowKey, TableRef};
use split::Digest;
use store::{Consistency, Scan, ScanPage, Store};

/// Rows and bytes of a page.
const PAGE_ROWS: usize = 16_384;
const PAGE_BYTES: u64 = 1 << 20;

/// What is read of a partition.
pub(super) struct Part {
    pub(super) table: TableRef,
    pub(super) partition: PartitionKey,
    pub(super) interval: Interval,
    pub(super) consistency: Consistency,
}

/// A partition that is being read.
pub(super) struct Pages {
    store: Arc<dyn Store>,
    scan: Scan,
    is_over: bool,
}

impl Pages {
    /// Begins behind what `digest` holds.
    pub(super) fn behind(store: &Arc<dyn Store>, part: Part, digest: &Digest) -> Self {
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
        Self { store: Arc::clone(store), scan, is_over: false }
    }

    /// By pages of so many bytes.
    pub(super) fn by(mut self, page_bytes: u64) -> Self {
        self.scan.bytes_max = page_bytes;
        self
    }

    /// The next page; none at the end.
    pub(super) async fn next(&mut self) -> store::Result<Option<ScanPage>> {
        if self.is_over {
            return Ok(None);
        }
        let page = self.store.scan(self.scan.clone()).await?;
        self.is_over = !page.more;
        match page.rows.last() {
            Some(last) => {
                let key: RowKey = last.key;
                self.scan.from = Bound::Excluded(key);
                Ok(Some(page))
            }
            None => Ok(None),
        }
    }
}
