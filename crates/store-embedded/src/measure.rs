//! Sizes of partitions: estimated from counters at any time, exact by one scan.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use bytes::Bytes;
use fjall::{Database, Readable};
use model::{RowsBuilder, SizeHistogram};
use store::{Histogram, HistogramSource, Result};
use xxhash_rust::xxh3::xxh3_64;

use crate::cancel::Cancelled;
use crate::engine::read_failed;
use crate::keys::counter::{self, COUNTERS_END, COUNTERS_START, SLACK};
use crate::keys::partition::{self, ROWS_END};
use crate::keys::row::Unescaped;
use crate::keys::text::cut_short;
use crate::keys::{kept, row};
use crate::tables::Table;

/// Rows between two looks at whether the caller is still there.
const ROWS_PER_CHECK: usize = 1_024;

/// The kept exact histogram if there is one, else upper bounds from the counters.
pub(crate) fn known(database: &Database, table: &Table) -> Result<Histogram> {
    let snapshot = database.snapshot();
    if let Some(stored) = snapshot.get(&table.keyspace, kept::KEY).map_err(read_failed)? {
        return Ok(Histogram::exact(SizeHistogram::decode(&stored)?));
    }
    let stored_slack = snapshot.get(&table.keyspace, SLACK).map_err(read_failed)?;
    let stored_slack = stored_slack.map_or(Ok(0), |bytes| counter::decode(&bytes))?;
    let mut sizes = SizeHistogram::default();
    // Memory forgets that a partition has a record when the process restarts.
    let mut recorded = BTreeSet::new();
    let counters = table.counters.lock().unwrap_or_else(PoisonError::into_inner);
    let slack = counters.as_ref().map_or(stored_slack, |known| known.slack());
    for entry in snapshot.range(&table.keyspace, COUNTERS_START..COUNTERS_END) {
        let (key, value) = entry.into_inner().map_err(read_failed)?;
        let hash = xxh3_64(counter::prefix(&key)?);
        recorded.insert(hash);
        let beyond = counters.as_ref().map_or(0, |known| known.beyond_record(hash));
        sizes.record(counter::decode(&value)?.saturating_add(slack).saturating_add(beyond));
    }
    if let Some(known) = counters.as_ref() {
        let others = known.without_record().filter(|(hash, _)| !recorded.contains(hash));
        others.for_each(|(_, bytes)| sizes.record(bytes));
    }
    Ok(Histogram::estimated(sizes, HistogramSource::Counters))
}

/// Measures every partition of the table by reading it once.
pub(crate) fn exact(database: &Database, table: &Table, cancelled: &Cancelled) -> Result<SizeHistogram> {
    let mut measured = Measured::default();
    let rows = database.snapshot().range(&table.keyspace, Vec::new()..ROWS_END.to_vec());
    for (count, entry) in rows.enumerate() {
        if count % ROWS_PER_CHECK == 0 {
            cancelled.check()?;
        }
        let (key, value) = entry.into_inner().map_err(read_failed)?;
        measured.add(&key.into(), &value.into())?;
    }
    Ok(measured.finish())
}

/// The partition that is being measured.
#[derive(Default)]
struct Measured {
    sizes: SizeHistogram,
    prefix: Bytes,
    /// Bytes of its rows but the last.
    bytes: u64,
    /// The last row, whose further versions may still come.
    last: RowsBuilder,
    unescaped: Unescaped,
}

impl Measured {
    fn add(&mut self, key: &Bytes, value: &Bytes) -> Result<()> {
        let prefix_length = partition::prefix_length(key)?;
        let version = row::decode(prefix_length, key, value, &mut self.unescaped).ok_or_else(cut_short)?;
        let same_partition = key.get(..prefix_length) == Some(self.prefix.as_ref());
        if same_partition && self.last.last_is(&version) {
            self.last.merge_into_last(version);
            return Ok(());
        }
        self.bytes += self.last.logical_bytes();
        self.last.clear();
        if !same_partition {
            if !self.prefix.is_empty() {
                self.sizes.record(self.bytes);
            }
            self.bytes = 0;
            self.prefix = key.slice(..prefix_length);
        }
        self.last.push(version);
        Ok(())
    }

    fn finish(mut self) -> SizeHistogram {
        if !self.prefix.is_empty() {
            self.sizes.record(self.bytes + self.last.logical_bytes());
        }
        self.sizes
    }
}
