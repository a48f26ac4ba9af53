//! Where the events of an engine in this process lie, and the runtime that it lives on.

use std::sync::Arc;

use anyhow::Result;
use store::{MemoryStore, Store};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use crate::embedded::{Embedded, RUNTIME_WORKERS};
use crate::harness::Setting;

/// Where the events are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the embedded store, synced before a write is acknowledged.
    Disk,
    /// In memory.
    Memory,
}

/// An empty store with its runtime.
pub(crate) enum Home {
    /// The embedded store and its directory.
    Disk(Embedded, TempDir),
    /// A store in memory.
    Memory(Runtime),
}

impl Home {
    /// Opens it.
    pub(crate) fn open(setting: &Setting, place: Place) -> Result<(Self, Arc<dyn Store>)> {
        Ok(match place {
            Place::Disk => {
                let directory = setting.directory()?;
                let embedded = Embedded::open(directory.path())?;
                let store = embedded.run(async |store| Ok(store))?;
                (Self::Disk(embedded, directory), Arc::new(store))
            }
            Place::Memory => {
                let runtime =
                    Builder::new_multi_thread().worker_threads(RUNTIME_WORKERS).enable_time().build()?;
                (Self::Memory(runtime), Arc::new(MemoryStore::new()))
            }
        })
    }

    /// Runs `work` on its runtime.
    pub(crate) fn run<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        match self {
            Self::Disk(embedded, _) => embedded.run(|_| work),
            Self::Memory(runtime) => runtime.block_on(work),
        }
    }

    /// Closes the store and removes what it held.
    pub(crate) fn close(self) {
        if let Self::Disk(embedded, _directory) = self {
            embedded.close();
        }
    }
}
