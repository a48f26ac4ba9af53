//! Writers and readers of rows, and what they hold the store to.
//!
//! A batch is one mutation: whole or not there. One that was acknowledged is seen by every scan that begins later; one
//! that failed as unavailable never appears; of one that failed as unknown nothing is asked.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use model::{Interval, Order, PartitionKey, Row, SeriesId, TableRef};
use store::conformance::{Fixture, row};
use store::{Consistency, Durability, ErrorKind, PartitionBatch, Result, Scan, ScanPage, Store, limits};

use crate::board::{Board, Client};

/// Rows of one batch.
const BATCH_ROWS: usize = 3;
/// Batches of one partition.
const PARTITION_BATCHES: u32 = 100;

/// How a batch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Acknowledged,
    NotDone,
    Unknown,
}

/// All rows of the test: what each writer wrote, batch by batch.
pub(crate) struct Rows<'a> {
    board: &'a Board,
    /// Writers use one server, readers the other.
    stores: [Arc<dyn Store>; 2],
    table: TableRef,
    ledgers: Vec<RefCell<Vec<Ended>>>,
}

impl<'a> Rows<'a> {
    pub(crate) async fn new(board: &'a Board, one: &Fixture, other: &Arc<dyn Store>, writers: usize) -> Self {
        let table = one.made(1).await;
        let stores = [Arc::clone(&one.store), Arc::clone(other)];
        Self { board, stores, table, ledgers: (0..writers).map(|_| RefCell::default()).collect() }
    }

    /// The table that they are in.
    pub(crate) fn table(&self) -> &TableRef {
        &self.table
    }

    fn ledger(&self, writer: usize) -> &RefCell<Vec<Ended>> {
        self.ledgers.get(writer).expect("a ledger for every writer")
    }

    /// Writes one batch after the other; none is sent twice.
    pub(crate) async fn write(&self, writer: usize) {
        let ledger = self.ledger(writer);
        while self.board.is_open() {
            let number = u32::try_from(ledger.borrow().len()).unwrap();
            let batch = PartitionBatch {
                table: self.table.clone(),
                partition: partition(writer, number / PARTITION_BATCHES),
                rows: batch(writer, number),
                consistency: Consistency::default(),
            };
            let written = self.stores[0].upsert(batch, Durability::Synced);
            let ended = match self.board.call(Client::Writer(writer), written).await {
                Ok(()) => Ended::Acknowledged,
                Err(error) if error.kind() == ErrorKind::Unavailable => Ended::NotDone,
                Err(_) => Ended::Unknown,
            };
            ledger.borrow_mut().push(ended);
        }
    }

    /// Scans one partition after the other, in turns among the writers, the newest most often.
    pub(crate) async fn scan(&self, reader: usize) {
        for turn in reader.. {
            if !self.board.is_open() {
                return;
            }
            let writer = turn % self.ledgers.len();
            let newest = partitions(&self.ledger(writer).borrow()).saturating_sub(1);
            let number = if turn % 2 == 0 { newest } else { u32::try_from(turn).unwrap() % (newest + 1) };
            let before = self.ledger(writer).borrow().clone();
            let found = self.board.call(Client::Reader(reader), self.read(writer, number)).await;
            match found {
                Ok(page) => self.check(writer, number, &before, &page),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Unavailable, "a read has no effect: {error}")
                }
            }
        }
    }

    async fn read(&self, writer: usize, number: u32) -> Result<ScanPage> {
        let scan = Scan {
            table: self.table.clone(),
            partition: partition(writer, number),
            order: Order::OldestFirst,
            interval: Interval::ALL,
            from: Bound::Unbounded,
            rows_max: limits::SCAN_ROWS_MAX,
            bytes_max: limits::SCAN_BYTES_MAX,
            consistency: Consistency::default(),
            hedge_after: None,
            ahead: false,
        };
        self.stores[1].scan(scan).await
    }

    /// Compares a page with what was known before it was read, and with what is known now.
    fn check(&self, writer: usize, number: u32, before: &[Ended], page: &ScanPage) {
        let mut found: BTreeMap<i64, Vec<Row>> = BTreeMap::new();
        for row in page.rows.to_vec() {
            found.entry(row.key.event_time.nanos()).or_default().push(row);
        }
        let now = self.ledger(writer).borrow();
        for at in number * PARTITION_BATCHES..(number + 1) * PARTITION_BATCHES {
            let rows = found.remove(&i64::from(at));
            let whole = rows.as_ref().is_none_or(|rows| *rows == batch(writer, at));
            assert!(whole, "batch {at} of writer {writer} is not as it was written: {rows:?}");
            let acknowledged = before.get(at as usize) == Some(&Ended::Acknowledged);
            assert!(
                !acknowledged || rows.is_some(),
                "batch {at} of writer {writer} was acknowledged and is lost"
            );
            let not_done = now.get(at as usize) == Some(&Ended::NotDone);
            assert!(
                !not_done || rows.is_none(),
                "batch {at} of writer {writer} was called not done and is there"
            );
        }
        assert!(found.is_empty(), "rows that nobody wrote: {found:?}");
    }

    /// Reads everything once more, at the end.
    pub(crate) async fn check_all(&self) {
        for (writer, ledger) in self.ledgers.iter().enumerate() {
            let ledger = ledger.borrow().clone();
            for number in 0..partitions(&ledger) {
                let page = self.read(writer, number).await.unwrap();
                self.check(writer, number, &ledger, &page);
            }
        }
    }
}

fn partitions(ledger: &[Ended]) -> u32 {
    u32::try_from(ledger.len()).unwrap().div_ceil(PARTITION_BATCHES)
}

fn partition(writer: usize, number: u32) -> PartitionKey {
    let series = SeriesId::new(&format!("writer {writer}")).unwrap();
    PartitionKey { series, time_bucket: 0, event_bucket: number }
}

fn batch(writer: usize, number: u32) -> Vec<Row> {
    let value = format!("{writer}/{number}");
    (0..BATCH_ROWS).map(|item| row(i64::from(number), "event", &item.to_string(), &value)).collect()
}
