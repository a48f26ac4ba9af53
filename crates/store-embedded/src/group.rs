//! A group of changes that become visible and durable together.
//!
//! Rows, metadata changes and the store's own records of many callers are collected into one engine batch. Answers
//! are kept until the batch is committed.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use bytes::Bytes;
use env::BootTime;
use fjall::{Keyspace, OwnedWriteBatch, PersistMode, Readable};
use store::{CasOutcome, Error, ErrorKind, MetaChange, MetaVersion, Result};
use tokio::sync::OwnedSemaphorePermit;
use xxhash_rust::xxh3::xxh3_64;

use crate::change::{Cas, Keep, Removal, Reply, Write};
use crate::counters::Counters;
use crate::engine::{Engine, read_failed};
use crate::keys::sync_mark::{self, SyncMark};
use crate::keys::{counter, kept, meta};
use crate::tables::Table;

/// Changes collected so far.
pub(crate) struct Group<'a> {
    engine: &'a Engine,
    now: BootTime,
    batch: OwnedWriteBatch,
    bytes: u64,
    synced: bool,
    writes: Vec<(Reply<()>, Option<OwnedSemaphorePermit>)>,
    swaps: Vec<(Reply<CasOutcome>, CasOutcome)>,
    /// Records other than rows, as they will be (none: removed), by keyspace and key. The engine cannot tell two
    /// changes of one key in one batch apart, and a later change in the group must see an earlier one.
    records: BTreeMap<(u64, Bytes), (Keyspace, Option<Bytes>)>,
}

impl<'a> Group<'a> {
    pub(crate) fn new(engine: &'a Engine, now: BootTime) -> Self {
        Self {
            engine,
            now,
            batch: engine.database.batch(),
            bytes: 0,
            synced: false,
            writes: Vec::new(),
            swaps: Vec::new(),
            records: BTreeMap::new(),
        }
    }

    /// Bytes collected so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether any caller waits for a sync.
    pub(crate) fn needs_sync(&self) -> bool {
        self.synced
    }

