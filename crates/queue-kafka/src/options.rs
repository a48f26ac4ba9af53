//! What is set, and the properties of the client that follow from it.

use std::collections::BTreeMap;
use std::time::Duration;

use rdkafka::config::{ClientConfig, RDKafkaLogLevel};

use crate::Error;

/// What the name of the topic with dead letters ends with.
pub const DEAD_LETTER_SUFFIX: &str = ".dead-letter";

/// Properties that cannot be set by hand, and what to do instead: at least once depends on them, or there is a setting.
pub const RESERVED: [(&str, &str); 7] = [
    ("bootstrap.servers", "set queue.kafka.bootstrap_servers"),
    ("metadata.broker.list", "set queue.kafka.bootstrap_servers"),
    ("group.id", "set queue.kafka.group"),
    ("enable.auto.commit", "offsets are committed only once a record is durable"),
    ("enable.auto.offset.store", "offsets are stored only once a record is durable"),
    ("enable.idempotence", "a detection is never sent twice by one producer"),
    ("acks", "a detection counts as sent once every replica in sync has it"),
];

/// How long a detection may wait to be delivered; then it is dropped, and a later read finds the partition again.
const DELIVERED_WITHIN: Duration = Duration::from_secs(30);
/// Detections that the producer keeps at once.
const QUEUED_MAX: u32 = 1_024;
/// And their bytes.
const QUEUED_KIB_MAX: u32 = 4_096;
/// A worker that died is missed after this; its partitions then go to others.
const MISSED_AFTER: Duration = Duration::from_secs(10);
/// A broker that was away is tried again at least so often.
const RECONNECTED_WITHIN: Duration = Duration::from_secs(2);
/// Stored offsets are committed so often.
const COMMIT_EVERY: Duration = Duration::from_secs(1);
/// Messages that a worker fetches ahead, in KiB of one partition.
const FETCHED_KIB_MAX: u32 = 1_024;

/// How to reach Kafka, and what is where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Brokers to begin with, as host:port; the others are learnt from them.
    pub bootstrap_servers: Vec<String>,
    /// The topic of detections.
    pub topic: String,
    /// The consumer group that all split workers are in.
    pub group: String,
    /// Further properties of librdkafka, as TLS and SASL; they replace the defaults of this crate, but not what is reserved.
    pub properties: BTreeMap<String, String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            bootstrap_servers: vec!["127.0.0.1:9092".to_owned()],
            topic: "braid.wide-partition-detections".to_owned(),
            group: "braid-split-workers".to_owned(),
            properties: BTreeMap::new(),
        }
    }
}

impl Options {
    /// Where messages go that are no detections.
    pub fn dead_letter_topic(&self) -> String {
        format!("{}{DEAD_LETTER_SUFFIX}", self.topic)
    }

    /// Whether the client takes all of it. Nobody is asked.
    pub fn check(&self) -> Result<(), Error> {
        for config in [self.asker(), self.producer(), self.consumer()] {
            config.create_native_config().map_err(|source| Error::Settings { source })?;
        }
        Ok(())
    }

    /// Who is asked, in words.
    pub(crate) fn brokers(&self) -> String {
        self.bootstrap_servers.join(",")
    }

    /// Of a client that asks and makes topics.
    pub(crate) fn asker(&self) -> ClientConfig {
        let mut config = self.common();
        config.set("group.id", &self.group).set("enable.auto.commit", "false");
        config
    }

    /// Of a client that sends: each message once, and never more of them at a time than a limit.
    pub(crate) fn producer(&self) -> ClientConfig {
        let mut config = self.common();
        let own = [
            // As the clients of other languages place keys.
            ("partitioner", "murmur2_random".to_owned()),
            ("linger.ms", "5".to_owned()),
            ("delivery.timeout.ms", millis(DELIVERED_WITHIN)),
            ("queue.buffering.max.messages", QUEUED_MAX.to_string()),
            ("queue.buffering.max.kbytes", QUEUED_KIB_MAX.to_string()),
        ];
        self.unless_given(&mut config, own);
        config.set("enable.idempotence", "true").set("acks", "all");
        config
    }

    /// Of a client that receives, as one of a group.
    pub(crate) fn consumer(&self) -> ClientConfig {
        let mut config = self.common();
        let own = [
            ("auto.offset.reset", "earliest".to_owned()),
            ("partition.assignment.strategy", "cooperative-sticky".to_owned()),
            ("session.timeout.ms", millis(MISSED_AFTER)),
            ("auto.commit.interval.ms", millis(COMMIT_EVERY)),
            ("queued.max.messages.kbytes", FETCHED_KIB_MAX.to_string()),
        ];
        self.unless_given(&mut config, own);
        config
            .set("group.id", &self.group)
            .set("enable.auto.commit", "true")
            .set("enable.auto.offset.store", "false");
        config
    }

    fn common(&self) -> ClientConfig {
        let mut config = ClientConfig::new();
        for (name, value) in &self.properties {
            config.set(name, value);
        }
        config.set("bootstrap.servers", self.brokers());
        let own =
            [("client.id", "braid".to_owned()), ("reconnect.backoff.max.ms", millis(RECONNECTED_WITHIN))];
        self.unless_given(&mut config, own);
        config.set_log_level(RDKafkaLogLevel::Warning);
        config
    }

    fn unless_given<const N: usize>(&self, config: &mut ClientConfig, own: [(&str, String); N]) {
        for (name, value) in own {
            if !self.properties.contains_key(name) {
                config.set(name, value);
            }
        }
    }
}

fn millis(duration: Duration) -> String {
    duration.as_millis().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_replaces_a_default_and_never_what_is_promised() {
        let given = [("linger.ms", "50"), ("acks", "0"), ("session.timeout.ms", "6000"), ("group.id", "x")];
        let properties = given.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let options = Options { properties, ..Options::default() };
        let producer = options.producer();
        assert_eq!((producer.get("linger.ms"), producer.get("acks")), (Some("50"), Some("all")));
        let consumer = options.consumer();
        assert_eq!(consumer.get("session.timeout.ms"), Some("6000"));
        assert_eq!(consumer.get("group.id"), Some("braid-split-workers"));
        assert_eq!(options.dead_letter_topic(), "braid.wide-partition-detections.dead-letter");
    }
}
