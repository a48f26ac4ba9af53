//! The store itself: opens a directory, hands changes to the committer, runs reads on the blocking pool.

mod tick;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use async_trait::async_trait;
use bytes::Bytes;
use env::{Env, blocking};
use model::{PartitionKey, TableRef};
use store::{
    CasOutcome, Consistency, Durability, Effort, Enumerate, Error, ErrorKind, Histogram, MetaChange, MetaKey,
    MetaPage, MetaRecord, MetaVersion, PartitionBatch, PartitionPage, Result, Scan, ScanPage, Storage, Store,
    TableOutcome,
};
use tokio::sync::mpsc::{self, Sender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

use crate::cancel::Cancelled;
use crate::change::{Cas, Change, Keep, Reply, Write};
use crate::committer::Committer;
use crate::directory::Directory;
use crate::engine::Engine;
use crate::keys::{meta, partition, row};
use crate::latch::Latch;
use crate::open::{self, Opened};
use crate::scan::Columns;
use crate::tables::{Table, Tables};
use crate::{EngineStats, Options, cancel, enumerate, measure, metadata, scan};

/// Requests that may wait for the committer; their bytes are limited apart.
const QUEUE_REQUESTS_MAX: usize = 16_384;
/// Bytes per permit of the queue's limit.
const ROOM_BYTES: u64 = 1_024;

/// The embedded store. Clones share one open directory; the directory is free again once all are dropped, or at
/// once after [`EmbeddedStore::close`].
#[derive(Clone)]
pub struct EmbeddedStore {
    shared: Arc<Shared>,
}

struct Shared {
    engine: Engine,
    tables: Arc<Tables>,
    latch: Latch,
    env: Env,
    changes: Sender<Change>,
    room: Arc<Semaphore>,
    room_permits: u32,
    busy_since: Arc<AtomicU64>,
    /// Closes once the committer thread has let go of everything.
    committer_gone: watch::Receiver<()>,
    _directory: Arc<Directory>,
}

impl EmbeddedStore {
    /// Opens the data directory at `path`, making it if it does not exist.
    ///
    /// Fails, without touching anything, if another process has it, if it is of a newer format, or if acknowledged
    /// data in it is damaged. What a power loss left torn and was never acknowledged as durable is cut off.
    pub async fn open(path: &Path, options: Options, env: Env) -> Result<Self> {
        let (path, opening, clock) = (path.to_owned(), options.clone(), Arc::clone(&env.clock));
        let opened = blocking(&*env.spawn, move || open::directory(&path, &opening, &*clock)).await;
        let opened = opened.map_err(|error| {
            let message = "opening the data directory ended unexpectedly; see the log";
            Error::new(ErrorKind::Corrupt, message).caused_by(error)
        })??;
        Self::start(opened, options, env)
    }

    fn start(opened: Opened, options: Options, env: Env) -> Result<Self> {
        let Opened { directory, engine, tables, last_group: last } = opened;
        let (changes, waiting) = mpsc::channel(QUEUE_REQUESTS_MAX);
        let (latch, busy_since) = (Latch::new(), Arc::new(AtomicU64::new(0)));
        let sync_interval = options.sync_interval;
        let room_permits = u32::try_from(options.queue_bytes / ROOM_BYTES).unwrap_or(u32::MAX).max(1);
        let committer = Committer {
            engine: engine.clone(),
            tables: Arc::clone(&tables),
            latch: latch.clone(),
            clock: Arc::clone(&env.clock),
            options,
            busy_since: Arc::clone(&busy_since),
            // Opening synced the whole journal.
            last,
            synced: last,
            marked: last,
            buffered: false,
            journals: 1,
            _directory: Arc::clone(&directory),
        };
        let (committer_lives, committer_gone) = watch::channel(());
        let work = Box::new(move || {
            committer.run(waiting);
            drop(committer_lives);
        });
        env.spawn.thread("braid-committer", work).map_err(|error| {
            Error::new(ErrorKind::Unavailable, "cannot start the committer thread; raise the thread limit")
                .caused_by(error)
        })?;
        let room = Arc::new(Semaphore::new(room_permits as usize));
        let shared = Arc::new(Shared {
            engine,
            tables,
            latch,
            env,
            changes,
            room,
            room_permits,
            busy_since,
            committer_gone,
            _directory: directory,
        });
        tick::start(&shared, sync_interval);
        Ok(Self { shared })
    }

    /// Syncs, ends the committer and lets go of the directory: it is free when this returns, unless clones or reads
    /// are still there.
    pub async fn close(self) {
        // If the committer is gone already there is nothing left to end.
        let _gone = self.shared.changes.send(Change::Tick).await;
        let _gone = self.shared.changes.send(Change::Stop).await;
        let mut committer_gone = self.shared.committer_gone.clone();
        while committer_gone.changed().await.is_ok() {}
        let env = self.shared.env.clone();
        // Closing the engine waits for its threads and writes to disk.
        let _closed = blocking(&*env.spawn, move || drop(self)).await;
    }

    /// Writes all memtables to disk.
    pub async fn flush(&self) -> Result<()> {
        self.ask(|reply| Change::FlushAll { reply }).await
    }

    /// What the engine uses right now.
    pub async fn stats(&self) -> Result<EngineStats> {
        self.read(|engine, _| engine.stats()).await
    }

    /// Runs a read of the engine on the blocking pool.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Engine, &Cancelled) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let engine = self.shared.engine.clone();
        cancel::read(&*self.shared.env.spawn, move |cancelled| work(&engine, cancelled)).await
    }

    /// Waits for room in the queue for a change of so many bytes.
    pub(crate) async fn room(&self, bytes: u64) -> Result<OwnedSemaphorePermit> {
        let permits = u32::try_from(bytes / ROOM_BYTES + 1).unwrap_or(u32::MAX).min(self.shared.room_permits);
        let room = Arc::clone(&self.shared.room).acquire_many_owned(permits);
        tokio::select! {
            room = room => room.map_err(|_| stopped()),
            () = self.shared.latch.latched() => self.shared.latch.check().and(Err(stopped())),
        }
    }

    /// Sends a change and waits for its answer. Once latched, an answer may never come: then its outcome is unknown.
    pub(crate) async fn ask<T>(&self, change: impl FnOnce(Reply<T>) -> Change) -> Result<T> {
        let latch = &self.shared.latch;
        latch.check()?;
        let (reply, answer) = oneshot::channel();
        tokio::select! {
            sent = self.shared.changes.send(change(reply)) => sent.map_err(|_| stopped())?,
            () = latch.latched() => return latch.check().and(Err(stopped())),
        }
        let unknown = || {
            let why =
                latch.check().err().map_or_else(|| "it is closing".to_owned(), |error| error.to_string());
            let message = format!("the store stopped before it answered, so the outcome is unknown ({why})");
            Error::new(ErrorKind::Unknown, message)
        };
        tokio::select! {
            biased;
            answered = answer => answered.map_err(|_| unknown())?,
            () = latch.latched() => Err(unknown()),
        }
    }

    fn table(&self, name: &TableRef) -> Result<Arc<Table>> {
        self.shared.tables.find(name)
    }
}

