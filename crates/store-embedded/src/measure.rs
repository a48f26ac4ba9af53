//! Sizes of partitions: estimated from counters at any time, exact by one scan, which reads no value that lies apart.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use bytes::Bytes;
use fjall::{Database, Readable, UserValue};
use model::{Row, RowView, RowsBuilder, SizeHistogram};
use store::{Histogram, HistogramSource, Result};
use xxhash_rust::xxh3::xxh3_64;

use crate::bodies;
use crate::cancel::Cancelled;
use crate::engine::read_failed;
use crate::keys::counter::{self, COUNTERS_END, COUNTERS_START, SLACK};
use crate::keys::partition::{self, ROWS_END};
use crate::keys::row::{Unescaped, Version};
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
    let snapshot = database.snapshot();
    let (mut measured, mut unescaped) = (Measured::default(), Unescaped::default());
    let rows = snapshot.range(&table.keyspace, Vec::new()..ROWS_END.to_vec());
    for (count, entry) in rows.enumerate() {
        if count % ROWS_PER_CHECK == 0 {
            cancelled.check()?;
        }
        let (key, value) = entry.into_inner().map_err(read_failed)?;
        let prefix_length = partition::prefix_length(&key)?;
        let version = row::decode(prefix_length, &key, &value, &mut unescaped).ok_or_else(cut_short)?;
        measured.add(&key.clone().into(), prefix_length, version, |row_key| {
            bodies::one(&snapshot, table, row_key)
        })?;
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
    /// The last row, whose further versions may still come; without its value where that lies apart.
    last: RowsBuilder,
    apart: Option<Apart>,
}

/// A value that lies apart: its head says how long it is, so it need not be read.
struct Apart {
    row_key: Bytes,
    bytes: u32,
}

impl Measured {
    /// Takes one version of one row. `fetch` reads the body of the row under a key.
    fn add(
        &mut self,
        key: &Bytes,
        prefix_length: usize,
        version: Version<'_>,
        fetch: impl Fn(&[u8]) -> Result<UserValue>,
    ) -> Result<()> {
        let Version { row, body_bytes } = version;
        let apart = body_bytes.map(|bytes| Apart { row_key: key.clone(), bytes });
        let same_partition = key.get(..prefix_length) == Some(self.prefix.as_ref());
        if same_partition && self.last.last_is(&row) {
            return self.merge(row, apart, fetch);
        }
        self.bytes += self.last_bytes();
        self.last.clear();
        if !same_partition {
            if !self.prefix.is_empty() {
                self.sizes.record(self.bytes);
            }
            self.bytes = 0;
            self.prefix = key.slice(..prefix_length);
        }
        self.last.push(row);
        self.apart = apart;
        Ok(())
    }

    /// Merges a further version of the last row into it. Versions come in the order of their write times, so this one replaces the
    /// last; only where both have the same does the greater value stay, and has to be looked at.
    fn merge(
        &mut self,
        row: RowView<'_>,
        apart: Option<Apart>,
        fetch: impl Fn(&[u8]) -> Result<UserValue>,
    ) -> Result<()> {
        let last = self.last.view(0).filter(|last| last.write_time == row.write_time);
        let (Some(last), true) = (last, apart.is_some() || self.apart.is_some()) else {
            self.last.merge_into_last(row);
            self.apart = apart;
            return Ok(());
        };
        let whole = |row: RowView<'_>, apart: Option<Apart>| -> Result<Row> {
            let mut row = row.to_row();
            if let Some(apart) = apart {
                row.value = Bytes::copy_from_slice(bodies::value(&fetch(&apart.row_key)?, apart.bytes)?);
            }
            Ok(row)
        };
        let merged = whole(last, self.apart.take())?.merge(whole(row, apart)?);
        self.last.clear();
        self.last.push(merged.view());
        Ok(())
    }

    fn last_bytes(&self) -> u64 {
        self.last.logical_bytes() + self.apart.as_ref().map_or(0, |apart| u64::from(apart.bytes))
    }

    fn finish(mut self) -> SizeHistogram {
        if !self.prefix.is_empty() {
            self.sizes.record(self.bytes + self.last_bytes());
        }
        self.sizes
    }
}
