//! What does reading a wide partition through the store cost, against an iterator of the engine?
//!
//! One partition is written once, flushed and left until compaction has settled. Then both sides read all of it from
//! the same files: the store page by page, decoding rows and merging their versions; the control with one iterator over
//! the same keys of the same keyspace, taking every key and value. Only one of them can have the directory, so each run
//! opens it anew and reads everything once before the timed pass.
//!
//! Memory is the growth of anonymous memory during the timed pass, beyond the cache that the first pass filled: a
//! read of a partition may need some pages, and never a part of the partition.

use std::ops::Bound;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use fjall::{Database, Guard, Keyspace, Readable};
use model::{Interval, Order};
use store::{Consistency, Durability, PartitionBatch, Scan, Storage, Store};
use store_embedded::EmbeddedStore;
use tempfile::TempDir;

use super::Question;
use crate::embedded::{Embedded, read_pages};
use crate::harness::{Answer, Goal, Sample, Setting, Side, Unit, interleave, measure};
use crate::{progress, raw, workload};

pub(crate) const QUESTION: Question = Question {
    name: "scan",
    asks: "reading a wide partition through the embedded store, against fjall's iterator",
    answer,
};

const PARTITION_BYTES: u64 = 500_000_000;
const PARTITION_BYTES_QUICK: u64 = 100_000_000;
const WRITE_ROWS: u64 = 4_000;
const PAGE_ROWS: usize = 4_096;
const PAGE_BYTES: u64 = 1 << 20;
const SERIES: u64 = 1;
const RATIO_MIN: f64 = 0.8;
const GROWTH_MAX_MIB: f64 = 64.0;

const CONTROL_OLDEST: &str = "fjall, oldest first";
const SUBJECT_OLDEST: &str = "store, oldest first";
const CONTROL_NEWEST: &str = "fjall, newest first";
const SUBJECT_NEWEST: &str = "store, newest first";

fn answer(setting: &Setting) -> Result<Answer> {
    let rows = setting.size(PARTITION_BYTES, PARTITION_BYTES_QUICK) / workload::ROW_LOGICAL_BYTES;
    let data = Data::write(setting, rows)?;
    let sides = vec![
        Side::new(CONTROL_OLDEST, || by_iterator(&data, Order::OldestFirst)),
        Side::new(SUBJECT_OLDEST, || through_store(&data, Order::OldestFirst)),
        Side::new(CONTROL_NEWEST, || by_iterator(&data, Order::NewestFirst)),
        Side::new(SUBJECT_NEWEST, || through_store(&data, Order::NewestFirst)),
    ];
    let runs = interleave(setting.rounds, sides, progress::run(QUESTION.name, Unit::Bytes))?;
    let rate = |subject, control| Goal::Rate { subject, control, at_least: RATIO_MIN };
    let growth = |side| Goal::Growth { side, at_most_mib: GROWTH_MAX_MIB };
    let goals = [
        rate(SUBJECT_OLDEST, CONTROL_OLDEST),
        rate(SUBJECT_NEWEST, CONTROL_NEWEST),
        growth(SUBJECT_OLDEST),
        growth(SUBJECT_NEWEST),
    ];
    Ok(Answer::new(QUESTION.name, Unit::Bytes, runs, &goals)?
        .note(format!(
            "{rows} rows of {} B in one partition, {} MB on disk; pages of {PAGE_ROWS} rows or {PAGE_BYTES} bytes",
            workload::VALUE_BYTES,
            data.disk_bytes / 1_000_000
        ))
        .note("bytes are logical (time, ids, value) on both sides; the second of two passes is timed")
        .note("memory: growth of anonymous memory in the timed pass, the engine's cache being warm"))
}

/// A data directory with one wide partition.
struct Data {
    directory: TempDir,
    rows: u64,
    disk_bytes: u64,
}

impl Data {
    fn write(setting: &Setting, rows: u64) -> Result<Self> {
        let directory = setting.directory()?;
        let embedded = Embedded::open(directory.path())?;
        embedded.run(async |store| fill(&store, rows).await).context("cannot write the partition")?;
        embedded.close();
        let mut data = Self { directory, rows, disk_bytes: 0 };
        let (database, keyspace) = data.open_raw()?;
        raw::settle(&database);
        data.disk_bytes = keyspace.disk_space();
        Ok(data)
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn open_raw(&self) -> Result<(Database, Keyspace)> {
        let path: PathBuf = self.path().join(raw::ENGINE_DIRECTORY);
        let database = raw::open(&path)?;
        let keyspace = raw::keyspace(&database, &workload::table(0)?.to_string())?;
        Ok((database, keyspace))
    }

    /// Logical bytes, once it is sure that every row was read.
    fn bytes(&self, rows: u64) -> Result<u64> {
        ensure!(rows == self.rows, "read {rows} of {} rows", self.rows);
        Ok(rows * workload::ROW_LOGICAL_BYTES)
    }
}

async fn fill(store: &EmbeddedStore, rows: u64) -> Result<()> {
    let (table, partition) = (workload::table(0)?, workload::partition(SERIES)?);
    store.create_table(&table, &Storage::default()).await?;
    let mut first = 0;
    while first < rows {
        let count = WRITE_ROWS.min(rows - first);
        let batch = PartitionBatch {
            table: table.clone(),
            partition: partition.clone(),
            rows: workload::rows(first, count)?,
            consistency: Consistency::default(),
        };
        store.upsert(batch, Durability::Buffered).await?;
        first += count;
    }
    store.flush().await?;
    Ok(())
}

fn through_store(data: &Data, order: Order) -> Result<Sample> {
    let embedded = Embedded::open(data.path())?;
    let scan = Scan {
        table: workload::table(0)?,
        partition: workload::partition(SERIES)?,
        order,
        interval: Interval::ALL,
        from: Bound::Unbounded,
        rows_max: PAGE_ROWS,
        bytes_max: PAGE_BYTES,
        consistency: Consistency::default(),
        hedge_after: None,
        ahead: false,
    };
    let pass = || embedded.run(async |store| data.bytes(read_pages(&store, scan.clone()).await?));
    pass().context("warming up")?;
    let sample = measure(pass)?;
    embedded.close();
    Ok(sample)
}

fn by_iterator(data: &Data, order: Order) -> Result<Sample> {
    let (database, keyspace) = data.open_raw()?;
    let pass = || data.bytes(read_entries(&database, &keyspace, order)?);
    pass().context("warming up")?;
    measure(pass)
}

/// Reads the entries of the partition; returns how many there are.
fn read_entries(database: &Database, keyspace: &Keyspace, order: Order) -> Result<u64> {
    let from = workload::raw_prefix(&workload::partition(SERIES)?)?;
    let mut to = from.clone();
    to.push(0xFF);
    let mut entries = database.snapshot().range(keyspace, from..to);
    let mut taken = Taken::default();
    match order {
        Order::OldestFirst => entries.try_for_each(|entry| taken.take(entry))?,
        Order::NewestFirst => entries.by_ref().rev().try_for_each(|entry| taken.take(entry))?,
    }
    ensure!(
        taken.bytes > taken.entries * workload::VALUE_BYTES as u64,
        "values are shorter than they were written"
    );
    Ok(taken.entries)
}

/// What an iterator gave.
#[derive(Default)]
struct Taken {
    entries: u64,
    bytes: u64,
}

impl Taken {
    fn take(&mut self, entry: Guard) -> Result<()> {
        let (key, value) = entry.into_inner()?;
        self.entries += 1;
        self.bytes += (key.len() + value.len()) as u64;
        Ok(())
    }
}
