//! What splitting counts, under the published names.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use split::{Reason, State};

use super::detect::Said;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Immutable {
    immutable: Yes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Yes(bool);

impl EncodeLabelValue for Yes {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        EncodeLabelValue::encode(&if self.0 { "true" } else { "false" }, encoder)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Stage {
    stage: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Phase {
    phase: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Failure {
    reason: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct InState {
    state: &'static str,
}

/// Counters and histograms of splits.
pub(crate) struct SplitMetrics {
    states: Family<InState, Gauge>,
    detections: Family<Immutable, Counter>,
    dropped: Counter,
    lag: Histogram,
    stages: Family<Stage, Histogram>,
    bytes: Family<Phase, Histogram>,
    completed: Counter,
    failures: Family<Failure, Counter>,
    interruptions: Counter,
    mismatches: Counter,
}

impl Default for SplitMetrics {
    fn default() -> Self {
        let seconds = || Histogram::new(exponential_buckets(0.01, 2.0, 16));
        let bytes = || Histogram::new(exponential_buckets(65_536.0, 2.0, 18));
        Self {
            states: Family::default(),
            detections: Family::default(),
            dropped: Counter::default(),
            lag: seconds(),
            stages: Family::new_with_constructor(seconds),
            bytes: Family::new_with_constructor(bytes),
            completed: Counter::default(),
            failures: Family::default(),
            interruptions: Counter::default(),
            mismatches: Counter::default(),
        }
    }
}

impl SplitMetrics {
    /// Shows them in `registry`. The library adds `_total` and units to the names.
    pub(crate) fn register(&self, registry: &mut Registry) {
        self.counted(&BTreeMap::new());
        registry.register(
            "braid_splits",
            "Splits of all namespaces by state, as this server last counted them",
            self.states.clone(),
        );
        for immutable in [false, true] {
            self.detections.get_or_create(&Immutable { immutable: Yes(immutable) }).inc_by(0);
        }
        registry.register(
            "braid_wide_detections",
            "Wide partitions that reads found, each at most once in 30 s",
            self.detections.clone(),
        );
        registry.register(
            "braid_detections_dropped",
            "Detections that were dropped because too many waited or the queue was away; a later read finds them again",
            self.dropped.clone(),
        );
        registry.register_with_unit(
            "braid_detection_lag",
            "From the read that found a partition wide to its candidate",
            Unit::Seconds,
            self.lag.clone(),
        );
        registry.register_with_unit(
            "braid_split_stage_duration",
            "How long the stages of splits took",
            Unit::Seconds,
            self.stages.clone(),
        );
        registry.register_with_unit(
            "braid_split_partition",
            "Logical bytes of partitions before (pre) and after (post) a split was completed",
            Unit::Bytes,
            self.bytes.clone(),
        );
        registry.register(
            "braid_splits_completed",
            "Splits that this server has completed",
            self.completed.clone(),
        );
        registry.register("braid_split_failures", "Attempts to split that failed", self.failures.clone());
        registry.register(
            "braid_split_interruptions",
            "Times that the store failed under an attempt to split, which goes on later from where it stood",
            self.interruptions.clone(),
        );
        registry.register(
            "braid_split_checksum_mismatches",
            "Times that targets were not equal to their origin",
            self.mismatches.clone(),
        );
    }

    /// There are so many in each state.
    pub(super) fn counted(&self, states: &BTreeMap<State, u64>) {
        for state in State::ALL {
            let count = states.get(&state).copied().unwrap_or(0);
            let gauge = self.states.get_or_create(&InState { state: state.as_str() });
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }

    pub(super) fn detected(&self, immutable: bool, said: Said) {
        match said {
            Said::Now => {
                self.detections.get_or_create(&Immutable { immutable: Yes(immutable) }).inc();
            }
            Said::Before => {}
            Said::Dropped => self.dropped(),
        }
    }

    pub(crate) fn dropped(&self) {
        self.dropped.inc();
    }

    pub(crate) fn dropped_so_far(&self) -> u64 {
        self.dropped.get()
    }

    pub(super) fn lagged(&self, lag: Duration) {
        self.lag.observe(lag.as_secs_f64());
    }

    pub(super) fn stage(&self, stage: State, took: Duration) {
        let stage = match stage {
            State::Planning => "plan",
            State::Planned => "prepare",
            State::Copying => "copy",
            _ => "verify",
        };
        self.stages.get_or_create(&Stage { stage }).observe(took.as_secs_f64());
    }

    pub(super) fn completed(&self, before: u64, after: impl Iterator<Item = u64>) {
        self.completed.inc();
        self.bytes.get_or_create(&Phase { phase: "pre" }).observe(before as f64);
        let targets = self.bytes.get_or_create(&Phase { phase: "post" });
        after.for_each(|bytes| targets.observe(bytes as f64));
    }

    pub(super) fn failed(&self, reason: Reason) {
        self.failures.get_or_create(&Failure { reason: reason.as_str() }).inc();
    }

    pub(super) fn interrupted(&self) {
        self.interruptions.inc();
    }

    pub(super) fn mismatched(&self) {
        self.mismatches.inc();
    }
}
