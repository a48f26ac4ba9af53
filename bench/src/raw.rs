//! The engine without the store: fjall with the settings that the embedded store gives it.
//!
//! Kept by hand beside `store-embedded`'s `engine`, whose types do not leave that crate. If the two drift apart, a
//! comparison measures settings instead of code.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use fjall::config::{BlockSizePolicy, CompressionPolicy, FilterPolicy, PinningPolicy};
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions};
use store_embedded::Options;

const BLOCK_BYTES: u32 = 16 << 10;
/// Where an embedded store keeps the engine, inside its data directory.
pub(crate) const ENGINE_DIRECTORY: &str = "engine";
/// How long a store that was closed may take to let go of its directory.
const FREE_WITHIN_TRIES: u32 = 500;
const TRY_EVERY: Duration = Duration::from_millis(10);
/// Compaction has settled once nothing ran for so many looks in a row.
const SETTLED_LOOKS: u32 = 20;

/// Opens or makes a database.
pub(crate) fn open(path: &Path) -> Result<Database> {
    let options = Options::default();
    when_free(|| {
        let builder = Database::builder(path)
            .cache_size(options.cache_bytes)
            .worker_threads(options.workers)
            .max_journaling_size(options.journal_bytes)
            .journal_compression(CompressionType::None);
        Ok(builder.open()?)
    })
    .with_context(|| format!("cannot open fjall at {}", path.display()))
}

/// Opens or makes the keyspace of a table.
pub(crate) fn keyspace(database: &Database, name: &str) -> Result<Keyspace> {
    let options = || {
        KeyspaceCreateOptions::default()
            .max_memtable_size(Options::default().memtable_bytes)
            .data_block_size_policy(BlockSizePolicy::all(BLOCK_BYTES))
            .data_block_compression_policy(CompressionPolicy::new([
                CompressionType::None,
                CompressionType::Lz4,
            ]))
            .filter_policy(FilterPolicy::disabled())
            .filter_block_pinning_policy(PinningPolicy::all(false))
            .index_block_pinning_policy(PinningPolicy::all(false))
    };
    database.keyspace(name, options).with_context(|| format!("cannot open keyspace {name}"))
}

/// Waits until background work is done, so that it is not measured.
pub(crate) fn settle(database: &Database) {
    let mut quiet = 0;
    while quiet < SETTLED_LOOKS {
        let busy = database.active_compactions() > 0 || database.outstanding_flushes() > 0;
        quiet = if busy { 0 } else { quiet + 1 };
        std::thread::park_timeout(TRY_EVERY);
    }
}

/// Opens a directory whose last owner was closed a moment ago and may still be letting go of it.
pub(crate) fn when_free<T>(mut open: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 0..FREE_WITHIN_TRIES {
        if let Ok(opened) = open() {
            return Ok(opened);
        }
        std::thread::park_timeout(TRY_EVERY);
    }
    open()
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn what_becomes_free_is_opened() {
        let mut tries = 0;
        let opened = when_free(|| {
            tries += 1;
            if tries < 3 { Err(anyhow!("locked")) } else { Ok(tries) }
        });
        assert_eq!(opened.unwrap(), 3);
    }

    #[test]
    fn an_engine_opens_again_with_its_data() {
        let directory = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            let database = open(directory.path()).unwrap();
            keyspace(&database, "table").unwrap().insert(b"key", b"value").unwrap();
            settle(&database);
        }
        let database = open(directory.path()).unwrap();
        assert_eq!(keyspace(&database, "table").unwrap().len().unwrap(), 1);
    }
}
