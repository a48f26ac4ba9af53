//! A data directory that was filled through the server, once, and is then read in two ways: by a server, and by the
//! store in this process. Only one of them can have it at a time, so each run opens it anew.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use api::v1::WriteEventRecordsRequest;
use model::{Order, SeriesId, TableRef};
use std::ops::Bound;
use store::{Consistency, Scan};
use tempfile::TempDir;

use crate::embedded::Embedded;
use crate::harness::Setting;
use crate::remote::{Remote, Threads};
use crate::{crowd, raw, remote, wire, workload};

const WRITERS: u64 = 8;

/// Events that are written by one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    /// The number of their series.
    pub(crate) series: u64,
    /// The first of them.
    pub(crate) first: u64,
    /// How many.
    pub(crate) count: u64,
}

/// Makes the request for so many events of a series from the first one on.
type Make = fn(&SeriesId, u64, u64) -> Result<WriteEventRecordsRequest>;

/// The directory, and where the server put what it was sent.
pub(crate) struct Filled {
    directory: TempDir,
    table: TableRef,
    /// Bytes of the table on disk, once everything is flushed and compaction has settled.
    pub(crate) disk_bytes: u64,
}

impl Filled {
    /// Writes all of it through a server, stops that, flushes and waits until compaction has settled.
    pub(crate) fn write(setting: &Setting, batches: Vec<Batch>) -> Result<Self> {
        Self::write_as(setting, batches, wire::write)
    }

    /// The same with requests that somebody else makes.
    pub(crate) fn write_as(setting: &Setting, batches: Vec<Batch>, make: Make) -> Result<Self> {
        let directory = setting.directory()?;
        let remote = Remote::serve(directory.path(), Threads::Two)?;
        let table = wire::table(remote.create_namespace()?)?;
        fill(&remote, batches, make).context("cannot fill the data directory")?;
        remote.stop()?;
        let embedded = Embedded::open(directory.path())?;
        embedded.run(async |store| Ok(store.flush().await?))?;
        embedded.close();
        let database = raw::open(&directory.path().join(raw::ENGINE_DIRECTORY))?;
        raw::settle(&database);
        let disk_bytes = raw::keyspace(&database, &table.to_string())?.disk_space();
        Ok(Self { directory, table, disk_bytes })
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A scan of the store over what a read of `series` is to give.
    pub(crate) fn scan(&self, series: &SeriesId, order: Order, rows: usize, bytes: u64) -> Result<Scan> {
        Ok(Scan {
            table: self.table.clone(),
            partition: wire::partition(series)?,
            order,
            interval: wire::interval()?,
            from: Bound::Unbounded,
            rows_max: rows,
            bytes_max: bytes,
            consistency: Consistency::default(),
            hedge_after: None,
            ahead: false,
        })
    }
}

/// Writes all of it through a server.
pub(crate) fn fill(remote: &Remote, batches: Vec<Batch>, make: Make) -> Result<()> {
    let clients = (0..WRITERS).map(|_| remote.client()).collect::<Result<Arc<[_]>>>()?;
    let batches: Arc<[Batch]> = batches.into();
    let writer = |number: u64| {
        let (clients, batches) = (Arc::clone(&clients), Arc::clone(&batches));
        async move {
            let number = usize::try_from(number)?;
            let client = clients.get(number).context("no such client")?;
            let mut events = 0;
            for batch in batches.iter().skip(number).step_by(clients.len()) {
                let series = workload::series(batch.series)?;
                events += remote::send(client, make(&series, batch.first, batch.count)?).await?;
            }
            Ok(events)
        }
    };
    remote.run(crowd::work(WRITERS, writer))?;
    Ok(())
}
