//! What the data plane counts and measures, under the published names.
//!
//! Labels are namespaces, routes, modes and reasons, never ids. A namespace becomes a label when it is first used and goes
//! when it is deleted; at most [`NAMESPACES_MAX`] have one of their own. What is asked of a namespace that does not exist
//! counts under `other`, so that no client can grow the set.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use model::NamespaceName;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::block::Access;
use crate::catalog::Catalog;
use crate::{Cost, Reason, Result, WriteAnswer};

/// Namespaces that have a label of their own; further ones share `other`.
const NAMESPACES_MAX: usize = 200;
const OTHER: &str = "other";
/// Where a page came from.
const ROUTES: [&str; 3] = ["origin", "target", "fallback"];
/// Upper edge of the first duration bucket, in seconds, and how many follow, each twice as wide: the last ends at 16 s.
const FIRST_SECONDS: f64 = 0.000_5;
const DURATION_BUCKETS: u16 = 16;
/// Upper edge of the first bucket of bytes, and how many follow, each four times as wide: the last ends at 256 MiB.
const FIRST_BYTES: f64 = 1_024.0;
const BYTES_BUCKETS: u16 = 10;

/// How a write was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mode {
    Synced,
    Queued,
}

impl EncodeLabelValue for Mode {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        let name = match self {
            Self::Synced => "synced",
            Self::Queued => "queued",
        };
        EncodeLabelValue::encode(&name, encoder)
    }
}

/// Why rows that were queued were lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Dropped {
    /// The store did not take them.
    Store,
    /// They grew too old.
    TooOld,
    /// Their namespace was deleted.
    NamespaceDeleted,
}

impl EncodeLabelValue for Dropped {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        let name = match self {
            Self::Store => "store",
            Self::TooOld => "too_old",
            Self::NamespaceDeleted => "namespace_deleted",
        };
        EncodeLabelValue::encode(&name, encoder)
    }
}

/// What a blocked request wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Blocked(Access);

impl EncodeLabelValue for Blocked {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        let name = match self.0 {
            Access::Read => "read",
            Access::Write => "write",
        };
        EncodeLabelValue::encode(&name, encoder)
    }
}

/// A namespace, or `other`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Label(Option<NamespaceName>);

impl EncodeLabelValue for Label {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        EncodeLabelValue::encode(&self.0.as_ref().map_or(OTHER, NamespaceName::as_str), encoder)
    }
}

/// `ok`, or the reason in small letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Outcome(Option<Reason>);

impl Outcome {
    fn of<T>(result: &Result<T>) -> Self {
        Self(result.as_ref().err().map(crate::Error::reason))
    }

    fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self(None)).chain(Reason::ALL.iter().map(|reason| Self(Some(*reason))))
    }
}

