//! Upper bounds of partition sizes while a table is written, in bounded memory and with few records.
//!
//! Nothing is looked up on the way in: a partition's bytes are added to an entry in memory. Only when an entry
//! has outgrown its allowance is a record written, and it covers as much again in advance, so records per partition
//! grow with the logarithm of its size. What memory forgets (a full map, a restart) is made good by *slack*, added to
//! every partition of the table. The invariant, for every partition:
//!
//! `true bytes <= record (or 0) + slack + what memory counted beyond the record`

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

/// A partition below this needs no record.
pub(crate) const FLOOR_BYTES: u64 = 64 << 10;
/// Entries in memory per table, about 5 MiB.
const ENTRIES_MAX: usize = 131_072;

/// What memory knows of one partition.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Bytes counted and not part of a record.
    counted: u64,
    /// How far `counted` may grow before a record is due.
    allowance: u64,
    /// Whether the record includes the allowance.
    covered: bool,
}

/// The counters of one table. Entries are keyed by a hash of the partition: two partitions that share one are both
/// counted too high, never too low.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    entries: HashMap<u64, Entry, BuildHasherDefault<DefaultHasher>>,
    slack: u64,
}

/// What has to be written because of a count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Due {
    /// The slack rose: store it.
    pub(crate) slack: Option<u64>,
    /// Write a record with so many bytes more than the present one.
    pub(crate) record_grows_by: Option<u64>,
}

impl Counters {
    /// Counters of a new table.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Counters of a table whose memory was lost with the process before; `slack` is the stored one.
    pub(crate) fn after_restart(slack: u64) -> Self {
        Self { slack: slack.saturating_add(FLOOR_BYTES), ..Self::default() }
    }

    /// What every partition may have beyond its record and memory.
    pub(crate) fn slack(&self) -> u64 {
        self.slack
    }

    /// Adds `bytes` to the partition with this hash, and says what has to be written for the invariant to hold.
    pub(crate) fn count(&mut self, hash: u64, bytes: u64) -> Due {
        let mut due = Due::default();
        if self.entries.len() >= ENTRIES_MAX && !self.entries.contains_key(&hash) {
            self.entries.clear();
            self.slack = self.slack.saturating_add(FLOOR_BYTES);
            due.slack = Some(self.slack);
        }
        let fresh = Entry { counted: 0, allowance: FLOOR_BYTES, covered: false };
        let entry = self.entries.entry(hash).or_insert(fresh);
        entry.counted = entry.counted.saturating_add(bytes);
        if entry.counted > entry.allowance {
            let not_in_record = if entry.covered { entry.counted - entry.allowance } else { entry.counted };
            let allowance = entry.counted.saturating_add(entry.allowance);
            due.record_grows_by = Some(not_in_record.saturating_add(allowance));
            *entry = Entry { counted: 0, allowance, covered: true };
        }
        due
    }

    /// Forgets a partition that has no rows and no record any more.
    pub(crate) fn forget(&mut self, hash: u64) {
        self.entries.remove(&hash);
    }

    /// What memory counted for the partition beyond its record and slack.
    pub(crate) fn beyond_record(&self, hash: u64) -> u64 {
        self.entries.get(&hash).filter(|entry| !entry.covered).map_or(0, |entry| entry.counted)
    }

    /// Hash and bytes of the partitions that have no record as far as memory knows.
    pub(crate) fn without_record(&self) -> impl Iterator<Item = (u64, u64)> {
        let bound = |entry: &Entry| entry.counted.saturating_add(self.slack);
        self.entries
            .iter()
            .filter(|(_, entry)| !entry.covered)
            .map(move |(hash, entry)| (*hash, bound(entry)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::{prop_assert, proptest};

    use super::*;

    /// Plays writes and restarts against true sizes; `records` and `slack` are what the disk would have.
    fn play(steps: &[(u64, u64, bool)]) -> Result<(), String> {
        let (mut truth, mut records) = (BTreeMap::<u64, u64>::new(), BTreeMap::<u64, u64>::new());
        let (mut counters, mut stored_slack, mut written) = (Counters::new(), 0, 0_usize);
        for (partition, bytes, restart) in steps {
            if *restart {
                counters = Counters::after_restart(stored_slack);
                stored_slack = counters.slack();
            }
            *truth.entry(*partition).or_default() += bytes;
            let due = counters.count(*partition, *bytes);
            stored_slack = due.slack.unwrap_or(stored_slack);
            if let Some(growth) = due.record_grows_by {
                *records.entry(*partition).or_default() += growth;
                written += 1;
            }
            for (partition, size) in &truth {
                let record = records.get(partition).copied().unwrap_or(0);
                let bound = record + counters.slack() + counters.beyond_record(*partition);
                if bound < *size {
                    return Err(format!("partition {partition} has {size} bytes, bound {bound}"));
                }
            }
        }
        if written > steps.len() {
            return Err("more records than writes".to_owned());
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn bounds_are_never_too_low(steps in proptest::collection::vec(
            (0_u64..4, 0_u64..200_000, proptest::bool::weighted(0.1)), 1..120)) {
            let played = play(&steps);
            prop_assert!(played.is_ok(), "{:?}", played);
        }
    }

    #[test]
    fn a_growing_partition_needs_few_records_and_stays_within_four_times() {
        let (mut counters, mut record, mut records) = (Counters::new(), 0_u64, 0);
        let steps = 100_000_u64;
        for _ in 0..steps {
            if let Some(growth) = counters.count(1, 1_000).record_grows_by {
                record += growth;
                records += 1;
            }
        }
        assert!(records <= 14, "{records}");
        assert!(record >= steps * 1_000 && record <= 4 * steps * 1_000, "{record}");
    }

    #[test]
    fn memory_is_bounded() {
        let mut counters = Counters::new();
        let mut slack = 0;
        for partition in 0..(ENTRIES_MAX as u64 + 10) {
            slack = counters.count(partition, 10).slack.unwrap_or(slack);
        }
        assert!(counters.entries.len() <= ENTRIES_MAX);
        assert_eq!(slack, FLOOR_BYTES);
    }
}
