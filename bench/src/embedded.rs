//! The embedded store as a server runs it: default options, a runtime with two workers.

use std::ops::Bound;
use std::path::Path;

use anyhow::{Context, Result};
use env::Env;
use store::{Scan, Store};
use store_embedded::{EmbeddedStore, Options};
use tokio::runtime::{Builder, Runtime};

use crate::raw::when_free;

/// Threads of the runtime.
pub(crate) const RUNTIME_WORKERS: usize = 2;

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

    /// The runtime that it lives on.
    pub(crate) const fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Closes the store and frees its directory.
    pub(crate) fn close(self) {
        self.runtime.block_on(self.store.close());
    }
}

/// Reads page after page of a partition, as large as `scan` says, to its end; returns how many rows.
pub(crate) async fn read_pages(store: &EmbeddedStore, mut scan: Scan) -> Result<u64> {
    let mut rows = 0;
    loop {
        let page = store.scan(scan.clone()).await?;
        rows += page.rows.len() as u64;
        match page.rows.last() {
            Some(last) if page.more => scan.from = Bound::Excluded(last.key),
            _ => return Ok(rows),
        }
    }
}
