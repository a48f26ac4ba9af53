//! One wide partition, written once and read to its end: by the store in this process, and through a server.
//!
//! Each run opens the directory anew and reads everything once before the timed pass. A pass that did not come upon every
//! event is an error and no figure.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use model::{Order, SeriesId};
use rpc::client::Client;

use crate::embedded::{Embedded, read_pages};
use crate::filled::{Batch, Filled};
use crate::harness::{Sample, Setting, measure, measure_in};
use crate::remote::{Remote, Threads};
use crate::{remote, wire, workload};

const PARTITION_BYTES: u64 = 500_000_000;
const PARTITION_BYTES_QUICK: u64 = 50_000_000;
const WRITE_EVENTS: u64 = 1_000;
/// None of the small ones has this number.
const SERIES: u64 = 999_999_999;
/// As question `scan` reads.
pub(crate) const SCAN_ROWS: usize = 4_096;
pub(crate) const SCAN_BYTES: u64 = 1 << 20;
/// Events on a page of a client that follows tokens.
pub(crate) const PAGE_EVENTS: i32 = 1_000;

/// A data directory with one wide partition.
pub(crate) struct Wide {
    filled: Filled,
    /// Whose events they are.
    pub(crate) series: SeriesId,
    events: u64,
}

impl Wide {
    /// Writes the partition.
    pub(crate) fn write(setting: &Setting) -> Result<Self> {
        Self::write_beside(setting, Vec::new())
    }

    /// Writes the partition, and other series into the same table.
    pub(crate) fn write_beside(setting: &Setting, others: Vec<Batch>) -> Result<Self> {
        let events = events(setting);
        let filled = Filled::write(setting, [others, batches(events)].concat())?;
        Ok(Self { filled, series: workload::series(SERIES)?, events })
    }

    /// Writes the partition with one marked value every [`workload::MARKED_EVERY`] events.
    pub(crate) fn write_marked(setting: &Setting) -> Result<Self> {
        let events = events(setting);
        let filled = Filled::write_as(setting, batches(events), wire::write_marked)?;
        Ok(Self { filled, series: workload::series(SERIES)?, events })
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        self.filled.path()
    }

    /// How many events there are.
    pub(crate) const fn events(&self) -> u64 {
        self.events
    }

    /// What a reader of figures has to know about the data.
    pub(crate) fn note(&self) -> String {
        let disk_mb = self.filled.disk_bytes / 1_000_000;
        format!(
            "{} events of {} B in one partition, {disk_mb} MB on disk",
            self.events,
            workload::VALUE_BYTES
        )
    }

    /// Logical bytes, once it is sure that a pass came upon every event.
    pub(crate) fn bytes(&self, events: u64) -> Result<u64> {
        ensure!(events == self.events, "read {events} of {} events", self.events);
        Ok(events * workload::ROW_LOGICAL_BYTES)
    }

    /// The store's own scan, in this process.
    pub(crate) fn through_store(&self, order: Order) -> Result<Sample> {
        let embedded = Embedded::open(self.path())?;
        let scan = self.filled.scan(&self.series, order, SCAN_ROWS, SCAN_BYTES)?;
        let pass = || embedded.run(async |store| self.bytes(read_pages(&store, scan.clone()).await?));
        pass().context("warming up")?;
        let sample = measure(pass)?;
        embedded.close();
        Ok(sample)
    }

    /// One client on one thread, whose `pass` returns how many events it, or the server for it, came upon.
    pub(crate) fn through_server(&self, pass: impl AsyncFn(&Client) -> Result<u64>) -> Result<Sample> {
        let remote = Remote::serve(self.path(), Threads::One)?;
        let client = remote.client()?;
        let pass = || self.bytes(remote.run(pass(&client))?);
        pass().context("warming up")?;
        let sample = measure_in(remote.process(), pass)?;
        drop(client);
        remote.stop()?;
        Ok(sample)
    }

    /// Reads page after page; returns how many events.
    pub(crate) async fn follow_tokens(&self, client: &Client, order: Order) -> Result<u64> {
        Ok(remote::read_pages(client, wire::read(&self.series, order, PAGE_EVENTS)?).await?.events)
    }
}

fn events(setting: &Setting) -> u64 {
    setting.size(PARTITION_BYTES, PARTITION_BYTES_QUICK) / workload::ROW_LOGICAL_BYTES
}

/// The partition, cut into requests.
fn batches(events: u64) -> Vec<Batch> {
    let batch = |first| Batch { series: SERIES, first, count: WRITE_EVENTS.min(events - first) };
    (0..events.div_ceil(WRITE_EVENTS)).map(|number| batch(number * WRITE_EVENTS)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_partition_is_cut_without_a_gap() {
        let cut: Vec<(u64, u64)> = batches(2_500).iter().map(|batch| (batch.first, batch.count)).collect();
        assert_eq!(cut, [(0, 1_000), (1_000, 1_000), (2_000, 500)]);
        assert_eq!(batches(1_000).len(), 1);
    }
}
