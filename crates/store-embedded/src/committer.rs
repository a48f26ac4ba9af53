//! The one thread that changes anything: it collects what waits, commits it with one sync, answers, and keeps the
//! memtables within their budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use env::{BootTime, Clock};
use fjall::{Keyspace, PersistMode};
use model::TableRef;
use store::{Error, ErrorKind, Result, TableOutcome};
use tokio::sync::mpsc::Receiver;

use crate::change::Change;
use crate::engine::Engine;
use crate::group::Group;
use crate::keys::sync_mark::SyncMark;
use crate::latch::Latch;
use crate::memtables::{Memtable, to_flush};
use crate::tables::{Table, Tables};
use crate::{Options, directory::Directory};

/// Requests that one group may have.
const GROUP_REQUESTS_MAX: usize = 4_096;
/// How often to look whether the engine has flushed what it was asked to.
const FLUSH_WAIT: Duration = Duration::from_millis(2);

/// State of the thread, and what it shares with the store.
pub(crate) struct Committer {
    pub(crate) engine: Engine,
    pub(crate) tables: Arc<Tables>,
    pub(crate) latch: Latch,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) options: Options,
    /// Boot time at which the running commit began, in milliseconds; zero while idle. For the watchdog.
    pub(crate) busy_since: Arc<AtomicU64>,
    /// Number of the last group.
    pub(crate) last: u64,
    /// Number of the last group known to be synced, marks left by `leave_mark` apart.
    pub(crate) synced: u64,
    /// What the last mark in the journal says is synced.
    pub(crate) marked: u64,
    /// Whether acknowledged writes wait for the next tick to be synced.
    pub(crate) buffered: bool,
    /// Journals at the last tick.
    pub(crate) journals: usize,
    /// Keeps the directory locked while this thread may still write.
    pub(crate) _directory: Arc<Directory>,
}

impl Committer {
    /// Works until told to stop, or until nobody can ask any more.
    pub(crate) fn run(mut self, mut changes: Receiver<Change>) {
        let _guard = LatchOnPanic(self.latch.clone());
        let mut next = changes.blocking_recv();
        while let Some(first) = next.take() {
            let engine = self.engine.clone();
            let mut group = Group::new(&engine, self.clock.boot());
            let mut other = collect(&mut group, first);
            let mut requests = 1;
            while other.is_none() && requests < GROUP_REQUESTS_MAX && group.bytes() < self.options.group_bytes
            {
                let Ok(change) = changes.try_recv() else { break };
                other = collect(&mut group, change);
                requests += 1;
            }
            self.commit(group);
            match other {
                Some(Change::Stop) => break,
                Some(change) => self.alone(change),
                None => {}
            }
            if self.engine.database.write_buffer_size() > self.options.memtable_budget_bytes {
                self.flush_coldest();
            }
            next = changes.blocking_recv();
        }
    }

    /// Commits a group and answers its callers.
    fn commit(&mut self, group: Group<'_>) {
        if group.is_empty() {
            return;
        }
        if let Err(error) = self.latch.check() {
            group.abandon().failed(ErrorKind::Latched, &error.to_string());
            return;
        }
        self.last += 1;
        let synced = group.needs_sync();
        let mark = SyncMark { group: self.last, synced: self.synced };
        self.begin();
        let (committed, answers) = group.commit(mark);
        self.end();
        match committed {
            Ok(()) => {
                self.marked = mark.synced;
                self.buffered = !synced;
                if synced {
                    self.synced = self.last;
                }
                answers.done();
            }
            Err(error) => {
                self.latch.set(&self.engine.describe(&error));
                let why = self.engine.describe(&error);
                let message = format!(
                    "the commit failed ({why}), so it is not known whether this write is stored; \
                     repair the disk, start the process again and send the write again"
                );
                answers.failed(ErrorKind::Unknown, &message);
            }
        }
    }

    /// Does what cannot share a group.
    fn alone(&mut self, change: Change) {
        match change {
            Change::CreateTable { name, reply } => {
                let _gone = reply.send(self.create_table(&name));
            }
            Change::DropTable { name, reply } => {
                let _gone = reply.send(self.drop_table(&name));
            }
            Change::Remove(removal) => {
                let engine = self.engine.clone();
                let mut group = Group::new(&engine, self.clock.boot());
                group.remove(removal);
                self.commit(group);
            }
            Change::Tick => self.tick(),
            Change::FlushAll { reply } => {
                let _gone = reply.send(self.flush_all().map_err(|error| self.failed("flush", error)));
            }
            Change::Write(_) | Change::Cas(_) | Change::Keep(_) | Change::Stop => {
                debug_assert!(false, "these are collected into groups or end the loop");
            }
        }
    }

    fn create_table(&self, name: &TableRef) -> Result<TableOutcome> {
        self.latch.check()?;
        if self.tables.get(name).is_some() {
            return Ok(TableOutcome::Already);
        }
        let max = self.options.tables_max;
        if self.tables.len() >= max {
            return Err(Error::invalid(format!(
                "there are {max} tables already; shorten retention, widen slices or raise [store] max_tables"
            )));
        }
        let keyspace = self.engine.table(&name.to_string(), &self.options);
        let keyspace = keyspace.map_err(|error| self.failed("create a table", error))?;
        self.tables.insert(Table::made(name.clone(), keyspace, self.clock.boot()));
        Ok(TableOutcome::Done)
    }