impl EncodeLabelValue for Outcome {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        let name = self.0.map_or("ok", Reason::as_str).to_ascii_lowercase();
        EncodeLabelValue::encode(&name, encoder)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReadLabels {
    namespace: Label,
    route: &'static str,
    outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    namespace: Label,
    route: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct NamespaceLabels {
    namespace: Label,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct WriteLabels {
    namespace: Label,
    mode: Mode,
    outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ModeLabels {
    namespace: Label,
    mode: Mode,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DroppedLabels {
    reason: Dropped,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BlockedLabels {
    namespace: Label,
    access: Blocked,
}

/// Where a page came from: targets if any part of it did, unless some should have and did not.
fn route_of(cost: &Cost) -> &'static str {
    match (cost.fallbacks, cost.targets) {
        (0, 0) => "origin",
        (0, _) => "target",
        _ => "fallback",
    }
}

/// A write that has ended.
pub(crate) struct Write<'a> {
    pub(crate) namespace: &'a NamespaceName,
    pub(crate) mode: Mode,
    /// Events in the request.
    pub(crate) events: usize,
    pub(crate) took: Duration,
}

/// The counters of one engine.
pub(crate) struct Metrics {
    /// Namespaces with a label of their own. Held while one is used, so that a deleted one does not come back.
    named: RwLock<BTreeSet<NamespaceName>>,
    reads: Family<ReadLabels, Counter>,
    read_durations: Family<RouteLabels, Histogram>,
    read_bytes: Family<NamespaceLabels, Histogram>,
    writes: Family<WriteLabels, Counter>,
    write_durations: Family<ModeLabels, Histogram>,
    queue_dropped: Family<DroppedLabels, Counter>,
    partial: Family<NamespaceLabels, Counter>,
    blocked: Family<BlockedLabels, Counter>,
}

impl Default for Metrics {
    fn default() -> Self {
        let seconds = || Histogram::new(exponential_buckets(FIRST_SECONDS, 2.0, DURATION_BUCKETS));
        let bytes = || Histogram::new(exponential_buckets(FIRST_BYTES, 4.0, BYTES_BUCKETS));
        Self {
            named: RwLock::default(),
            reads: Family::default(),
            read_durations: Family::new_with_constructor(seconds),
            read_bytes: Family::new_with_constructor(bytes),
            writes: Family::default(),
            write_durations: Family::new_with_constructor(seconds),
            queue_dropped: Family::default(),
            partial: Family::default(),
            blocked: Family::default(),
        }
    }
}

impl Metrics {
    /// Shows the metrics in `registry`. The library adds `_total` and units to the names.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register("braid_reads", "Pages read, by how they ended", self.reads.clone());
        registry.register_with_unit(
            "braid_read_duration",
            "How long pages took",
            Unit::Seconds,
            self.read_durations.clone(),
        );
        registry.register_with_unit(
            "braid_read",
            "Logical bytes that the store read for a page",
            Unit::Bytes,
            self.read_bytes.clone(),
        );
        registry.register("braid_writes", "Events written, by how they ended", self.writes.clone());
        registry.register_with_unit(
            "braid_write_duration",
            "How long write requests took",
            Unit::Seconds,
            self.write_durations.clone(),
        );
        // Shown before anything is lost, so that the first loss is a rise.
        for reason in [Dropped::Store, Dropped::TooOld, Dropped::NamespaceDeleted] {
            self.dropped(reason, 0);
        }
        registry.register(
            "braid_write_queue_dropped",
            "Rows that were queued and could not be stored",
            self.queue_dropped.clone(),
        );
        registry.register(
            "braid_partial_returns",
            "Pages that ended because their time was over",
            self.partial.clone(),
        );
        registry.register(
            "braid_blocked_requests",
            "Requests that were refused, or some of whose events were, because an id is blocked",
            self.blocked.clone(),
        );
    }

    /// Counts a read, an aggregation or an explanation: what it cost and whether it is partial.
    pub(crate) fn read(
        &self,
        catalog: &Catalog,
        name: &NamespaceName,
        took: Duration,
        answer: std::result::Result<(&Cost, bool), &crate::Error>,
    ) {
        let route = answer.map_or("origin", |(cost, _)| route_of(cost));
        self.labelled(catalog, name, |namespace| {
            let labels = ReadLabels {
                namespace: namespace.clone(),
                route,
                outcome: Outcome(answer.err().map(crate::Error::reason)),
            };
            self.reads.get_or_create(&labels).inc();
            let labels = RouteLabels { namespace: namespace.clone(), route };
            self.read_durations.get_or_create(&labels).observe(took.as_secs_f64());
            if answer.is_err_and(|error| error.reason() == Reason::IdBlocked) {
                self.blocked(&namespace, Access::Read);
            }
            if let Ok((cost, is_partial)) = answer {
                let labels = NamespaceLabels { namespace };
                self.read_bytes.get_or_create(&labels).observe(cost.bytes_read as f64);
                if is_partial {
                    self.partial.get_or_create(&labels).inc();
                }
            }
        });
    }

    /// Counts the events of a write.
    pub(crate) fn wrote(&self, catalog: &Catalog, write: &Write<'_>, result: &Result<WriteAnswer>) {
        let mode = write.mode;
        self.labelled(catalog, write.namespace, |namespace| {
            let count = |outcome, events: usize| {
                let labels = WriteLabels { namespace: namespace.clone(), mode, outcome };
                self.writes.get_or_create(&labels).inc_by(events as u64);
            };
            match result {
                Ok(answer) => {
                    count(Outcome(None), answer.accepted);
                    answer.refused.iter().for_each(|refusal| count(Outcome(Some(refusal.reason)), 1));
                    if answer.refused.iter().any(|refusal| refusal.reason == Reason::IdBlocked) {
                        self.blocked(&namespace, Access::Write);
                    }
                }
                Err(_) => count(Outcome::of(result), write.events),
            }
            let labels = ModeLabels { namespace: namespace.clone(), mode };
            self.write_durations.get_or_create(&labels).observe(write.took.as_secs_f64());
        });
    }

    fn blocked(&self, namespace: &Label, access: Access) {
        let labels = BlockedLabels { namespace: namespace.clone(), access: Blocked(access) };
        self.blocked.get_or_create(&labels).inc();
    }

    /// Counts rows that were queued and lost.
    pub(crate) fn dropped(&self, reason: Dropped, rows: u64) {
        self.queue_dropped.get_or_create(&DroppedLabels { reason }).inc_by(rows);
    }

    /// Forgets a namespace that was deleted.
    pub(crate) fn forget(&self, name: &NamespaceName) {
        let mut named = self.named.write().unwrap_or_else(PoisonError::into_inner);
        if !named.remove(name) {
            return;
        }
        let namespace = Label(Some(name.clone()));
        for outcome in Outcome::all() {
            for route in ROUTES {
                self.reads.remove(&ReadLabels { namespace: namespace.clone(), route, outcome });
            }
            for mode in [Mode::Synced, Mode::Queued] {
                self.writes.remove(&WriteLabels { namespace: namespace.clone(), mode, outcome });
            }
        }
        for mode in [Mode::Synced, Mode::Queued] {
            self.write_durations.remove(&ModeLabels { namespace: namespace.clone(), mode });
        }
        for access in [Access::Read, Access::Write] {
            self.blocked.remove(&BlockedLabels { namespace: namespace.clone(), access: Blocked(access) });
        }
        for route in ROUTES {
            self.read_durations.remove(&RouteLabels { namespace: namespace.clone(), route });
        }
        self.partial.remove(&NamespaceLabels { namespace: namespace.clone() });
        self.read_bytes.remove(&NamespaceLabels { namespace });
    }

    /// Runs `record` with the label of a namespace.
    fn labelled(&self, catalog: &Catalog, name: &NamespaceName, record: impl FnOnce(Label)) {
        let named = self.named.read().unwrap_or_else(PoisonError::into_inner);
        if named.contains(name) {
            return record(Label(Some(name.clone())));
        }
        drop(named);
        let mut named = self.named.write().unwrap_or_else(PoisonError::into_inner);
        // One that is really called `other` has the same label anyway.
        let fits = named.len() < NAMESPACES_MAX && name.as_str() != OTHER;
        if named.contains(name) || (fits && catalog.find(name).is_ok()) {
            named.insert(name.clone());
            record(Label(Some(name.clone())));
        } else {
            record(Label(None));
        }
    }
}
