//! What the queue counts.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::broker::Standing;

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

const OUTCOMES: [&str; 3] = ["noted", "unknown", "malformed"];

/// Counters of one process, and gauges of the whole queue. Cheap to clone.
#[derive(Clone, Default)]
pub struct QueueMetrics {
    sent: Counter,
    received: Family<Outcome, Counter>,
    held: Counter,
    lag: Gauge,
    dead_letters: Gauge,
}

impl QueueMetrics {
    /// Shows them in `registry`. The library adds `_total` to the names of counters.
    pub fn register(&self, registry: &mut Registry) {
        for outcome in OUTCOMES {
            self.received.get_or_create(&Outcome { outcome }).inc_by(0);
        }
        registry.register(
            "braid_queue_sent",
            "Detections that Kafka has taken from this server",
            self.sent.clone(),
        );
        registry.register(
            "braid_queue_received",
            "Messages that this worker has dealt with: noted, of an unknown namespace or slice, or malformed",
            self.received.clone(),
        );
        registry.register(
            "braid_queue_held",
            "Times that this worker stopped taking detections because they could not be noted",
            self.held.clone(),
        );
        registry.register(
            "braid_queue_lag",
            "Detections in the topic that no worker has dealt with, as this server last asked",
            self.lag.clone(),
        );
        registry.register(
            "braid_queue_dead_letters",
            "Messages in the dead-letter topic, as this server last asked",
            self.dead_letters.clone(),
        );
    }

    pub(crate) fn sent(&self) {
        self.sent.inc();
    }

    pub(crate) fn received(&self, outcome: &'static str) {
        self.received.get_or_create(&Outcome { outcome }).inc();
    }

    pub(crate) fn held(&self) {
        self.held.inc();
    }

    pub(crate) fn stands(&self, standing: Standing) {
        let shown = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        self.lag.set(shown(standing.lag));
        self.dead_letters.set(shown(standing.dead_letters));
    }
}
