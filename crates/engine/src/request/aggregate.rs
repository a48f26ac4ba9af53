//! Aggregations: what is asked, and what comes back.

use bytes::Bytes;
use model::Interval;

use crate::{Cost, Partial, ReadRequest, Resume};

/// What is to be found out of the events that a read would give.
#[derive(Clone, Debug)]
pub struct AggregateRequest {
    /// Which events; `page_records` is the most buckets in one answer.
    pub read: ReadRequest,
    /// What of them.
    pub aggregation: Aggregation,
}

/// What is found out of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Aggregation {
    /// How many there are.
    Count,
    /// Each value of the items with this key.
    Distinct {
        /// The item's key.
        key: String,
    },
    /// Number, least, greatest and sum of the values of the items with this key that are written as numbers.
    Stats {
        /// The item's key.
        key: String,
    },
    /// How many events each stretch of time has, counted from 1970 on.
    TimeHistogram {
        /// How long a stretch is, in nanoseconds; over 0.
        width: i64,
    },
}

/// One answer to an [`AggregateRequest`]. It covers what lies behind the answer before it, so that counts add up.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregatePage {
    /// Values, the most frequent first; or stretches of time, in the order of the read.
    pub buckets: Vec<Bucket>,
    /// Matching events.
    pub count: u64,
    /// Where they were asked for.
    pub stats: Option<Stats>,
    /// Where the next answer begins; none at the end.
    pub next: Option<Resume>,
    /// Set where time ran out.
    pub partial: Option<Partial>,
    /// The interval reaches into time that retention has dropped.
    pub retention_truncated: bool,
    /// The time that this answer covers; where no series was named, the slices that are done with.
    pub complete: Interval,
    /// What it cost.
    pub cost: Cost,
}

/// Some of the events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Which.
    pub key: BucketKey,
    /// How many.
    pub count: u64,
}

/// What the events of a bucket have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BucketKey {
    /// The value of the item.
    Value(Bytes),
    /// They happened in this time.
    Time(Interval),
}

/// Of the values that are written as numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stats {
    /// How many.
    pub count: u64,
    /// The least; none where there is no number.
    pub min: Option<f64>,
    /// The greatest.
    pub max: Option<f64>,
    /// The exact sum, rounded once.
    pub sum: f64,
}
