//! What one page of a read did and cost.

use std::time::Duration;

use model::{Group, Interval};

use crate::ReadPage;
use crate::route::{Cached, Choice, Routed, Seen};

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
    /// How it was routed.
    pub route: ExplainedRoute,
}

/// How a partition came to be read where it was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExplainedRoute {
    /// What the filter of the slice said; none where nothing of it was split, or nobody asked.
    pub filter: Option<bool>,
    /// Whether its split was in the cache; none where nobody asked.
    pub cached: Option<bool>,
    /// The event buckets of the targets that were read, in the order of the read; none where it was the origin.
    pub targets: Vec<u32>,
    /// Why it was the origin though it should have been targets.
    pub fallback: Option<crate::Fallback>,
}

impl ExplainedRoute {
    pub(crate) fn of(routed: &Routed, targets: &[u32]) -> Self {
        Self {
            filter: match routed.seen {
                Seen::Nothing => None,
                Seen::No => Some(false),
                Seen::Maybe => Some(true),
            },
            cached: match routed.cached {
                Cached::NotAsked => None,
                Cached::Hit => Some(true),
                Cached::Miss => Some(false),
            },
            targets: targets.to_vec(),
            fallback: match routed.choice {
                Choice::Back(why) => Some(why),
                _ => None,
            },
        }
    }
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