    fn drop_table(&self, name: &TableRef) -> Result<TableOutcome> {
        self.latch.check()?;
        let Some(table) = self.tables.remove(name) else {
            return Ok(TableOutcome::Already);
        };
        table.drop_it();
        let dropped = self.engine.database.delete_keyspace(table.keyspace.clone());
        dropped.map_err(|error| self.failed("drop a table", error))?;
        Ok(TableOutcome::Done)
    }

    /// Latches after a failure of the engine that leaves its state unknown.
    fn failed(&self, what: &str, error: fjall::Error) -> Error {
        let why = self.engine.describe(&error);
        self.latch.set(&format!("cannot {what}: {why}"));
        let message = format!("cannot {what}: {why}; repair the disk and start the process again");
        Error::new(ErrorKind::Unknown, message).caused_by(error)
    }

    /// Syncs buffered writes, leaves a mark that says so, and flushes idle tables.
    fn tick(&mut self) {
        if self.latch.check().is_err() {
            return;
        }
        if self.buffered {
            self.begin();
            let synced = self.engine.database.persist(PersistMode::SyncData);
            self.end();
            if let Err(error) = synced {
                self.latch.set(&self.engine.describe(&error));
                return;
            }
            self.synced = self.last;
            self.buffered = false;
        }
        if self.marked < self.synced {
            self.leave_mark();
        }
        self.release_journals();
        self.flush_coldest();
    }

    /// A journal is deleted once every keyspace that wrote to it has flushed. The two small ones would take hours to
    /// fill a memtable, so they are flushed whenever a journal was sealed.
    fn release_journals(&mut self) {
        let journals = self.engine.database.journal_count();
        if journals > self.journals {
            let rotated =
                self.engine.small().iter().try_for_each(|keyspace| keyspace.rotate_memtable().map(drop));
            if let Err(error) = rotated {
                self.latch.set(&self.engine.describe(&error));
            }
        }
        self.journals = journals;
    }

    /// Without it the last acknowledged group before a quiet time could not be told from a torn tail.
    fn leave_mark(&mut self) {
        let engine = self.engine.clone();
        self.last += 1;
        let mark = SyncMark { group: self.last, synced: self.synced };
        let (committed, _nobody) = Group::new(&engine, self.clock.boot()).commit(mark);
        match committed {
            // The mark itself needs no sync: if it is lost, nothing else is.
            Ok(()) => self.marked = self.synced,
            Err(error) => self.latch.set(&self.engine.describe(&error)),
        }
    }

    /// Keeps active memtables within the budget, and waits while those being flushed take too much memory.
    fn flush_coldest(&self) {
        let now = self.clock.boot();
        let tables = self.tables.all();
        let memtables: Vec<Memtable> = tables
            .iter()
            .map(|table| Memtable { bytes: table.memtable_bytes(), idle: now.since(table.last_write()) })
            .collect();
        let budget = self.options.memtable_budget_bytes;
        for index in to_flush(&memtables, budget, self.options.idle_flush_after) {
            let rotated = tables.get(index).map(|table| table.keyspace.rotate_memtable());
            if let Some(Err(error)) = rotated {
                self.latch.set(&self.engine.describe(&error));
                return;
            }
        }
        // Memtables that wait to be flushed may take as much memory again as the active ones; then writes wait.
        while self.engine.database.write_buffer_size() > 2 * budget {
            if let Err(error) = self.engine.check_alive() {
                self.latch.set(&self.engine.describe(&error));
                return;
            }
            std::thread::park_timeout(FLUSH_WAIT);
        }
    }

    /// Writes every memtable to disk and waits until it is there.
    fn flush_all(&self) -> fjall::Result<()> {
        let mut keyspaces: Vec<Keyspace> =
            self.tables.all().iter().map(|table| table.keyspace.clone()).collect();
        keyspaces.extend(self.engine.small().into_iter().cloned());
        for keyspace in &keyspaces {
            keyspace.rotate_memtable()?;
        }
        while keyspaces.iter().any(|keyspace| keyspace.sealed_memtable_count() > 0) {
            self.engine.check_alive()?;
            std::thread::park_timeout(FLUSH_WAIT);
        }
        Ok(())
    }

    fn begin(&self) {
        self.busy_since.store(boot_millis(self.clock.boot()).max(1), Ordering::Release);
    }

    fn end(&self) {
        self.busy_since.store(0, Ordering::Release);
    }
}

/// Milliseconds on the boot clock.
pub(crate) fn boot_millis(time: BootTime) -> u64 {
    let since_boot = time.since(BootTime::from_boot(Duration::ZERO));
    u64::try_from(since_boot.as_millis()).unwrap_or(u64::MAX)
}

/// Adds a change to the group, or gives it back if it must be done alone.
fn collect(group: &mut Group<'_>, change: Change) -> Option<Change> {
    match change {
        Change::Write(write) => group.write(write),
        Change::Cas(cas) => group.swap(cas),
        Change::Keep(keep) => group.keep(keep),
        other => return Some(other),
    }
    None
}

/// Latches if the thread ends by a panic: whoever waits then gets an error instead of silence.
struct LatchOnPanic(Latch);

impl Drop for LatchOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.set("the committer thread ended unexpectedly; see the log");
        }
    }
}
