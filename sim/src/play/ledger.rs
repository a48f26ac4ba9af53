//! [`Ledger`]: what happened so far, as clients know it.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::TableRef;

use super::Counts;
use super::space::Space;

/// So many wrongs are told; the first is the one to look at.
const WRONGS_MAX: usize = 8;

/// The ledger. Clones are the same one.
#[derive(Clone, Default)]
pub(super) struct Ledger {
    pages: Arc<Mutex<Pages>>,
}

/// What is in it.
#[derive(Default)]
pub(super) struct Pages {
    pub(super) spaces: BTreeMap<&'static str, Space>,
    /// Tables that were seen.
    seen: BTreeSet<TableRef>,
    /// Tables that were seen, and since when not any more.
    pub(super) gone: BTreeMap<TableRef, Duration>,
    pub(super) counts: Counts,
    pub(super) wrongs: Vec<String>,
}

impl Ledger {
    pub(super) fn count(&self, act: impl FnOnce(&mut Counts)) {
        act(&mut self.open().counts);
    }

    pub(super) fn wrong(&self, now: Duration, what: String) {
        let mut pages = self.open();
        if pages.wrongs.len() < WRONGS_MAX {
            pages.wrongs.push(format!("at {now:?}: {what}"));
        }
    }

    pub(super) fn open(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The namespace of this name.
    pub(super) fn with<T>(&self, space: &'static str, act: impl FnOnce(&mut Space) -> T) -> T {
        act(self.open().spaces.entry(space).or_default())
    }

    pub(super) fn saw_tables(&self, now: Duration, tables: Vec<TableRef>) {
        let mut pages = self.open();
        let tables: BTreeSet<TableRef> = tables.into_iter().collect();
        let gone: Vec<TableRef> =
            pages.seen.iter().filter(|table| !tables.contains(table)).cloned().collect();
        for table in gone {
            if let Entry::Vacant(place) = pages.gone.entry(table) {
                place.insert(now);
                pages.counts.tables_dropped += 1;
            }
        }
        for table in tables {
            if pages.seen.insert(table) {
                pages.counts.tables_made += 1;
            }
        }
    }
}
