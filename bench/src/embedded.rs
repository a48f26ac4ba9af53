//! The embedded store as a server runs it: default options, a runtime with two workers.

use std::path::Path;

use anyhow::{Context, Result};
use env::Env;
use store_embedded::{EmbeddedStore, Options};
use tokio::runtime::{Builder, Runtime};

use crate::raw::when_free;

const RUNTIME_WORKERS: usize = 2;

/// An open store and the runtime that it lives on.
pub(crate) struct Embedded {
    runtime: Runtime,
    store: EmbeddedStore,
}

impl Embedded {
    /// Opens the data directory.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(RUNTIME_WORKERS).enable_time().build()?;
        let open = || {
            Ok(runtime
                .block_on(async { EmbeddedStore::open(path, Options::default(), Env::system()).await })?)
        };
        let store = when_free(open).context("cannot open the store")?;
        Ok(Self { runtime, store })
    }

    /// Runs `work` on this runtime with the store.
    pub(crate) fn run<T, F: Future<Output = Result<T>>>(
        &self,
        work: impl FnOnce(EmbeddedStore) -> F,
    ) -> Result<T> {
        let store = self.store.clone();
        self.runtime.block_on(async move { work(store).await })
    }

    /// Closes the store and frees its directory.
    pub(crate) fn close(self) {
        self.runtime.block_on(self.store.close());
    }
}
