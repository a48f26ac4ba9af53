//! What was seen of one slice: the sizes of its partitions, and how the bytes of each series lie in time.

use model::{HistogramQuality, SizeHistogram, SizeSummary};

/// The sizes of one slice, of all of it or of its time buckets that were closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The table of the slice.
    pub table: String,
    /// Where the slice starts, nanoseconds since 1970.
    pub start: i64,
    /// How wide it is.
    pub seconds_per_slice: u32,
    /// How wide its time buckets are.
    pub seconds_per_bucket: u32,
    /// Its event buckets per time bucket.
    pub buckets_per_id: u16,
    /// How much of it was closed and counts, from its start on.
    pub covered_seconds: u32,
    /// When it was looked at, nanoseconds since 1970.
    pub observed: i64,
    /// How good the sizes are.
    pub quality: HistogramQuality,
    /// Where they come from: `scan`, `counters`, `jolokia`, `nodetool` or `cql`.
    pub source: String,
    /// Nodes of a cluster that did not answer.
    pub nodes_missing: u32,
    /// The sizes that people look at, as the source has them.
    pub summary: SizeSummary,
    /// All sizes; of some sources only roughly.
    pub sizes: SizeHistogram,
    /// How they add up per series; none where there were too many partitions to walk over.
    pub series: Option<SeriesSizes>,
}

/// How the partitions of series add up over wider and wider time buckets, up to all that was covered. Buckets without events
/// are not in it, so what is predicted from it counts them as empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesSizes {
    /// What the rungs count.
    pub counted: Counted,
    /// How many series there are; estimated where only a sample was kept.
    pub series: u64,
    /// Whether the rungs are those of a sample of the series.
    pub sampled: bool,
    /// Narrowest first; the last is as wide as what was covered.
    pub rungs: Vec<Rung>,
}

/// What the rungs of a slice count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Bytes of events.
    Bytes,
    /// Partitions, because only their keys were read.
    Partitions,
}

/// One width of time buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rung {
    /// How wide.
    pub seconds: u32,
    /// How many pairs of series and time bucket have which size, all event buckets together; none is empty.
    pub sizes: SizeHistogram,
}

impl Observation {
    /// Whether all of the slice was closed.
    pub const fn is_whole(&self) -> bool {
        self.covered_seconds >= self.seconds_per_slice
    }

    /// How many time buckets count.
    pub const fn buckets(&self) -> u32 {
        match self.covered_seconds.checked_div(self.seconds_per_bucket) {
            Some(buckets) => buckets,
            None => 0,
        }
    }

    /// Whether it is good enough to change a namespace by itself: not estimated, and nobody missing.
    pub fn may_apply(&self) -> bool {
        self.quality != HistogramQuality::Estimated && self.nodes_missing == 0
    }

    /// Whether its slice was cut like this.
    pub const fn has_shape(&self, shape: model::ShapeSpec) -> bool {
        self.seconds_per_slice == shape.seconds_per_slice
            && self.seconds_per_bucket == shape.seconds_per_bucket
            && self.buckets_per_id == shape.buckets_per_id
    }
}