fn stopped() -> Error {
    Error::new(ErrorKind::Unavailable, "the store is closed; open it again")
}

#[async_trait]
impl Store for EmbeddedStore {
    async fn create_table(&self, table: &TableRef, _storage: &Storage) -> Result<TableOutcome> {
        let name = table.clone();
        self.ask(|reply| Change::CreateTable { name, reply }).await
    }

    async fn drop_table(&self, table: &TableRef) -> Result<TableOutcome> {
        let name = table.clone();
        self.ask(|reply| Change::DropTable { name, reply }).await
    }

    async fn list_tables(&self) -> Result<Vec<TableRef>> {
        Ok(self.shared.tables.all().iter().map(|table| table.name.clone()).collect())
    }

    async fn upsert(&self, batch: PartitionBatch, durability: Durability) -> Result<()> {
        batch.check()?;
        let table = self.table(&batch.table)?;
        if batch.rows.is_empty() {
            return self.shared.latch.check();
        }
        let bytes = batch.logical_bytes();
        let room = self.room(bytes).await?;
        let prefix = partition::encode(&batch.partition);
        let rows = row::encode_all(&prefix, &batch.rows);
        drop(batch);
        let synced = durability == Durability::Synced;
        self.ask(|reply| Change::Write(Write { table, prefix, rows, bytes, synced, reply, room })).await
    }

