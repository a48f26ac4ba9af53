//! What can go wrong between a server and its brokers.

use rdkafka::error::KafkaError;

/// Something that the client or a broker refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The client cannot be made of what was set: a property that it does not know, or a value that it refuses.
    #[error(
        "the settings of Kafka are refused ({source}); check queue.kafka.properties against librdkafka's list of properties"
    )]
    Settings {
        /// In the client's words.
        source: KafkaError,
    },
    /// A broker did not answer, or answered with an error.
    #[error(
        "Kafka at {brokers} could not {what} ({source}); check that the brokers run and can be reached from here"
    )]
    Broker {
        /// Who was asked.
        brokers: String,
        /// For what.
        what: &'static str,
        /// In the client's words.
        source: KafkaError,
    },
    /// A topic could not be made, or removed.
    #[error(
        "Kafka at {brokers} refused to {what} the topic {topic} ({code}); {what} it by hand, or allow this client to"
    )]
    Topic {
        /// Who was asked.
        brokers: String,
        /// To make or to remove it.
        what: &'static str,
        /// Which one.
        topic: String,
        /// In Kafka's words.
        code: String,
    },
    /// The process is ending.
    #[error("the process is ending; nothing is asked of Kafka any more")]
    Ending,
}
