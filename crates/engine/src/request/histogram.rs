//! The sizes of a slice's partitions.

use model::{HistogramQuality, SizeHistogram, SizeSummary, Slice};

/// How large the partitions of a slice are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceHistogram {
    /// Its table.
    pub table: String,
    /// Its time.
    pub slice: Slice,
    /// The sizes that people look at, as the source has them.
    pub summary: SizeSummary,
    /// All sizes; of some sources only roughly.
    pub sizes: SizeHistogram,
    /// How good the summary is.
    pub quality: HistogramQuality,
    /// Where it comes from: `scan`, `counters`, `jolokia`, `nodetool` or `cql`.
    pub source: &'static str,
    /// Nodes of a cluster that did not answer, and whose partitions are missing.
    pub nodes_missing: usize,
    /// When the store answered, nanoseconds since 1970.
    pub observed: i64,
}
