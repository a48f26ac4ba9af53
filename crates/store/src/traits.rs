//! The contract.

use async_trait::async_trait;
use model::{PartitionKey, TableRef};

use crate::{
    CasOutcome, Consistency, Durability, Effort, Enumerate, Histogram, MetaChange, MetaKey, MetaPage,
    MetaRecord, MetaVersion, PartitionBatch, PartitionPage, Result, Scan, ScanPage, Storage, TableOutcome,
};

/// What keeps Braid's data. `store::conformance` holds every backend to this text.
///
/// **Tables** are independent: a slice is one table, and dropping it is cheap. Names are never checked against
/// anything but the rules of [`TableRef`].
///
/// **Rows** have last-write-wins semantics on `write_time`; see [`model::Row::merge`] for ties. The order of arrival
/// does not matter, so writing the same rows again changes nothing.
///
/// **Acknowledged** means: every later read, through any handle and after any crash that the durability names, sees
/// it. A call that fails with `Unknown` may still take effect, now or later; one that fails with `Unavailable` has
/// not and will not.
///
/// **Cancellation**: dropping the future of a read stops it soon; dropping the future of a change leaves its outcome
/// unknown.
///
/// **Memory**: a call allocates in proportion to its limits, whatever the size of the partition or the table.
///
/// **Wishes**: [`Storage`], `consistency` and `hedge_after` change how much work and how many machines a call takes,
/// never what it answers. A store on one machine ignores them.
///
/// **A store on a cluster** promises less where several machines must agree. This is all that it may take back:
/// - A batch of more than 256 KiB, as sent, may become visible in steps of whole events, and a failed one may leave
///   whole events behind (it then fails with `Unknown`). A smaller batch, and every event, is all or nothing.
/// - An event that its machines cannot take at once (over 12 MiB or 65,535 items, as sent) is refused as `Invalid`,
///   and so is a namespace whose name is too long for it, before anything is done.
/// - A scan may be read in steps, each at its own moment: where rows are overwritten meanwhile, one scan may hold the
///   old row of one item and the new row of the next. Nothing that was acknowledged before the call is missing.
/// - Acknowledged means that as many replicas have the write as its `consistency` asked for. When each of them syncs
///   is the cluster's setting, so both durabilities are the same. Where the write or the read asked for less than a
///   quorum, or the read is in another data centre than the write, a read may miss an acknowledged row for a while.
/// - Deleting a partition hides what has a write time of up to
///   [`DELETE_AHEAD`](crate::limits::DELETE_AHEAD) from then, however late it arrives. A replica that missed it, and was not
///   repaired until the others forgot it (days), gives the rows back.
/// - A compare-and-set that failed with `Unknown` may take effect for some seconds more, also after a read.
/// - Two servers that drop and make the same table again and again at the same moment may undo each other.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Makes a table, empty and durable when this returns. A table that exists stays as it is, kept as it was made.
    async fn create_table(&self, table: &TableRef, storage: &Storage) -> Result<TableOutcome>;

    /// Drops a table with all it holds. What was dropped stays dropped after a crash, and a table made again under
    /// the same name is empty.
    async fn drop_table(&self, table: &TableRef) -> Result<TableOutcome>;

    /// All tables, in the order of their names.
    async fn list_tables(&self) -> Result<Vec<TableRef>>;

    /// Writes rows of one partition. All or nothing, for every reader and after every crash: no reader ever sees a
    /// part of a batch (on a cluster: of an event). An empty batch succeeds if the table exists.
    async fn upsert(&self, batch: PartitionBatch, durability: Durability) -> Result<()>;

    /// Removes all rows of one partition, durable when this returns. Where there are none it succeeds if the table exists.
    ///
    /// Whoever calls it never writes to that partition again: a store may hide what comes later under what it deleted.
    /// A reader meanwhile, and everybody after a failure or a crash, may see a part of the rows; calling it again removes
    /// the rest.
    async fn delete_partition(
        &self,
        table: &TableRef,
        partition: &PartitionKey,
        consistency: Consistency,
    ) -> Result<()>;

    /// Reads rows of one partition in order: what was acknowledged before the call, and possibly what was written
    /// during it. A partition that was never written is empty.
    async fn scan(&self, scan: Scan) -> Result<ScanPage>;

    /// The same without values: each row comes with an empty one, and `bytes` count without them. What a store need not read for
    /// it, it does not. `bytes_max` may count with them.
    async fn scan_headers(&self, scan: Scan) -> Result<ScanPage> {
        Ok(self.scan(scan).await?.without_values())
    }

    /// Lists partitions that have rows, each once, in an order that only the backend knows but always the same one.
    /// Partitions made while an enumeration goes on may or may not come; those there before always do.
    async fn enumerate(&self, request: Enumerate) -> Result<PartitionPage>;

    /// The sizes of a table's partitions. `Exact` quality is promised only for a table without later writes. A store
    /// that others write too measures every time it is asked to.
    async fn histogram(&self, table: &TableRef, effort: Effort) -> Result<Histogram>;

    /// Reads a metadata record: linearizable, after every change that was acknowledged before.
    async fn meta_get(&self, key: &MetaKey) -> Result<Option<MetaRecord>>;

    /// Reads records of one group in the order of their names, behind `after`, at most `records_max` and about 4 MiB.
    async fn meta_range(&self, group: &[u8], after: Option<&[u8]>, records_max: usize) -> Result<MetaPage>;

    /// Changes a metadata record if its version is `expected` (none: if it does not exist). Durable when this
    /// returns `Applied`. After `Unknown` read the record again: it is then as before, or as asked, or as somebody
    /// else made it, and it may still change to what was asked until it has been read or changed again.
    async fn meta_cas(
        &self,
        key: &MetaKey,
        expected: Option<MetaVersion>,
        change: MetaChange,
    ) -> Result<CasOutcome>;

    /// Whether the store takes writes now. The error says why not and what to do; it is never an outage of this call
    /// alone.
    async fn ready(&self) -> Result<()>;

    /// How much of the fullest disk that the store writes to is used, from 0 to 1: at 1 it takes no more. None where the
    /// store cannot see its disks.
    async fn disk_share(&self) -> Result<Option<f64>>;

    /// Whether there are machines that do not hold a given partition, so that cutting one by hash spreads its load. Only a hint.
    async fn spreads(&self) -> Result<bool> {
        Ok(false)
    }

    /// Whether rows travel to the store and back, so that fewer bytes are worth more work. Only a hint.
    fn is_remote(&self) -> bool {
        false
    }
}
