//! What comparisons count, under the published names.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::{Registry, Unit};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    result: &'static str,
}

/// What became of a read that could be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compared {
    Match,
    Differ,
    /// It differed at the first look only.
    Unconfirmed,
    /// Its share was not drawn.
    NotDrawn,
    /// Too many bytes were compared in the last second.
    Budget,
    /// Too many comparisons are under way.
    Busy,
    /// It is of a kind that is not compared: without series, or cut inside of an event.
    Kind,
    /// What was read changed meanwhile, or could not be read.
    Unread,
}

impl Compared {
    const ALL: [Self; 8] = [
        Self::Match,
        Self::Differ,
        Self::Unconfirmed,
        Self::NotDrawn,
        Self::Budget,
        Self::Busy,
        Self::Kind,
        Self::Unread,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Differ => "differ",
            Self::Unconfirmed => "unconfirmed",
            Self::NotDrawn => "skipped_share",
            Self::Budget => "skipped_budget",
            Self::Busy => "skipped_busy",
            Self::Kind => "skipped_kind",
            Self::Unread => "skipped_unread",
        }
    }
}

/// Counters of comparisons.
#[derive(Default)]
pub(crate) struct CompareMetrics {
    bytes: Family<Labels, Counter>,
    reads: Family<Labels, Counter>,
}

impl CompareMetrics {
    /// Shows them in `registry`. The library adds `_total` and units to the names.
    pub(crate) fn register(&self, registry: &mut Registry) {
        self.bytes(0, 0);
        registry.register_with_unit(
            "braid_compare",
            "Logical bytes that were read from origin and targets and compared",
            Unit::Bytes,
            self.bytes.clone(),
        );
        for compared in Compared::ALL {
            self.reads.get_or_create(&Labels { result: compared.name() }).inc_by(0);
        }
        registry.register(
            "braid_compares",
            "Reads of split partitions that were compared, or why not",
            self.reads.clone(),
        );
    }

    pub(super) fn bytes(&self, same: u64, differ: u64) {
        self.bytes.get_or_create(&Labels { result: "match" }).inc_by(same);
        self.bytes.get_or_create(&Labels { result: "differ" }).inc_by(differ);
    }

    pub(super) fn count(&self, compared: Compared) {
        self.reads.get_or_create(&Labels { result: compared.name() }).inc();
    }
}
