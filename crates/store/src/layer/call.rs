//! What a layer knows of a call and of its answer: the operation and how much it carries.

use model::TableRef;

use crate::{CasOutcome, Histogram, MetaPage, MetaRecord, PartitionPage, ScanPage, TableOutcome};

/// The calls of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// `create_table`
    CreateTable,
    /// `drop_table`
    DropTable,
    /// `list_tables`
    ListTables,
    /// `upsert`
    Upsert,
    /// `delete_partition`
    DeletePartition,
    /// `scan`
    Scan,
    /// `enumerate`
    Enumerate,
    /// `histogram`
    Histogram,
    /// `meta_get`
    MetaGet,
    /// `meta_range`
    MetaRange,
    /// `meta_cas`
    MetaCas,
    /// `ready`
    Ready,
    /// `disk_share`
    DiskShare,
}

impl Op {
    /// The name of the trait's method.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CreateTable => "create_table",
            Self::DropTable => "drop_table",
            Self::ListTables => "list_tables",
            Self::Upsert => "upsert",
            Self::DeletePartition => "delete_partition",
            Self::Scan => "scan",
            Self::Enumerate => "enumerate",
            Self::Histogram => "histogram",
            Self::MetaGet => "meta_get",
            Self::MetaRange => "meta_range",
            Self::MetaCas => "meta_cas",
            Self::Ready => "ready",
            Self::DiskShare => "disk_share",
        }
    }

    /// Whether it changes what the store holds, so that its outcome can be unknown.
    pub const fn changes(self) -> bool {
        matches!(
            self,
            Self::CreateTable | Self::DropTable | Self::Upsert | Self::DeletePartition | Self::MetaCas
        )
    }

    /// Whether it reads or changes metadata records.
    pub const fn is_meta(self) -> bool {
        matches!(self, Self::MetaGet | Self::MetaRange | Self::MetaCas)
    }
}

/// A call as a layer sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Which one.
    pub op: Op,
    /// Logical bytes that it carries to the store.
    pub bytes: u64,
    /// Whether it changes what the store holds.
    pub changes: bool,
    /// Rows that a scan asks for at most; zero for all other calls.
    pub rows_asked: usize,
    /// Whether whoever asked may look away from it for a while, as from a scan that is read ahead.
    pub ahead: bool,
}

impl Call {
    /// A call of `op` that carries `bytes`.
    pub const fn new(op: Op, bytes: u64) -> Self {
        Self { op, bytes, changes: op.changes(), rows_asked: 0, ahead: false }
    }
}

/// How much an answer carries. Zero unless it says otherwise.
pub trait Outcome: Send + 'static {
    /// Logical bytes.
    fn bytes(&self) -> u64 {
        0
    }

    /// Rows, records, partitions or tables.
    fn rows(&self) -> u64 {
        0
    }
}

impl Outcome for () {}
impl Outcome for TableOutcome {}
impl Outcome for Histogram {}
impl Outcome for Option<f64> {}

impl Outcome for CasOutcome {
    fn bytes(&self) -> u64 {
        match self {
            Self::Conflict(Some(record)) => record.value.len() as u64,
            Self::Conflict(None) | Self::Applied(_) => 0,
        }
    }
}

impl Outcome for Vec<TableRef> {
    fn rows(&self) -> u64 {
        self.len() as u64
    }
}

impl Outcome for ScanPage {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn rows(&self) -> u64 {
        self.rows.len() as u64
    }
}

impl Outcome for PartitionPage {
    fn rows(&self) -> u64 {
        self.partitions.len() as u64
    }
}

impl Outcome for Option<MetaRecord> {
    fn bytes(&self) -> u64 {
        self.as_ref().map_or(0, |record| record.value.len() as u64)
    }

    fn rows(&self) -> u64 {
        u64::from(self.is_some())
    }
}

impl Outcome for MetaPage {
    fn bytes(&self) -> u64 {
        self.records.iter().map(|record| record.value.len() as u64).sum()
    }

    fn rows(&self) -> u64 {
        self.records.len() as u64
    }
}
