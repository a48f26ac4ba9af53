//! Sizes of partitions: estimated from counters at any time, exact by one scan.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use bytes::Bytes;
use fjall::{Database, Readable};
use model::{HistogramQuality, Row, SizeHistogram};
use store::{Histogram, Result};
use xxhash_rust::xxh3::xxh3_64;

use crate::cancel::Cancelled;
use crate::engine::read_failed;
use crate::keys::counter::{self, COUNTERS_END, COUNTERS_START, SLACK};
use crate::keys::partition::{self, ROWS_END};
use crate::keys::{kept, row};
use crate::tables::Table;

/// Rows between two looks at whether the caller is still there.
const ROWS_PER_CHECK: usize = 1_024;

/// The kept exact histogram if there is one, else upper bounds from the counters.
pub(crate) fn known(database: &Database, table: &Table) -> Result<Histogram> {
    let snapshot = database.snapshot();
    if let Some(stored) = snapshot.get(&table.keyspace, kept::KEY).map_err(read_failed)? {
        return Ok(Histogram { sizes: SizeHistogram::decode(&stored)?, quality: HistogramQuality::Exact });
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
    Ok(Histogram { sizes, quality: HistogramQuality::Estimated })
}

/// Measures every partition of the table by reading it once.
pub(crate) fn exact(database: &Database, table: &Table, cancelled: &Cancelled) -> Result<SizeHistogram> {
    let mut measured =
        Measured { sizes: SizeHistogram::default(), prefix: Bytes::new(), bytes: 0, held: None };
    let rows = database.snapshot().range(&table.keyspace, Vec::new()..ROWS_END.to_vec());
    for (count, entry) in rows.enumerate() {
        if count % ROWS_PER_CHECK == 0 {
            cancelled.check()?;
        }
        let (key, value) = entry.into_inner().map_err(read_failed)?;
        measured.add(key.into(), &value.into())?;
    }
    measured.end_partition();
    Ok(measured.sizes)
}

/// The partition that is being measured.
struct Measured {
    sizes: SizeHistogram,
    prefix: Bytes,
    bytes: u64,
    /// The newest row, whose further versions may still come.
    held: Option<(Bytes, Row)>,
}

impl Measured {
    fn add(&mut self, key: Bytes, value: &Bytes) -> Result<()> {
        let prefix_length = partition::prefix_length(&key)?;
        let version = row::decode(prefix_length, &key, value)?;
        if let Some((held_key, held)) = self.held.take() {
            if row::same_row(&held_key, &key) {
                self.held = Some((key, held.merge(version)));
                return Ok(());
            }
            self.bytes += held.logical_bytes();
        }
        if key.get(..prefix_length) != Some(self.prefix.as_ref()) {
            self.end_partition();
            self.prefix = key.slice(..prefix_length);
        }
        self.held = Some((key, version));
        Ok(())
    }

    fn end_partition(&mut self) {
        if let Some((_, held)) = self.held.take() {
            self.bytes += held.logical_bytes();
        }
        if !self.prefix.is_empty() {
            self.sizes.record(self.bytes);
        }
        self.bytes = 0;
    }
}
