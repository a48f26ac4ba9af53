//! Reading a table from one end to the other.
//!
//! Rows of packed targets are chunks, and handed out as the store has them. The interval is about the time that a row is stored under,
//! which for a chunk is that of its oldest row: the chunks of a time bucket lie inside of an interval that holds the bucket.
//!
//! Small partitions are read several at a time, large ones page by page. Memory is bounded: [`AT_ONCE`] first looks of
//! [`LOOK_BYTES`] each, or one page of [`PAGE_BYTES`]; whoever takes slowly stops the reading.

use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;

use futures::future::try_join_all;
use model::{Order, PartitionKey, RowKey, Rows, TableRef};
use store::{Consistency, ErrorKind, Scan, ScanPage, Store};

use super::prepare::check;
use super::walk::{ExportPosition, RowsAsked, Walk};
use crate::Result;
use crate::catalog::Catalog;

/// Partitions that are looked at together.
const AT_ONCE: usize = 8;
/// What is read of each at first.
const LOOK_BYTES: u64 = 256 << 10;
/// A page ends once its rows have so many logical bytes. With the last row it fits into a message that any client takes, unless that
/// is a chunk of a packed target with an event of more than 2 MiB.
const PAGE_BYTES: u64 = 1 << 20;
/// Rows of a page of one partition.
const SCAN_ROWS: usize = 16_384;
/// A page ends after so many partitions, also without rows, so that whoever stops knows how far it came.
const PAGE_PARTITIONS: usize = 4_096;

/// Rows of one partition, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportPart {
    /// Which.
    pub partition: PartitionKey,
    /// Its rows, or some of them.
    pub rows: Rows,
}

/// Rows of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportPage {
    /// The rows, partition by partition.
    pub parts: Vec<ExportPart>,
    /// Where to go on; none at the end.
    pub next: Option<ExportPosition>,
}

/// The rows of a table, page by page.
pub struct RowExport {
    catalog: Arc<Catalog>,
    store: Arc<dyn Store>,
    asked: RowsAsked,
    table: TableRef,
    consistency: Consistency,
    walk: Walk,
    /// Listed and not looked at.
    waiting: VecDeque<PartitionKey>,
    /// Looked at and not handed out.
    looked: VecDeque<(PartitionKey, ScanPage)>,
    /// What is left of the partition that was handed out last.
    rest: Option<(PartitionKey, RowKey)>,
    is_over: bool,
}

impl RowExport {
    /// Begins, or goes on at a position.
    pub(crate) fn new(catalog: &Arc<Catalog>, store: &Arc<dyn Store>, asked: RowsAsked) -> Result<Self> {
        let (table, layout, dataset) = check(catalog, &asked)?;
        let is_target = dataset.wide_table(&layout) == table;
        let position = asked.position.clone();
        let rest = position.and_then(|position| Some((position.partition, position.row?)));
        Ok(Self {
            catalog: Arc::clone(catalog),
            store: Arc::clone(store),
            consistency: dataset.namespace.spec.consistency,
            walk: Walk::new(&asked, &layout, is_target)?,
            waiting: VecDeque::new(),
            looked: VecDeque::new(),
            table,
            asked,
            rest,
            is_over: false,
        })
    }

    /// The next page; none behind the last one. The last one may be empty.
    pub async fn next(&mut self) -> Result<Option<ExportPage>> {
        if self.is_over {
            return Ok(None);
        }
        let page = match self.read_page().await {
            Ok(page) => page,
            Err(error) => return Err(self.explain(error)),
        };
        self.is_over = page.next.is_none();
        // What was read counts only if nobody could write meanwhile.
        check(&self.catalog, &self.asked)?;
        Ok(Some(page))
    }

    async fn read_page(&mut self) -> store::Result<ExportPage> {
        let (mut page, mut bytes, mut visited) = (ExportPage::default(), 0, 0);
        while bytes < PAGE_BYTES && visited < PAGE_PARTITIONS {
            let Some((partition, scanned)) = self.read_partition().await? else {
                page.next = None;
                return Ok(page);
            };
            (bytes, visited) = (bytes + scanned.bytes, visited + 1);
            let last = scanned.rows.last().map(|row| row.key).filter(|_| scanned.more);
            self.rest = last.clone().map(|row| (partition.clone(), row));
            page.next = Some(ExportPosition { partition: partition.clone(), row: last });
            if !scanned.rows.is_empty() {
                page.parts.push(ExportPart { partition, rows: scanned.rows });
            }
        }
        Ok(page)
    }

    /// The rest of the last partition, or the next one; none at the end.
    async fn read_partition(&mut self) -> store::Result<Option<(PartitionKey, ScanPage)>> {
        if let Some((partition, row)) = self.rest.take() {
            let scanned = self.scan(&partition, Bound::Excluded(row), PAGE_BYTES).await?;
            return Ok(Some((partition, scanned)));
        }
        if let Some(looked) = self.looked.pop_front() {
            return Ok(Some(looked));
        }
        if self.waiting.is_empty() {
            self.waiting = self.walk.next(&*self.store, &self.table, self.consistency).await?.into();
        }
        let next: Vec<PartitionKey> = self.waiting.drain(..self.waiting.len().min(AT_ONCE)).collect();
        let looks = next.iter().map(|partition| self.scan(partition, Bound::Unbounded, LOOK_BYTES));
        let looked = try_join_all(looks).await?;
        self.looked = next.into_iter().zip(looked).collect();
        Ok(self.looked.pop_front())
    }

    async fn scan(
        &self,
        partition: &PartitionKey,
        from: Bound<RowKey>,
        bytes_max: u64,
    ) -> store::Result<ScanPage> {
        let scan = Scan {
            table: self.table.clone(),
            partition: partition.clone(),
            order: Order::NewestFirst,
            interval: self.asked.interval,
            from,
            rows_max: SCAN_ROWS,
            bytes_max,
            consistency: self.consistency,
            hedge_after: None,
            ahead: false,
        };
        self.store.scan(scan).await
    }

    /// A table that is gone was dropped with its slice, unless the store is in trouble.
    fn explain(&self, error: store::Error) -> crate::Error {
        if error.kind() == ErrorKind::NoTable
            && let Err(gone) = check(&self.catalog, &self.asked)
        {
            return gone;
        }
        error.into()
    }
}
