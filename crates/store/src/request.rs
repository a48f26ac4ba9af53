//! What is asked of a store, and what it answers.

use std::ops::Bound;
use std::time::Duration;

use model::row::{METADATA_BYTES_MAX, VALUE_BYTES_MAX};
use model::{Interval, Order, PartitionKey, Row, RowKey, RowView, Rows, RowsBuilder, TableRef};

use crate::{Consistency, Error, Result};

/// Limits on what one call may carry. Refused before anything is allocated for it.
pub mod limits {
    use std::time::Duration;

    /// Rows in one batch.
    pub const BATCH_ROWS_MAX: usize = 65_536;
    /// Logical bytes in one batch: four requests of the API's limit.
    pub const BATCH_BYTES_MAX: u64 = 16 << 20;
    /// Rows that one scan may ask for.
    pub const SCAN_ROWS_MAX: usize = 65_536;
    /// Logical bytes that one scan may ask for. A single row may exceed what was asked, never this.
    pub const SCAN_BYTES_MAX: u64 = 16 << 20;
    /// Partitions that one page of an enumeration may ask for.
    pub const ENUMERATE_MAX: usize = 10_000;
    /// Where rows are hidden by their write time: a deletion hides those up to so far ahead of the clock of whoever deletes, so
    /// that a row of a server whose clock is ahead goes too.
    pub const DELETE_AHEAD: Duration = Duration::from_secs(60);
    /// Bytes of one metadata record.
    pub const META_VALUE_BYTES_MAX: usize = 1 << 20;
    /// Bytes of a metadata group or name.
    pub const META_KEY_BYTES_MAX: usize = 2_048;
    /// Records that one metadata range may ask for.
    pub const META_RANGE_MAX: usize = 10_000;
    /// A metadata range ends once the values of its records have so many bytes. At least one record comes.
    pub const META_RANGE_BYTES_MAX: usize = 4 << 20;
}

/// What an acknowledged write survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Durability {
    /// Kill -9 and power loss: synced before the acknowledgement.
    Synced,
    /// Kill -9 of the process; a power loss may take the last moments (100 ms on the embedded store).
    Buffered,
}

/// Rows of one partition, written together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionBatch {
    /// Into which table.
    pub table: TableRef,
    /// Into which partition.
    pub partition: PartitionKey,
    /// The rows, in any order. Two rows with the same key are merged as two writes would be.
    pub rows: Vec<Row>,
    /// How many replicas have it before it is acknowledged.
    pub consistency: Consistency,
}

impl PartitionBatch {
    /// Logical bytes of all rows.
    pub fn logical_bytes(&self) -> u64 {
        self.rows.iter().map(Row::logical_bytes).sum()
    }

    /// Refuses a batch over the limits; every backend calls it first.
    pub fn check(&self) -> Result<()> {
        let (rows, bytes) = (self.rows.len(), self.logical_bytes());
        if rows > limits::BATCH_ROWS_MAX || bytes > limits::BATCH_BYTES_MAX {
            return Err(Error::invalid(format!(
                "batch has {rows} rows and {bytes} bytes; cut it to {} rows and {} bytes",
                limits::BATCH_ROWS_MAX,
                limits::BATCH_BYTES_MAX
            )));
        }
        let too_large =
            |row: &&Row| row.value.len() > VALUE_BYTES_MAX || row.metadata.len() > METADATA_BYTES_MAX;
        if let Some(row) = self.rows.iter().find(too_large) {
            let (value, metadata) = (row.value.len(), row.metadata.len());
            return Err(Error::invalid(format!(
                "a row has a value of {value} bytes and metadata of {metadata}; \
                 cut them to {VALUE_BYTES_MAX} and {METADATA_BYTES_MAX}"
            )));
        }
        Ok(())
    }
}

/// A scan of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scan {
    /// In which table.
    pub table: TableRef,
    /// Which partition.
    pub partition: PartitionKey,
    /// In which direction.
    pub order: Order,
    /// Only rows whose event time lies inside.
    pub interval: Interval,
    /// Where to begin, in the direction of the scan: `Excluded` goes on behind a row that was seen, whether that
    /// row still exists or not. The ids of the key may be any bytes, also such as no row has.
    pub from: Bound<RowKey>,
    /// At most so many rows.
    pub rows_max: usize,
    /// No further row once so many logical bytes were read. At least one row comes, however large.
    pub bytes_max: u64,
    /// How many replicas are asked.
    pub consistency: Consistency,
    /// Where somebody waits: after so long without an answer another machine may be asked too. None: never.
    pub hedge_after: Option<Duration>,
    /// Whether it is read ahead of need: whoever asked may look away from it for a while. One that is not is polled whenever
    /// it can go on, until it has answered or is dropped.
    pub ahead: bool,
}

impl Scan {
    /// Refuses a scan over the limits; every backend calls it first.
    pub fn check(&self) -> Result<()> {
        let rows = 1..=limits::SCAN_ROWS_MAX;
        let bytes = 1..=limits::SCAN_BYTES_MAX;
        if !rows.contains(&self.rows_max) || !bytes.contains(&self.bytes_max) {
            return Err(Error::invalid(format!(
                "scan asks for {} rows and {} bytes; ask for 1 to {} rows and 1 to {} bytes",
                self.rows_max,
                self.bytes_max,
                limits::SCAN_ROWS_MAX,
                limits::SCAN_BYTES_MAX
            )));
        }
        Ok(())
    }
}

/// What a scan found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanPage {
    /// Rows in the direction of the scan.
    pub rows: Rows,
    /// Logical bytes of these rows.
    pub bytes: u64,
    /// Whether rows may follow: a limit ended the scan. Go on behind the last row.
    pub more: bool,
}

impl ScanPage {
    /// The same rows, each with an empty value.
    pub fn without_values(&self) -> Self {
        let mut rows = RowsBuilder::default();
        self.rows.iter().for_each(|row| rows.push(RowView { value: &[], ..row }));
        Self { bytes: rows.logical_bytes(), rows: rows.finish(), more: self.more }
    }
}

/// An enumeration of the partitions of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumerate {
    /// Of which table.
    pub table: TableRef,
    /// Behind which partition to go on, whether that one still exists or not; none to begin.
    pub after: Option<PartitionKey>,
    /// At most so many partitions.
    pub partitions_max: usize,
    /// How many replicas are asked.
    pub consistency: Consistency,
}

impl Enumerate {
    /// Refuses an enumeration over the limits; every backend calls it first.
    pub fn check(&self) -> Result<()> {
        let asked = self.partitions_max;
        if !(1..=limits::ENUMERATE_MAX).contains(&asked) {
            let max = limits::ENUMERATE_MAX;
            return Err(Error::invalid(format!(
                "enumeration asks for {asked} partitions; ask for 1 to {max}"
            )));
        }
        Ok(())
    }
}

/// Partitions of a table, in the backend's own order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionPage {
    /// The partitions.
    pub partitions: Vec<PartitionKey>,
    /// Whether partitions may follow: the limit ended the page. Go on behind the last.
    pub more: bool,
}

/// How much work a histogram is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effort {
    /// What is known already.
    Cheap,
    /// Measure every partition, if the backend can, and keep the result until the table is written again.
    Measure,
}

/// What creating or dropping a table found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableOutcome {
    /// It was done by this call.
    Done,
    /// It was so already.
    Already,
}