    /// Whether nothing would be committed.
    pub(crate) fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.swaps.is_empty()
    }

    /// Adds rows.
    pub(crate) fn write(&mut self, write: Write) {
        if write.table.is_dropped() {
            // Nobody waits any more if this fails.
            let _gone = write.reply.send(Err(Error::no_table(&write.table.name)));
            return;
        }
        if let Err(error) = self.count(&write) {
            let _gone = write.reply.send(Err(error));
            return;
        }
        write.table.written(self.now);
        for (key, value) in write.rows {
            self.bytes += (key.len() + value.len()) as u64;
            self.batch.insert(&write.table.keyspace, key, value);
        }
        self.synced |= write.synced;
        self.writes.push((write.reply, Some(write.room)));
    }

    /// Adds the counter records that these rows make due, and forgets a kept histogram.
    fn count(&mut self, write: &Write) -> Result<()> {
        let keyspace = &write.table.keyspace;
        let mut slot = write.table.counters.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_none() {
            let reopened = Counters::after_restart(self.bound(keyspace, &counter::SLACK)?);
            self.put(keyspace, &counter::SLACK, &counter::encode(reopened.slack()));
            *slot = Some(reopened);
        }
        let due = slot.get_or_insert_with(Counters::new).count(xxh3_64(&write.prefix), write.bytes);
        drop(slot);
        if let Some(slack) = due.slack {
            self.put(keyspace, &counter::SLACK, &counter::encode(slack));
        }
        if let Some(growth) = due.record_grows_by {
            let key = counter::key(&write.prefix);
            let record = self.bound(keyspace, &key)?.saturating_add(growth);
            self.put(keyspace, &key, &counter::encode(record));
        }
        self.forget_kept(&write.table);
        Ok(())
    }

    fn forget_kept(&mut self, table: &Table) {
        if table.forget_kept() {
            self.forget(&table.keyspace, &kept::KEY);
        }
    }

    /// Removes rows, in a group of their own: the engine cannot tell a row that is written from the same one removed in one
    /// batch. The last step is committed also without any: rows that an attempt before removed may not be synced yet.
    pub(crate) fn remove(&mut self, removal: Removal) {
        debug_assert!(self.is_empty(), "nothing else is in the group");
        let table = &removal.table;
        if table.is_dropped() {
            let _gone = removal.reply.send(Err(Error::no_table(&table.name)));
            return;
        }
        if !removal.keys.is_empty() {
            table.written(self.now);
            self.forget_kept(table);
        }
        if removal.last {
            let mut counters = table.counters.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(counters) = counters.as_mut() {
                counters.forget(xxh3_64(&removal.prefix));
            }
            drop(counters);
            self.forget(&table.keyspace, &counter::key(&removal.prefix));
            self.synced = true;
        }
        for key in removal.keys {
            self.bytes += key.len() as u64;
            self.batch.remove(&table.keyspace, key);
        }
        self.writes.push((removal.reply, Some(removal.room)));
    }

    fn bound(&self, keyspace: &Keyspace, key: &[u8]) -> Result<u64> {
        self.current(keyspace, key)?.map_or(Ok(0), |stored| counter::decode(&stored))
    }

    /// A record as this group will leave it.
    fn current(&self, keyspace: &Keyspace, key: &[u8]) -> Result<Option<Bytes>> {
        if let Some((_, pending)) = self.records.get(&address(keyspace, key)) {
            return Ok(pending.clone());
        }
        let stored = self.engine.database.snapshot().get(keyspace, key).map_err(read_failed)?;
        Ok(stored.map(Bytes::from))
    }

    fn put(&mut self, keyspace: &Keyspace, key: &[u8], value: &[u8]) {
        self.bytes += (key.len() + value.len()) as u64;
        let value = Some(Bytes::copy_from_slice(value));
        self.records.insert(address(keyspace, key), (keyspace.clone(), value));
    }

    fn forget(&mut self, keyspace: &Keyspace, key: &[u8]) {
        self.records.insert(address(keyspace, key), (keyspace.clone(), None));
    }

    /// Answers a compare-and-set from what the group will make of the record, and adds the change if it applies.
    pub(crate) fn swap(&mut self, cas: Cas) {
        let address = address(&self.engine.meta, &cas.key);
        match self.try_swap(&cas) {
            // What a conflict shows is durable already, unless this group has just changed it.
            Ok(outcome @ CasOutcome::Conflict(_)) if !self.records.contains_key(&address) => {
                let _gone = cas.reply.send(Ok(outcome));
            }
            Ok(outcome) => {
                self.synced = true;
                self.swaps.push((cas.reply, outcome));
            }
            Err(error) => {
                let _gone = cas.reply.send(Err(error));
            }
        }
    }

    fn try_swap(&mut self, cas: &Cas) -> Result<CasOutcome> {
        let keyspace = &self.engine.meta;
        let current =
            self.current(keyspace, &cas.key)?.map(|value| meta::decode(&cas.key, &value)).transpose()?;
        if current.as_ref().map(|record| record.version) != cas.expected {
            return Ok(CasOutcome::Conflict(current));
        }
        let version = MetaVersion(current.map_or(1, |record| record.version.0 + 1));
        match &cas.change {
            MetaChange::Put(value) => self.put(keyspace, &cas.key, &meta::encode(version, value)),
            MetaChange::Remove => self.forget(keyspace, &cas.key),
        }
        Ok(CasOutcome::Applied(version))
    }

    /// Keeps a histogram, unless the table was written or dropped since it was measured.
    pub(crate) fn keep(&mut self, keep: Keep) {
        if keep.table.is_dropped() || keep.table.writes() != keep.writes {
            let _gone = keep.reply.send(Ok(()));
            return;
        }
        keep.table.remember_kept();
        self.put(&keep.table.keyspace, &kept::KEY, &keep.histogram);
        self.writes.push((keep.reply, None));
    }

    /// Commits, syncs if anybody waits for it, and gives back what is to be answered.
    pub(crate) fn commit(mut self, mark: SyncMark) -> (fjall::Result<()>, Answers) {
        for ((_, key), (keyspace, value)) in self.records {
            match value {
                Some(value) => self.batch.insert(&keyspace, key, value),
                None => self.batch.remove(&keyspace, key),
            }
        }
        self.batch.insert(&self.engine.sys, sync_mark::KEY, mark.encode());
        let mode = if self.synced { PersistMode::SyncData } else { PersistMode::Buffer };
        let committed = self.batch.durability(Some(mode)).commit();
        (committed, Answers { writes: self.writes, swaps: self.swaps })
    }

    /// Gives up without committing.
    pub(crate) fn abandon(self) -> Answers {
        Answers { writes: self.writes, swaps: self.swaps }
    }
}

fn address(keyspace: &Keyspace, key: &[u8]) -> (u64, Bytes) {
    (keyspace.id(), Bytes::copy_from_slice(key))
}

/// Callers of a group that wait for its end.
pub(crate) struct Answers {
    writes: Vec<(Reply<()>, Option<OwnedSemaphorePermit>)>,
    swaps: Vec<(Reply<CasOutcome>, CasOutcome)>,
}

impl Answers {
    /// Tells everybody that it is done. A caller that went away is not missed.
    pub(crate) fn done(self) {
        for (reply, _room) in self.writes {
            let _gone = reply.send(Ok(()));
        }
        for (reply, outcome) in self.swaps {
            let _gone = reply.send(Ok(outcome));
        }
    }

    /// Tells everybody that it failed.
    pub(crate) fn failed(self, kind: ErrorKind, message: &str) {
        for (reply, _room) in self.writes {
            let _gone = reply.send(Err(Error::new(kind, message)));
        }
        for (reply, _) in self.swaps {
            let _gone = reply.send(Err(Error::new(kind, message)));
        }
    }
}
