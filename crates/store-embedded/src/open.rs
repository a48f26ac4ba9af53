//! Opening a data directory: own it, settle its journal, open the engine, find the tables.

use std::path::Path;
use std::sync::Arc;

use env::Clock;
use store::Result;

use crate::directory::Directory;
use crate::engine::{Engine, read_failed};
use crate::tables::{Table, Tables};
use crate::{Options, journal};

/// An open directory, before its committer runs.
pub(crate) struct Opened {
    pub(crate) directory: Arc<Directory>,
    pub(crate) engine: Engine,
    pub(crate) tables: Arc<Tables>,
    /// Number of the last group of writes that is on disk.
    pub(crate) last_group: u64,
}

/// Opens the directory at `path`. Blocks on the disk.
pub(crate) fn directory(path: &Path, options: &Options, clock: &dyn Clock) -> Result<Opened> {
    let directory = Directory::own(path)?;
    let cut = journal::settle(&directory.engine())?;
    if cut > 0 {
        let shown = path.display().to_string();
        tracing::warn!(
            bytes = cut,
            directory = shown,
            "cut a torn tail that was never synced off the journal"
        );
    }
    let engine = Engine::open(&directory.engine(), options)?;
    let tables = Tables::default();
    for name in engine.table_names() {
        let keyspace = engine.table(&name, options).map_err(read_failed)?;
        tables.insert(Table::found(name.parse()?, keyspace, clock.boot()));
    }
    let last_group = engine.last_group()?;
    Ok(Opened { directory: Arc::new(directory), engine, tables: Arc::new(tables), last_group })
}
