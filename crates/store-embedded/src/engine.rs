//! The engine with Braid's settings: the only file that configures fjall.

use std::path::Path;
use std::sync::Arc;

use fjall::config::{BlockSizePolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry, PinningPolicy};
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions, PersistMode, Readable};
use store::{Error, ErrorKind, Result};

use crate::Options;
use crate::keys::sync_mark::{self, SyncMark};

const META: &str = "_meta";
const SYS: &str = "_sys";
const BLOCK_BYTES: u32 = 16 << 10;
/// The small keyspaces flush early, so that they never pin much of the journal.
const SMALL_MEMTABLE_BYTES: u64 = 2 << 20;

/// An open database and the two keyspaces that every directory has.
#[derive(Clone)]
pub(crate) struct Engine {
    pub(crate) database: Database,
    pub(crate) meta: Keyspace,
    pub(crate) sys: Keyspace,
    path: Arc<Path>,
}

/// What the engine uses right now; for metrics and alarms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineStats {
    /// Bytes in memtables, written to the journal and not yet to tables on disk.
    pub memtable_bytes: u64,
    /// Journal files. A number that only grows means that some table is never flushed.
    pub journals: usize,
    /// Bytes of the journal files.
    pub journal_bytes: u64,
    /// Memtables that wait to be flushed.
    pub flushes_waiting: usize,
    /// Bytes of everything on disk.
    pub disk_bytes: u64,
}

impl Engine {
    /// Opens or makes the database at `path`.
    pub(crate) fn open(path: &Path, options: &Options) -> Result<Self> {
        let failed = |error: fjall::Error| {
            let message = format!(
                "cannot open the store at {}: {error}; free disk space or check rights, and see the log for more",
                path.display()
            );
            let kind = match &error {
                fjall::Error::Io(_) | fjall::Error::Locked => ErrorKind::Unavailable,
                _ => ErrorKind::Corrupt,
            };
            Error::new(kind, message).caused_by(error)
        };
        let database = Database::builder(path)
            .cache_size(options.cache_bytes)
            .worker_threads(options.workers)
            .max_journaling_size(options.journal_bytes)
            // Values of 4 KiB and more would be compressed under the journal's lock.
            .journal_compression(CompressionType::None)
            .open()
            .map_err(failed)?;
        let small = || {
            keyspace_options(SMALL_MEMTABLE_BYTES).filter_policy(FilterPolicy::all(FilterPolicyEntry::Bloom(
                fjall::config::BloomConstructionPolicy::BitsPerKey(10.0),
            )))
        };
        let meta = database.keyspace(META, small).map_err(failed)?;
        let sys = database.keyspace(SYS, small).map_err(failed)?;
        Ok(Self { database, meta, sys, path: path.into() })
    }

    /// Opens or makes the keyspace of a table.
    pub(crate) fn table(&self, name: &str, options: &Options) -> fjall::Result<Keyspace> {
        self.database.keyspace(name, || keyspace_options(options.memtable_bytes))
    }

    /// The keyspaces that are not tables.
    pub(crate) fn small(&self) -> [&Keyspace; 2] {
        [&self.meta, &self.sys]
    }

    /// Names of the keyspaces that are tables.
    pub(crate) fn table_names(&self) -> Vec<String> {
        let names = self.database.list_keyspace_names().into_iter().map(|name| name.to_string());
        names.filter(|name| name != META && name != SYS).collect()
    }

    /// The number of the last group of writes that is on disk.
    pub(crate) fn last_group(&self) -> Result<u64> {
        let stored = self.database.snapshot().get(&self.sys, sync_mark::KEY).map_err(read_failed)?;
        Ok(stored.and_then(|bytes| SyncMark::decode(&bytes)).map_or(0, |mark| mark.group))
    }

    /// Fails if a background thread of the engine has died: it then takes no more writes.
    pub(crate) fn check_alive(&self) -> fjall::Result<()> {
        self.database.persist(PersistMode::Buffer)
    }

    /// What happened, in words for an operator. After a background failure the engine only says that there was one, so
    /// the free space of its disk is told with it: a full disk is the usual cause.
    pub(crate) fn describe(&self, error: &fjall::Error) -> String {
        match error {
            fjall::Error::Io(error) => error.to_string(),
            fjall::Error::Poisoned => {
                let free = rustix::fs::statvfs(&*self.path).map(|disk| (disk.f_bavail * disk.f_frsize) >> 20);
                let free = free.map_or_else(|error| error.to_string(), |free| format!("{free} MiB"));
                format!("a flush or compaction in the background failed, free space on its disk: {free}")
            }
            other => other.to_string(),
        }
    }

    /// Which share of its disk is used, of what a process without special rights may use; none where the disk has no size.
    pub(crate) fn disk_share(&self) -> Result<Option<f64>> {
        let disk = rustix::fs::statvfs(&*self.path).map_err(|error| {
            let message = format!("cannot tell how full the disk of {} is: {error}", self.path.display());
            Error::new(ErrorKind::Unavailable, format!("{message}; check path and rights")).caused_by(error)
        })?;
        Ok(used_share(disk.f_blocks, disk.f_bfree, disk.f_bavail))
    }

    /// What is used right now.
    pub(crate) fn stats(&self) -> Result<EngineStats> {
        Ok(EngineStats {
            memtable_bytes: self.database.write_buffer_size(),
            journals: self.database.journal_count(),
            journal_bytes: self.database.journal_disk_space().map_err(read_failed)?,
            flushes_waiting: self.database.outstanding_flushes(),
            disk_bytes: self.database.disk_space().map_err(read_failed)?,
        })
    }
}

/// The share of `blocks` that is used where `free` are free and `available` of these to everybody.
fn used_share(blocks: u64, free: u64, available: u64) -> Option<f64> {
    let used = blocks.saturating_sub(free);
    let all = used.saturating_add(available);
    // Blocks of all disks there are can be told exactly.
    (all > 0).then(|| used as f64 / all as f64)
}

fn keyspace_options(memtable_bytes: u64) -> KeyspaceCreateOptions {
    KeyspaceCreateOptions::default()
        .max_memtable_size(memtable_bytes)
        .data_block_size_policy(BlockSizePolicy::all(BLOCK_BYTES))
        // Level 0 is short-lived; below it everything is compressed.
        .data_block_compression_policy(CompressionPolicy::new([CompressionType::None, CompressionType::Lz4]))
        // Rows are only ever read by range, so filters would cost memory for nothing.
        .filter_policy(FilterPolicy::disabled())
        .filter_block_pinning_policy(PinningPolicy::all(false))
        // Hundreds of idle slices must not hold their indexes in memory; the cache decides.
        .index_block_pinning_policy(PinningPolicy::all(false))
}

/// A read that the engine could not do.
pub(crate) fn read_failed(error: fjall::Error) -> Error {
    let kind = match &error {
        fjall::Error::Io(_) => ErrorKind::Unavailable,
        _ => ErrorKind::Corrupt,
    };
    let message = format!("the embedded store cannot read its files: {error}; check the disk and the log");
    Error::new(kind, message).caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_for_the_administrator_is_not_there() {
        assert_eq!(used_share(100, 100, 100), Some(0.0));
        assert_eq!(used_share(100, 60, 60), Some(0.4));
        // A disk that keeps 5 of 100 blocks for its administrator is full when only these are free.
        assert_eq!(used_share(100, 5, 0), Some(1.0));
        assert_eq!(used_share(0, 0, 0), None);
        assert_eq!(used_share(1, 2, 2), Some(0.0));
    }
}
