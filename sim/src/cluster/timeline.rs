//! What was sent and has not arrived, in the order in which it will.
//!
//! Invariant: two messages never share a place, so the same run takes them in the same order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use model::{PartitionKey, TableRef};
use store::{
    CasOutcome, Consistency, MetaChange, MetaKey, MetaVersion, PartitionBatch, Storage, TableOutcome,
};

/// A partition to be deleted.
pub(super) struct Deletion {
    pub(super) table: TableRef,
    pub(super) partition: PartitionKey,
    /// It hides rows whose write time is not later.
    pub(super) time: i64,
    pub(super) consistency: Consistency,
}

/// What is to become of rows.
pub(super) enum RowChange {
    Upsert(PartitionBatch),
    Delete(Deletion),
}

impl RowChange {
    pub(super) fn table(&self) -> &TableRef {
        match self {
            Self::Upsert(batch) => &batch.table,
            Self::Delete(deletion) => &deletion.table,
        }
    }

    pub(super) fn consistency(&self) -> Consistency {
        match self {
            Self::Upsert(batch) => batch.consistency,
            Self::Delete(deletion) => deletion.consistency,
        }
    }

    /// The call that asked for it.
    pub(super) fn call(&self) -> &'static str {
        match self {
            Self::Upsert(_) => "upsert",
            Self::Delete(_) => "delete_partition",
        }
    }
}

/// A change of rows on its way to the replicas.
pub(super) struct Write {
    /// Its place among all writes.
    pub(super) number: u64,
    pub(super) change: RowChange,
    /// Which making of the table it is for.
    pub(super) generation: u64,
    landed: AtomicUsize,
}

impl Write {
    pub(super) fn new(number: u64, change: RowChange, generation: u64) -> Arc<Self> {
        Arc::new(Self { number, change, generation, landed: AtomicUsize::new(0) })
    }

    /// One more replica has it.
    pub(super) fn land(&self) {
        self.landed.fetch_add(1, Ordering::Relaxed);
    }

    /// How many replicas have it.
    pub(super) fn landed(&self) -> usize {
        self.landed.load(Ordering::Relaxed)
    }
}

/// How something that has one moment ended; none where the cluster could not decide then. Empty before that moment.
pub(super) type Verdict<T> = Arc<OnceLock<Option<T>>>;

/// A compare-and-set on its way.
pub(super) struct Cas {
    pub(super) key: MetaKey,
    pub(super) expected: Option<MetaVersion>,
    pub(super) change: MetaChange,
    /// Its caller was told, or will be, that nobody knows.
    pub(super) late: bool,
    pub(super) verdict: Verdict<CasOutcome>,
}

/// What is to become of a table.
pub(super) enum TableChange {
    Make(Storage),
    /// Drops whichever is there, or only this making of it.
    Drop(Option<u64>),
}

/// Something on its way.
pub(super) enum Message {
    Rows { replica: usize, write: Arc<Write> },
    Cas(Cas),
    Table { table: TableRef, change: TableChange, verdict: Verdict<TableOutcome> },
}

#[derive(Default)]
pub(super) struct Timeline {
    next: u64,
    waiting: BTreeMap<(Duration, u64), Message>,
    late_cas: usize,
}

impl Timeline {
    pub(super) fn send(&mut self, at: Duration, message: Message) {
        self.late_cas += usize::from(is_late_cas(&message));
        self.waiting.insert((at, self.next), message);
        self.next += 1;
    }

    /// The next message that has arrived by `now`, and when it did.
    pub(super) fn arrived(&mut self, now: Duration) -> Option<(Duration, Message)> {
        let entry = self.waiting.first_entry()?;
        if entry.key().0 > now {
            return None;
        }
        let ((at, _), message) = entry.remove_entry();
        self.late_cas -= usize::from(is_late_cas(&message));
        Some((at, message))
    }

    /// Takes every late compare-and-set whose record `touched` names, in the order in which they would arrive.
    pub(super) fn take_late_cas(&mut self, touched: impl Fn(&MetaKey) -> bool) -> Vec<(Duration, Cas)> {
        if self.late_cas == 0 {
            return Vec::new();
        }
        let late = self.waiting.extract_if(.., |_, message| match message {
            Message::Cas(cas) => cas.late && touched(&cas.key),
            _ => false,
        });
        let taken: Vec<(Duration, Cas)> = late
            .filter_map(|((at, _), message)| match message {
                Message::Cas(cas) => Some((at, cas)),
                _ => None,
            })
            .collect();
        self.late_cas -= taken.len();
        taken
    }

    /// Gives everything that would arrive after `limit` another time.
    pub(super) fn hasten(&mut self, limit: Duration, mut soon: impl FnMut() -> Duration) {
        for (_, message) in self.waiting.split_off(&(limit, 0)) {
            self.late_cas -= usize::from(is_late_cas(&message));
            self.send(soon(), message);
        }
    }

    /// How much is on its way.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }
}

fn is_late_cas(message: &Message) -> bool {
    matches!(message, Message::Cas(cas) if cas.late)
}
