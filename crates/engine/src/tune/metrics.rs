//! What tuning counts, under the published names.

use ::tune::Observation;
use model::NamespaceName;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Done {
    action: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Size {
    namespace: String,
    stat: &'static str,
}

/// What becomes of proposals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Made.
    Proposed,
    /// Accepted by somebody.
    Accepted,
    /// Accepted by the policy.
    Applied,
    /// Rejected.
    Rejected,
    /// Gone stale.
    Stale,
}

impl Action {
    const ALL: [Self; 5] = [Self::Proposed, Self::Accepted, Self::Applied, Self::Rejected, Self::Stale];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Accepted => "accepted",
            Self::Applied => "applied",
            Self::Rejected => "rejected",
            Self::Stale => "stale",
        }
    }
}

/// Counters and gauges of tuning.
#[derive(Default)]
pub(crate) struct TuneMetrics {
    proposals: Family<Done, Counter>,
    sizes: Family<Size, Gauge>,
}

impl TuneMetrics {
    /// Shows them in `registry`. The library adds `_total` and units to the names.
    pub(crate) fn register(&self, registry: &mut Registry) {
        for action in Action::ALL {
            self.proposals.get_or_create(&Done { action: action.as_str() }).inc_by(0);
        }
        registry.register(
            "braid_tuning_proposals",
            "Proposals for the shape of future slices, by what this server did with them",
            self.proposals.clone(),
        );
        registry.register_with_unit(
            "braid_slice_partition",
            "Sizes of the partitions of the newest closed slice, as this server last saw them",
            Unit::Bytes,
            self.sizes.clone(),
        );
    }

    pub(super) fn did(&self, action: Action) {
        self.proposals.get_or_create(&Done { action: action.as_str() }).inc();
    }

    /// Shows the newest slice of a namespace.
    pub(super) fn saw(&self, namespace: &NamespaceName, observations: &[Observation]) {
        let whole = observations.iter().filter(|seen| seen.is_whole() && seen.summary.partitions > 0);
        let Some(newest) = whole.max_by_key(|seen| seen.start) else { return };
        let summary = &newest.summary;
        for (stat, bytes) in [("p50", summary.p50), ("p99", summary.p99), ("max", summary.max)] {
            let size = Size { namespace: namespace.as_str().to_owned(), stat };
            self.sizes.get_or_create(&size).set(i64::try_from(bytes).unwrap_or(i64::MAX));
        }
    }

    /// Shows nothing of a namespace any more.
    pub(crate) fn forget(&self, namespace: &NamespaceName) {
        for stat in ["p50", "p99", "max"] {
            self.sizes.remove(&Size { namespace: namespace.as_str().to_owned(), stat });
        }
    }
}
