//! The tables that exist, and what memory keeps for each.
//!
//! Only the committer makes, drops and writes tables; everybody else looks them up.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use env::BootTime;
use fjall::{AbstractTree, Keyspace};
use model::TableRef;
use store::{Error, Result};

use crate::counters::Counters;

/// One table.
pub(crate) struct Table {
    pub(crate) name: TableRef,
    pub(crate) keyspace: Keyspace,
    /// Bounds of partition sizes; none until the first write after a restart.
    pub(crate) counters: Mutex<Option<Counters>>,
    /// Rises with every group that writes the table; tells whether a measurement is still true.
    writes: AtomicU64,
    dropped: AtomicBool,
    /// Whether an exact histogram may be stored.
    kept: AtomicBool,
    last_write: Mutex<BootTime>,
}

impl Table {
    /// A table that was just made, with nothing in it.
    pub(crate) fn made(name: TableRef, keyspace: Keyspace, now: BootTime) -> Self {
        Self::new(name, keyspace, Some(Counters::new()), now)
    }

    /// A table that was there when the store was opened.
    pub(crate) fn found(name: TableRef, keyspace: Keyspace, now: BootTime) -> Self {
        Self::new(name, keyspace, None, now)
    }

    fn new(name: TableRef, keyspace: Keyspace, counters: Option<Counters>, now: BootTime) -> Self {
        Self {
            kept: AtomicBool::new(counters.is_none()),
            name,
            keyspace,
            counters: Mutex::new(counters),
            writes: AtomicU64::new(0),
            dropped: AtomicBool::new(false),
            last_write: Mutex::new(now),
        }
    }

    /// How many groups wrote the table since it was opened.
    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(Ordering::Acquire)
    }

    /// Notes a group that writes the table. Called before the group becomes visible.
    pub(crate) fn written(&self, now: BootTime) {
        self.writes.fetch_add(1, Ordering::AcqRel);
        *self.last_write.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// When it was last written.
    pub(crate) fn last_write(&self) -> BootTime {
        *self.last_write.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes in its active memtable.
    pub(crate) fn memtable_bytes(&self) -> u64 {
        self.keyspace.tree.active_memtable().size()
    }

    /// Notes that an exact histogram is stored.
    pub(crate) fn remember_kept(&self) {
        self.kept.store(true, Ordering::Release);
    }

    /// Notes that none is stored any more; whether one may have been.
    pub(crate) fn forget_kept(&self) -> bool {
        self.kept.swap(false, Ordering::AcqRel)
    }

    /// Whether it was dropped meanwhile.
    pub(crate) fn is_dropped(&self) -> bool {
        self.dropped.load(Ordering::Acquire)
    }

    /// Marks it as dropped, for writes that were queued before.
    pub(crate) fn drop_it(&self) {
        self.dropped.store(true, Ordering::Release);
    }
}

/// All tables by name.
#[derive(Default)]
pub(crate) struct Tables {
    by_name: RwLock<BTreeMap<TableRef, Arc<Table>>>,
}

impl Tables {
    /// The table, or the error that it does not exist.
    pub(crate) fn find(&self, name: &TableRef) -> Result<Arc<Table>> {
        self.get(name).ok_or_else(|| Error::no_table(name))
    }

    /// The table, if it exists.
    pub(crate) fn get(&self, name: &TableRef) -> Option<Arc<Table>> {
        self.by_name.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Adds a table.
    pub(crate) fn insert(&self, table: Table) {
        let name = table.name.clone();
        self.by_name.write().unwrap_or_else(PoisonError::into_inner).insert(name, Arc::new(table));
    }

    /// Takes a table out.
    pub(crate) fn remove(&self, name: &TableRef) -> Option<Arc<Table>> {
        self.by_name.write().unwrap_or_else(PoisonError::into_inner).remove(name)
    }

    /// All tables, in the order of their names.
    pub(crate) fn all(&self) -> Vec<Arc<Table>> {
        self.by_name.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.by_name.read().unwrap_or_else(PoisonError::into_inner).len()
    }
}
