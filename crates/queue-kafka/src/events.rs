//! What the client has to say on its own, in our log.

use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, ConsumerContext, Rebalance};
use rdkafka::error::KafkaError;

/// Passes on what a client says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told;

impl ClientContext for Told {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        log(level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        complain(&error, reason);
    }
}

impl ConsumerContext for Told {
    fn post_rebalance(&self, _consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        match rebalance {
            Rebalance::Assign(partitions) => {
                tracing::info!(
                    partitions = partitions.count(),
                    "takes detections of more partitions of the topic"
                );
            }
            Rebalance::Revoke(partitions) => {
                tracing::info!(partitions = partitions.count(), "leaves partitions of the topic to others");
            }
            Rebalance::Error(error) => {
                tracing::warn!(%error, "the partitions of the topic could not be shared out")
            }
        }
    }
}

/// A line of the client's own log. Properties of the other kind of client are given to each, which it need not say.
pub(crate) fn log(level: RDKafkaLogLevel, facility: &str, message: &str) {
    match level {
        _ if facility == "CONFWARN" => tracing::debug!(facility, "kafka: {message}"),
        RDKafkaLogLevel::Emerg
        | RDKafkaLogLevel::Alert
        | RDKafkaLogLevel::Critical
        | RDKafkaLogLevel::Error => {
            tracing::warn!(facility, "kafka: {message}");
        }
        _ => tracing::debug!(facility, "kafka: {message}"),
    }
}

/// Something that the client goes on trying.
pub(crate) fn complain(error: &KafkaError, reason: &str) {
    tracing::warn!(%error, "kafka: {reason}; the client goes on trying");
}
