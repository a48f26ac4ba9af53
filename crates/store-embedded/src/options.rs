//! Settings: plain data, every one with its unit, default and reason.

use std::time::Duration;

const MIB: u64 = 1 << 20;

/// How the embedded store uses memory and disk. The defaults suit a machine with 2 cores and a few GiB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Cache of blocks read from disk, in bytes. Default 256 MiB.
    pub cache_bytes: u64,
    /// A table's memtable is written to disk once it has so many bytes. Default 16 MiB.
    pub memtable_bytes: u64,
    /// All active memtables together stay within so many bytes, by writing the coldest to disk. Default 128 MiB.
    pub memtable_budget_bytes: u64,
    /// A table that was not written for so long has its memtable written to disk, so that it does not pin the journal.
    /// Default 30 s.
    pub idle_flush_after: Duration,
    /// Journal files together, in bytes; bounds the time to open after a crash. Default 128 MiB.
    pub journal_bytes: u64,
    /// Threads that flush and compact. Default 2.
    pub workers: usize,
    /// Buffered writes are synced so often. Default 100 ms.
    pub sync_interval: Duration,
    /// Bytes of changes that may wait for the committer; more waits outside. Default 64 MiB.
    pub queue_bytes: u64,
    /// Bytes that one group of changes may have, so that no caller waits for an endless one. Default 8 MiB.
    pub group_bytes: u64,
    /// Tables that may exist. Default 2,000.
    pub tables_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            cache_bytes: 256 * MIB,
            memtable_bytes: 16 * MIB,
            memtable_budget_bytes: 128 * MIB,
            idle_flush_after: Duration::from_secs(30),
            journal_bytes: 128 * MIB,
            workers: 2,
            sync_interval: Duration::from_millis(100),
            queue_bytes: 64 * MIB,
            group_bytes: 8 * MIB,
            tables_max: 2_000,
        }
    }
}
