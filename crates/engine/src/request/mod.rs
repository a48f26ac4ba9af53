//! What is asked of the data plane, and what it answers.

mod aggregate;
mod explain;
mod histogram;
mod split;

use std::time::Duration;

use model::{Interval, NamespaceName, Order, Position, SeriesId, Slice};

use crate::{Event, EventInput, Refusal, SearchQuery};

pub use aggregate::{AggregatePage, AggregateRequest, Aggregation, Bucket, BucketKey, Stats};
pub use explain::{ExplainedGroup, ExplainedPartition, ExplainedRoute, Explanation, SkipReason, Skipped};
pub use histogram::SliceHistogram;
pub use split::{Split, SplitAsk, SplitFilter, SplitPage, SplitSummary, WidePartition};

/// Most events on a page.
pub const PAGE_RECORDS_MAX: usize = 10_000;
/// Events on a page where the client names no number.
pub const PAGE_RECORDS_DEFAULT: usize = 100;
/// A page ends once its events have so many bytes, so that default gRPC clients can take it.
pub const PAGE_BYTES_MAX: u64 = 3_500_000;
/// Buckets in one answer of an aggregation where the client names no number.
pub const BUCKETS_DEFAULT: usize = 1_000;
/// Series that a search may name.
pub const SERIES_MAX: usize = 100;

/// Events to write.
#[derive(Clone, Debug)]
pub struct WriteRequest {
    /// Where to.
    pub namespace: NamespaceName,
    /// The events, as they came.
    pub events: Vec<EventInput>,
}

/// What became of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteAnswer {
    /// One per refused event.
    pub refused: Vec<Refusal>,
    /// How many events were taken.
    pub accepted: usize,
    /// What it cost.
    pub cost: Cost,
}

/// One page of the events of some series.
#[derive(Clone, Debug)]
pub struct ReadRequest {
    /// Where from.
    pub namespace: NamespaceName,
    /// Whose events: up to [`SERIES_MAX`], each once. With none, those of all series that are not blocked, slice by slice in
    /// the order of the read, inside of a slice partition by partition in the store's own order.
    pub series: Vec<SeriesId>,
    /// Of which time.
    pub interval: Interval,
    /// Which of them; all where there is none.
    pub query: Option<SearchQuery>,
    /// At most so many events; 1 to [`PAGE_RECORDS_MAX`].
    pub page_records: usize,
    /// In which order.
    pub order: Order,
    /// Where to go on, from the page before.
    pub resume: Option<Resume>,
    /// At most so many events over all pages; none without limit.
    pub total_limit: Option<u64>,
    /// Answer what is there after so long; none for the namespace's own limit.
    pub max_latency: Option<Duration>,
    /// The client is gone after so long; none if it waits. What is there is answered a little before.
    pub deadline: Option<Duration>,
}

/// A logical position between two pages. It names no table and no partition, so it stays right whatever happens to
/// those meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// Every row up to this one was scanned.
    pub after: Position,
    /// Events still wanted; none without limit.
    pub remaining: Option<u64>,
    /// Logical bytes that the pages so far have scanned of the time bucket in which `after` lies, by event bucket; empty
    /// at its beginning. Only a hint for whoever looks for wide partitions: where the time bucket has another number of
    /// event buckets by now, counting begins anew.
    pub scanned_bytes: Vec<u64>,
    /// Only where no series is named: the event bucket of the partition in which the read stands. Its time bucket is that of
    /// `after`; where that has no event id, nothing is left of the partition.
    pub event_bucket: Option<u32>,
}

/// One page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadPage {
    /// The events, in order.
    pub events: Vec<Event>,
    /// Where the next page begins; none at the end.
    pub next: Option<Resume>,
    /// Set where time ran out before the page was done.
    pub partial: Option<Partial>,
    /// The interval reaches into time that retention has dropped.
    pub retention_truncated: bool,
    /// Partitions from which this or an earlier page has read anything, of those that this page visited: at most 4,160.
    pub partitions: Vec<PartitionBytes>,
    /// What it cost.
    pub cost: Cost,
}

/// How much was read of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionBytes {
    /// Whose it is.
    pub series: SeriesId,
    /// Where its slice starts, nanoseconds since 1970.
    pub slice_start: i64,
    /// Its time bucket.
    pub time_bucket: u32,
    /// Its event bucket.
    pub event_bucket: u32,
    /// Logical bytes that the store read, on this page and on those before: never more than the partition had, as long
    /// as rows are not overwritten between the pages.
    pub bytes: u64,
}

/// A page that ended because its time was over, or because this server cannot be sure of the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partial {
    /// Whose limit it was: `MAX_LATENCY` of the request, `READ_MAX` of the namespace, or the `DEADLINE` of the client; or
    /// `VIEW_STALE`: a server without a lease can be sure only of slices that it knows.
    pub reason: &'static str,
    /// Of this time the pages so far have every event that was asked for.
    pub complete: Interval,
}

/// What an answer cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// From request to answer.
    pub time_taken: Duration,
    /// Logical bytes that the store read.
    pub bytes_read: u64,
    /// Partitions visited or written.
    pub partitions: u64,
    /// Those of a read that were read where they were written.
    pub origins: u64,
    /// Targets that were read in place of partitions that were split.
    pub targets: u64,
    /// Partitions that were read where they were written though targets should have been.
    pub fallbacks: u64,
    /// Slices they lie in.
    pub slices: u64,
    /// Partitions that were passed over because their series is blocked; only where no series was named.
    pub blocked_partitions: u64,
}

/// A slice as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceInfo {
    /// Its table.
    pub table: String,
    /// Its time.
    pub slice: Slice,
    /// The shape it was made with.
    pub shape: model::Shape,
    /// How its table is kept.
    pub storage: store::Storage,
    /// Whether it takes writes.
    pub state: SliceState,
}

/// Where in its life a slice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SliceState {
    /// It takes writes.
    Open,
    /// It is read and takes no writes.
    Closed,
    /// It is about to be dropped.
    Expired,
}

impl SliceState {
    /// The name that programs see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "OPEN",
            Self::Closed => "CLOSED",
            Self::Expired => "EXPIRED",
        }
    }
}
