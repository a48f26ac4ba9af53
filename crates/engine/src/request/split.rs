//! Splits as operators see them.

use model::{PartitionKey, SeriesId};
use split::{Record, State, TargetLayout};

/// A split as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Names it inside of its namespace: `data_20260328/7/2/profileId:123`.
    pub id: String,
    /// All that is known of it.
    pub record: Record,
    /// Names its present state.
    pub etag: String,
}

/// How a split is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SplitAsk {
    /// How its targets are to keep events; none: as the namespace wishes, or as was asked for before.
    pub layout: Option<TargetLayout>,
    /// Nothing is changed.
    pub validate_only: bool,
}

/// Which splits to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SplitFilter {
    /// In these states; empty for all.
    pub states: Vec<State>,
    /// Of this series.
    pub series: Option<SeriesId>,
    /// Of the slice with this table.
    pub table: Option<String>,
}

/// Splits, in the order of their slices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SplitPage {
    /// The splits.
    pub splits: Vec<Split>,
    /// Where the next page begins; none at the end.
    pub next: Option<String>,
}

/// What splits have done to a namespace so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SplitSummary {
    /// How many there are in each state that has any.
    pub states: Vec<(State, u64)>,
    /// Logical bytes of the origins of completed splits.
    pub origin_bytes: u64,
    /// Bytes that are kept a second time: targets of completed splits, and of those that are to be deleted.
    pub doubled_bytes: u64,
    /// The largest origin of a completed split.
    pub largest_origin_bytes: u64,
    /// The largest target of a completed split.
    pub largest_target_bytes: u64,
    /// Whether workers leave the namespace alone.
    pub paused: bool,
}

/// A partition that is wide, or was thought to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WidePartition {
    /// The table of its slice.
    pub table: String,
    /// The partition.
    pub partition: PartitionKey,
    /// Its logical bytes, as far as they were read.
    pub bytes: u64,
    /// The state of its split; none where there is none.
    pub state: Option<State>,
}