    async fn delete_partition(
        &self,
        table: &TableRef,
        partition: &PartitionKey,
        _consistency: Consistency,
    ) -> Result<()> {
        self.delete(self.table(table)?, partition::encode(partition)).await
    }

    async fn scan(&self, request: Scan) -> Result<ScanPage> {
        request.check()?;
        let (table, database) = (self.table(&request.table)?, self.shared.engine.database.clone());
        cancel::read(&*self.shared.env.spawn, move |cancelled| {
            scan::scan(&database, &table, &request, Columns::All, cancelled)
        })
        .await
    }

    async fn scan_headers(&self, request: Scan) -> Result<ScanPage> {
        request.check()?;
        let (table, database) = (self.table(&request.table)?, self.shared.engine.database.clone());
        cancel::read(&*self.shared.env.spawn, move |cancelled| {
            scan::scan(&database, &table, &request, Columns::Headers, cancelled)
        })
        .await
    }

    async fn enumerate(&self, request: Enumerate) -> Result<PartitionPage> {
        request.check()?;
        let (table, database) = (self.table(&request.table)?, self.shared.engine.database.clone());
        let work = move |cancelled: &Cancelled| enumerate::enumerate(&database, &table, &request, cancelled);
        cancel::read(&*self.shared.env.spawn, work).await
    }

    async fn histogram(&self, table: &TableRef, effort: Effort) -> Result<Histogram> {
        let (table, database) = (self.table(table)?, self.shared.engine.database.clone());
        let (known_table, known_database) = (Arc::clone(&table), database.clone());
        let spawn = &*self.shared.env.spawn;
        let known = cancel::read(spawn, move |_| measure::known(&known_database, &known_table)).await?;
        if effort == Effort::Cheap || known.quality == model::HistogramQuality::Exact {
            return Ok(known);
        }
        let (measured_table, writes) = (Arc::clone(&table), table.writes());
        let work = move |cancelled: &Cancelled| measure::exact(&database, &measured_table, cancelled);
        let sizes = cancel::read(spawn, work).await?;
        let histogram = sizes.encode();
        self.ask(|reply| Change::Keep(Keep { table, writes, histogram, reply })).await?;
        Ok(Histogram::exact(sizes))
    }

    async fn meta_get(&self, key: &MetaKey) -> Result<Option<MetaRecord>> {
        store::check_meta_key(key)?;
        let key = key.clone();
        self.read(move |engine, _| metadata::get(engine, &key)).await
    }

    async fn meta_range(&self, group: &[u8], after: Option<&[u8]>, records_max: usize) -> Result<MetaPage> {
        store::check_meta_range(group, after, records_max)?;
        let (group, after) = (group.to_vec(), after.map(<[u8]>::to_vec));
        self.read(move |engine, _| metadata::range(engine, &group, after.as_deref(), records_max)).await
    }

    async fn meta_cas(
        &self,
        key: &MetaKey,
        expected: Option<MetaVersion>,
        change: MetaChange,
    ) -> Result<CasOutcome> {
        store::check_meta_key(key)?;
        if let MetaChange::Put(value) = &change {
            store::check_meta_value(value)?;
        }
        let key = Bytes::from(meta::key(key));
        self.ask(|reply| Change::Cas(Cas { key, expected, change, reply })).await
    }

    async fn ready(&self) -> Result<()> {
        self.shared.latch.check()
    }

    async fn disk_share(&self) -> Result<Option<f64>> {
        self.read(|engine, _| engine.disk_share()).await
    }
}
