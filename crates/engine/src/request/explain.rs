//! What one page of a read did and cost.

use std::time::Duration;

use model::{Group, Interval};

use crate::ReadPage;

/// What one page of a read did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Time buckets that were visited, in the order of the read.
    pub groups: Vec<ExplainedGroup>,
    /// Parts of the interval that were not.
    pub skipped: Vec<Skipped>,
    /// Groups that were opened ahead of the one being read, at most.
    pub read_ahead: u64,
    /// The page itself.
    pub page: ReadPage,
}

/// A time bucket whose partitions were read together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedGroup {
    /// The table it lies in.
    pub table: String,
    /// The slice, the time bucket and the part of it that was asked for.
    pub group: Group,
    /// Its partitions.
    pub partitions: Vec<ExplainedPartition>,
}

/// A partition that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedPartition {
    /// Which event bucket.
    pub event_bucket: u32,
    /// Rows that the store gave.
    pub rows: u64,
    /// Their logical bytes.
    pub bytes: u64,
    /// How often it was asked.
    pub store_calls: u64,
    /// How long it took, all calls together.
    pub time_taken: Duration,
}

/// A part of the interval that was not visited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Why.
    pub reason: SkipReason,
    /// Which part.
    pub interval: Interval,
    /// Time buckets that are left there, where the page ended before it.
    pub time_buckets: u64,
    /// Their partitions.
    pub partitions: u64,
}

/// Why a part of an interval was not visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// Nothing was ever written there.
    NoSlice,
    /// Retention has dropped it.
    Dropped,
    /// The page was full before.
    PageFull,
    /// The read has as many events as it asked for.
    TotalLimit,
    /// The page had read as much, or visited as many partitions, as a page may.
    ScanLimit,
    /// The time of the page was over.
    TimeOver,
}

impl SkipReason {
    /// The name that programs see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoSlice => "NO_SLICE",
            Self::Dropped => "DROPPED",
            Self::PageFull => "PAGE_FULL",
            Self::TotalLimit => "TOTAL_LIMIT",
            Self::ScanLimit => "SCAN_LIMIT",
            Self::TimeOver => "TIME_OVER",
        }
    }
}
