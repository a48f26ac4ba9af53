//! How detections get from those who read to those who split, as plain data with its defaults.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::settings::{Backend, Config};

/// How detections travel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Which queue. Default embedded: whoever reads makes the candidate.
    pub backend: QueueBackend,
    /// Settings of Kafka.
    pub kafka: Kafka,
}

/// Which queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueBackend {
    /// The store itself.
    #[default]
    Embedded,
    /// A topic of Apache Kafka.
    Kafka,
}

/// Where Kafka is, and what is where in it. The defaults are those of the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kafka {
    /// Brokers as host:port. Default 127.0.0.1:9092.
    pub bootstrap_servers: Vec<String>,
    /// The topic of detections. Default `braid.wide-partition-detections`.
    pub topic: String,
    /// The consumer group of the workers. Default `braid-split-workers`.
    pub group: String,
    /// The file with the password of SASL; none if empty.
    pub password_file: PathBuf,
    /// Properties of librdkafka. Default none.
    pub properties: BTreeMap<String, String>,
}

impl QueueBackend {
    /// Every queue that is built in.
    pub const ALL: [Self; 2] = [Self::Embedded, Self::Kafka];

    /// Its name in the settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Kafka => "kafka",
        }
    }
}

impl Default for Kafka {
    fn default() -> Self {
        let queue_kafka::Options { bootstrap_servers, topic, group, properties } =
            queue_kafka::Options::default();
        Self { bootstrap_servers, topic, group, password_file: PathBuf::new(), properties }
    }
}

impl Config {
    /// The options of Kafka, without the password: that is in a file which was not read.
    pub fn kafka_options(&self) -> queue_kafka::Options {
        let Kafka { bootstrap_servers, topic, group, properties, .. } = self.queue.kafka.clone();
        queue_kafka::Options { bootstrap_servers, topic, group, properties }
    }

    /// What settings of the queue and of roles say against each other: the key to correct, and what to give.
    pub(super) fn queue_contradictions(&self) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        let properties = &self.queue.kafka.properties;
        for (name, instead) in queue_kafka::RESERVED {
            if properties.contains_key(name) {
                found.push(("queue.kafka.properties", format!("take {name} out of it: {instead}")));
            }
        }
        let has_file = !self.queue.kafka.password_file.as_os_str().is_empty();
        if has_file && properties.contains_key("sasl.password") {
            let advice = "the password is also in queue.kafka.password_file; give it once, best in the file";
            found.push(("queue.kafka.properties", advice.to_owned()));
        }
        let own_store = self.store.backend == Backend::Embedded;
        if own_store && self.server.roles.len() < super::Role::ALL.len() {
            let advice = "the embedded store belongs to one process, which has to do everything; leave the roles out, or use \
                          store.backend = \"cassandra\"";
            found.push(("server.roles", advice.to_owned()));
        }
        if self.server.roles.contains(&super::Role::SplitWorker)
            && self.limits.splits == 0
            && !self.server.roles.contains(&super::Role::Api)
        {
            let advice = "a server that only splits has to be allowed to; give limits.splits 1 or more";
            found.push(("limits.splits", advice.to_owned()));
        }
        found
    }
}
