//! What the committer is asked to do: changes as their callers hand them over, encoded and with the way back.

use std::sync::Arc;

use bytes::Bytes;
use model::TableRef;
use store::{CasOutcome, MetaChange, MetaVersion, Result, TableOutcome};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::tables::Table;

/// What the committer is asked to do.
pub(crate) enum Change {
    Write(Write),
    Remove(Removal),
    Cas(Cas),
    Keep(Keep),
    CreateTable {
        name: TableRef,
        reply: Reply<TableOutcome>,
    },
    DropTable {
        name: TableRef,
        reply: Reply<TableOutcome>,
    },
    /// Time has passed: sync what is only buffered, flush what went idle.
    Tick,
    /// Write every memtable to disk, for tests and benchmarks.
    FlushAll {
        reply: Reply<()>,
    },
    /// End the thread.
    Stop,
}

/// Where an answer goes.
pub(crate) type Reply<T> = oneshot::Sender<Result<T>>;

/// Rows of one partition, encoded by the caller.
pub(crate) struct Write {
    pub(crate) table: Arc<Table>,
    pub(crate) prefix: Vec<u8>,
    pub(crate) rows: Vec<(Bytes, Bytes)>,
    /// Logical bytes, for the counters.
    pub(crate) bytes: u64,
    pub(crate) synced: bool,
    pub(crate) reply: Reply<()>,
    /// Room in the queue, given back when the request is done.
    pub(crate) room: OwnedSemaphorePermit,
}

/// Rows of one partition to be removed, in one of the steps that delete it.
pub(crate) struct Removal {
    pub(crate) table: Arc<Table>,
    pub(crate) prefix: Vec<u8>,
    /// Every version of every row, with its body.
    pub(crate) keys: Vec<Bytes>,
    /// Whether the partition has no rows after this: then it is synced, and the counter goes too.
    pub(crate) last: bool,
    pub(crate) reply: Reply<()>,
    /// Room in the queue, given back when the request is done.
    pub(crate) room: OwnedSemaphorePermit,
}

/// A compare-and-set of a metadata record.
pub(crate) struct Cas {
    pub(crate) key: Bytes,
    pub(crate) expected: Option<MetaVersion>,
    pub(crate) change: MetaChange,
    pub(crate) reply: Reply<CasOutcome>,
}

/// A measured histogram, to be kept if the table was not written since.
pub(crate) struct Keep {
    pub(crate) table: Arc<Table>,
    pub(crate) writes: u64,
    pub(crate) histogram: Vec<u8>,
    pub(crate) reply: Reply<()>,
}
