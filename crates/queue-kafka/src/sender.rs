//! From reads to Kafka. Nothing here waits: what has no room is dropped and counted.

use std::sync::Arc;
use std::time::Duration;

use env::{Env, blocking};
use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::KafkaError;
use rdkafka::message::DeliveryResult;
use rdkafka::producer::{BaseRecord, Producer, ProducerContext, ThreadedProducer};
use split::Detection;

use crate::events::{complain, log};
use crate::{Error, Options, QueueMetrics};

/// Told of every detection that will not arrive.
type OnDrop = Box<dyn Fn() + Send + Sync>;

/// Sends detections. Cheap to clone.
#[derive(Clone)]
pub struct Sender {
    producer: Arc<ThreadedProducer<Reports>>,
    topic: String,
}

/// Hears what became of messages, on a thread of the client.
struct Reports {
    metrics: QueueMetrics,
    on_drop: OnDrop,
}

impl ClientContext for Reports {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        log(level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        complain(&error, reason);
    }
}

impl ProducerContext for Reports {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, _opaque: ()) {
        match result {
            Ok(_) => self.metrics.sent(),
            Err((error, _)) => {
                tracing::debug!(%error, "a detection was not delivered; a later read finds the partition again");
                (self.on_drop)();
            }
        }
    }
}

impl Sender {
    /// A sender; no broker is asked for anything yet. `on_drop` is told of every detection that is lost.
    pub fn new(
        options: &Options,
        metrics: &QueueMetrics,
        on_drop: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let reports = Reports { metrics: metrics.clone(), on_drop: Box::new(on_drop) };
        let made = options.producer().create_with_context(reports);
        let producer: ThreadedProducer<_> = made.map_err(|source| Error::Settings { source })?;
        Ok(Self { producer: Arc::new(producer), topic: options.topic.clone() })
    }

    /// Hands a detection to the client, or drops it.
    pub fn send(&self, detection: &Detection) {
        let (key, text) = (key_of(detection), detection.to_json());
        let record = BaseRecord::to(&self.topic).key(&key).payload(&text);
        if let Err((error, _)) = self.producer.send(record) {
            tracing::debug!(%error, "a detection was not queued; a later read finds the partition again");
            (self.producer.context().on_drop)();
        }
    }

    /// Waits until everything was delivered or dropped, for so long at most.
    pub async fn flush(&self, env: &Env, within: Duration) {
        let producer = Arc::clone(&self.producer);
        let flushed = blocking(&*env.spawn, move || producer.flush(within)).await;
        if !matches!(flushed, Ok(Ok(()))) {
            tracing::debug!(
                "some detections were not delivered before the stop; later reads find the partitions again"
            );
        }
    }
}

/// All that is said of one partition is in one place, and so in order.
fn key_of(detection: &Detection) -> String {
    let Detection { namespace, time_slice, time_series_id, time_bucket, event_bucket, .. } = detection;
    format!("{namespace}|{time_slice}|{time_series_id}|{time_bucket}|{event_bucket}")
}
