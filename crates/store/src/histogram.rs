//! The sizes of a table's partitions: what a store answers, and where it has that from.

use model::{HistogramQuality, SizeHistogram, SizeSummary};

/// Where the sizes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HistogramSource {
    /// Every partition was read, now or when it was kept.
    Scan,
    /// Counters that a store keeps while it writes.
    Counters,
    /// The files of a cluster's nodes, asked through the Jolokia agent of each.
    Jolokia,
    /// The same, asked with the cluster's own tool.
    Nodetool,
    /// What a cluster's nodes estimate and show in tables.
    Cql,
}

impl HistogramSource {
    /// Its name, as people see it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scan => "scan",
            Self::Counters => "counters",
            Self::Jolokia => "jolokia",
            Self::Nodetool => "nodetool",
            Self::Cql => "cql",
        }
    }
}

/// The sizes of a table's partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// The sizes: logical bytes where they were read or counted, bytes as stored where a cluster tells them. Of a source
    /// that only has a summary they are its steps, so the summary is better.
    pub sizes: SizeHistogram,
    /// The sizes that people look at, exactly as the source has them.
    pub summary: SizeSummary,
    /// How good the summary is.
    pub quality: HistogramQuality,
    /// Where it comes from.
    pub source: HistogramSource,
    /// Nodes of a cluster that did not answer, and whose partitions are missing.
    pub nodes_missing: usize,
}

impl Histogram {
    /// Sizes of partitions that were all read.
    pub fn exact(sizes: SizeHistogram) -> Self {
        Self::of(sizes, HistogramQuality::Exact, HistogramSource::Scan)
    }

    /// Sizes that are estimated.
    pub fn estimated(sizes: SizeHistogram, source: HistogramSource) -> Self {
        Self::of(sizes, HistogramQuality::Estimated, source)
    }

    fn of(sizes: SizeHistogram, quality: HistogramQuality, source: HistogramSource) -> Self {
        Self { summary: sizes.summary(), sizes, quality, source, nodes_missing: 0 }
    }
}
