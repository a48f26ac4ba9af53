//! What routing counts, under the published names. Labels are namespaces and slices that have filters, never ids.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use env::BootTime;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use split::SplitId;

use super::filters::{Incarnation, SliceFilters};
use super::way::Fallback;

/// Slices that have labels of their own; further ones have none.
const LABELS_MAX: usize = 500;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct Of {
    namespace: String,
    slice: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Asked {
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Why {
    reason: &'static str,
}

/// Counters and gauges of filters and routes.
pub(crate) struct RouteMetrics {
    elements: Family<Of, Gauge>,
    bytes: Family<Of, Gauge>,
    ages: Family<Of, Gauge<f64, std::sync::atomic::AtomicU64>>,
    false_positives: Family<Of, Counter>,
    checks: Histogram,
    cache: Family<Asked, Counter>,
    reads: Histogram,
    fallbacks: Family<Why, Counter>,
    /// What is shown now.
    shown: Mutex<Vec<Of>>,
}

impl Default for RouteMetrics {
    fn default() -> Self {
        Self {
            elements: Family::default(),
            bytes: Family::default(),
            ages: Family::default(),
            false_positives: Family::default(),
            // From 25 ns on.
            checks: Histogram::new(exponential_buckets(0.000_000_025, 2.0, 12)),
            cache: Family::default(),
            reads: Histogram::new(exponential_buckets(0.000_1, 2.0, 16)),
            fallbacks: Family::default(),
            shown: Mutex::default(),
        }
    }
}

impl RouteMetrics {
    /// Shows them in `registry`. The library adds `_total` and units to the names.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register("braid_filter_elements", "Splits in the filter of a slice", self.elements.clone());
        registry.register_with_unit(
            "braid_filter_size",
            "Memory of the filter of a slice",
            Unit::Bytes,
            self.bytes.clone(),
        );
        registry.register_with_unit(
            "braid_filter_age",
            "How long ago the filter of a slice was read, as of the last look for changes",
            Unit::Seconds,
            self.ages.clone(),
        );
        registry.register(
            "braid_filter_false_positives",
            "Partitions that a filter let through and that were never split",
            self.false_positives.clone(),
        );
        registry.register_with_unit(
            "braid_filter_check_duration",
            "How long a look into a filter takes, one in 64",
            Unit::Seconds,
            self.checks.clone(),
        );
        for result in ["hit", "miss"] {
            self.cache.get_or_create(&Asked { result }).inc_by(0);
        }
        registry.register(
            "braid_metadata_cache_requests",
            "Looks for what is known of a split",
            self.cache.clone(),
        );
        registry.register_with_unit(
            "braid_metadata_read_duration",
            "How long records of splits took to read, for reads",
            Unit::Seconds,
            self.reads.clone(),
        );
        for why in Fallback::ALL {
            self.fallbacks.get_or_create(&Why { reason: why.as_str() }).inc_by(0);
        }
        registry.register(
            "braid_read_fallbacks",
            "Pages that were read from the origin though some of it should have come from targets",
            self.fallbacks.clone(),
        );
    }

    pub(super) fn checked(&self, took: Duration) {
        self.checks.observe(took.as_secs_f64());
    }

    pub(super) fn asked(&self, hit: bool) {
        self.cache.get_or_create(&Asked { result: if hit { "hit" } else { "miss" } }).inc();
    }

    pub(super) fn read(&self, took: Duration) {
        self.reads.observe(took.as_secs_f64());
    }

    pub(crate) fn fell_back(&self, why: Fallback) {
        self.fallbacks.get_or_create(&Why { reason: why.as_str() }).inc();
    }

    pub(super) fn false_positive(&self, id: &SplitId) {
        let of = Of { namespace: id.namespace.as_str().to_owned(), slice: id.time_slice.clone() };
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.contains(&of) {
            self.false_positives.get_or_create(&of).inc();
        }
    }

    pub(super) fn measure(&self, all: &BTreeMap<Incarnation, Arc<SliceFilters>>, now: BootTime) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let mut present = Vec::new();
        let filters =
            all.iter().flat_map(|(which, slices)| slices.values().map(move |filter| (which, filter)));
        for ((name, _), filter) in filters.take(LABELS_MAX) {
            let of = Of { namespace: name.as_str().to_owned(), slice: filter.table.clone() };
            let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
            self.elements.get_or_create(&of).set(number(filter.elements()));
            self.bytes.get_or_create(&of).set(number(filter.bytes()));
            self.ages.get_or_create(&of).set(now.since(filter.loaded).as_secs_f64());
            self.false_positives.get_or_create(&of).inc_by(0);
            present.push(of);
        }
        for gone in shown.iter().filter(|of| !present.contains(of)) {
            self.elements.remove(gone);
            self.bytes.remove(gone);
            self.ages.remove(gone);
            self.false_positives.remove(gone);
        }
        *shown = present;
    }

    /// How often the filter of a slice was wrong.
    pub(super) fn false_positives_of(&self, namespace: &str, slice: &str) -> u64 {
        let of = Of { namespace: namespace.to_owned(), slice: slice.to_owned() };
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.contains(&of) { self.false_positives.get_or_create(&of).get() } else { 0 }
    }
}
