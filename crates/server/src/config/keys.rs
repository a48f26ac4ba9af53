//! The one table of keys: its order is the order of `config show` and of the documentation.
//!
//! A key says where its value lives in [`Config`] and what may stand there; reading, refusing and showing follow from
//! that (`value`). Bounds are here with their reason. Adding a setting means a field with a default in `settings` and a
//! line here; the test of the documentation then asks for the rest.

use std::time::Duration;

use super::forms::{DATACENTER, GROUP, PREFIX as KEYSPACE_PREFIX, TOPIC, USER};
use super::given::{Flag, Flags};
use super::settings::Config;
use super::value::{Place, Value};

const MIB: u64 = 1 << 20;

/// Most bytes that any one setting may ask for; more is a slip of the unit.
const BYTES_MAX: u64 = 1 << 40;
/// A cache that holds less than a few blocks per reader only costs.
const CACHE_BYTES_MIN: u64 = 8 * MIB;
/// One table's memtable grows to this before it is flushed; a smaller budget would flush after every write.
pub(super) const MEMTABLE_BUDGET_BYTES_MIN: u64 = 16 * MIB;
/// The engine refuses less: it is the size of one journal file.
const JOURNAL_BYTES_MIN: u64 = 64 * MIB;
const WORKERS_MAX: usize = 64;
/// Each is decoded on one core, and a node has its own limit on them.
const NODE_CONNECTIONS_MAX: usize = 64;
/// Ports of TCP.
const PORT_MAX: usize = 65_535;
/// Each table costs file handles and memory.
const TABLES_MAX: usize = 20_000;
/// Beyond what the file handles of one process usually allow.
const UNDER_WAY_MAX: usize = 65_536;
/// Splits at a time.
const SPLITS_MAX: usize = 64;
/// Slower than this a split would never end.
const SPLIT_BYTES_MIN: u64 = 64 << 10;
/// A supervisor has killed the process long before.
const GRACE_MAX: Duration = Duration::from_secs(3_600);

/// One setting.
pub(super) struct Key {
    /// Full name, with dots: the section, then the key.
    pub(super) name: &'static str,
    /// What it does, in one sentence.
    pub(super) help: &'static str,
    /// The flag of `braid serve` that sets it too.
    pub(super) flag: Option<Flag>,
    place: for<'c> fn(&'c mut Config) -> Place<'c>,
}

/// Every setting.
pub(super) static KEYS: [Key; 43] = [
    Key {
        name: "server.listen",
        help: "Address and port that serve gRPC, JSON, metrics and the console; port 0 takes any free one.",
        flag: Some(Flag { name: "--listen", value: |Flags { listen, .. }| listen.clone().map(Value::Word) }),
        place: |config| Place::Address(&mut config.server.listen),
    },
    Key {
        name: "server.roles",
        help: "What this server does: api answers calls, split_worker splits wide partitions, slice_keeper makes and drops slices, tuner proposes how future ones are cut.",
        flag: None,
        place: |config| Place::Roles(&mut config.server.roles),
    },
    Key {
        name: "server.reflection",
        help: "Whether gRPC clients may ask which services there are.",
        flag: None,
        place: |config| Place::Switch(&mut config.server.reflection),
    },
    Key {
        name: "server.shutdown_grace",
        help: "How long requests under way may take after a stop signal; then they are cut off.",
        flag: None,
        place: |config| Place::Time(&mut config.server.shutdown_grace, Duration::ZERO..=GRACE_MAX),
    },
    Key {
        name: "store.backend",
        help: "Which store keeps the events.",
        flag: None,
        place: |config| Place::Backend(&mut config.store.backend),
    },
    Key {
        name: "store.data",
        help: "Data directory of the embedded store; a relative path starts at the working directory of the server.",
        flag: Some(Flag { name: "--data", value: |Flags { data, .. }| data.clone().map(Value::Path) }),
        place: |config| Place::Path(&mut config.store.data),
    },
    Key {
        name: "store.max_tables",
        help: "Tables that may exist; every slice of a namespace is one. 0 means the store's own limit: 2,000 embedded, 500 in Cassandra.",
        flag: None,
        place: |config| Place::Count(&mut config.store.max_tables, 0..=TABLES_MAX),
    },
    Key {
        name: "store.embedded.cache_bytes",
        help: "Cache of blocks read from disk.",
        flag: None,
        place: |config| Place::Size(&mut config.store.embedded.cache_bytes, CACHE_BYTES_MIN..=BYTES_MAX),
    },
    Key {
        name: "store.embedded.memtable_budget_bytes",
        help: "Memory for writes that are not in table files yet; as much again while they are being flushed.",
        flag: None,
        place: |config| {
            let budget = &mut config.store.embedded.memtable_budget_bytes;
            Place::Size(budget, MEMTABLE_BUDGET_BYTES_MIN..=BYTES_MAX)
        },
    },
    Key {
        name: "store.embedded.journal_bytes",
        help: "Disk for the journal; more of it means a longer start after a crash.",
        flag: None,
        place: |config| Place::Size(&mut config.store.embedded.journal_bytes, JOURNAL_BYTES_MIN..=BYTES_MAX),
    },
    Key {
        name: "store.embedded.workers",
        help: "Threads that flush and compact.",
        flag: None,
        place: |config| Place::Count(&mut config.store.embedded.workers, 1..=WORKERS_MAX),
    },
    Key {
        name: "store.cassandra.contact_points",
        help: "Nodes to begin with; the others are learnt from them. Separated by commas in a variable.",
        flag: None,
        place: |config| Place::Nodes(&mut config.store.cassandra.contact_points),
    },
    Key {
        name: "store.cassandra.local_datacenter",
        help: "The data centre that this server is in; the others are not asked.",
        flag: None,
        place: |config| Place::Text(&mut config.store.cassandra.local_datacenter, DATACENTER),
    },
    Key {
        name: "store.cassandra.keyspace_prefix",
        help: "What the names of keyspaces begin with; several installations share a cluster by it.",
        flag: None,
        place: |config| Place::Text(&mut config.store.cassandra.keyspace_prefix, KEYSPACE_PREFIX),
    },
    Key {
        name: "store.cassandra.replication",
        help: "Replicas of what is made, by data centre; empty means 3 in the local one, or as many as it has nodes. `dc1=3,dc2=2` in a variable.",
        flag: None,
        place: |config| Place::Replicas(&mut config.store.cassandra.replication),
    },
    Key {
        name: "store.cassandra.user",
        help: "Who the server is to the cluster.",
        flag: None,
        place: |config| Place::Text(&mut config.store.cassandra.user, USER),
    },
    Key {
        name: "store.cassandra.password_file",
        help: "The file that holds the password of the user, and nothing else; read at start.",
        flag: None,
        place: |config| Place::File(&mut config.store.cassandra.password_file),
    },
    Key {
        name: "store.cassandra.connections_per_node",
        help: "Connections to each node.",
        flag: None,
        place: |config| {
            Place::Count(&mut config.store.cassandra.connections_per_node, 1..=NODE_CONNECTIONS_MAX)
        },
    },
    Key {
        name: "store.cassandra.tls.enabled",
        help: "Whether connections to the cluster are encrypted.",
        flag: None,
        place: |config| Place::Switch(&mut config.store.cassandra.tls.enabled),
    },
    Key {
        name: "store.cassandra.tls.ca_file",
        help: "PEM certificates of the authorities that sign those of nodes; no others are trusted. Read at start, as the next two.",
        flag: None,
        place: |config| Place::File(&mut config.store.cassandra.tls.ca_file),
    },
    Key {
        name: "store.cassandra.tls.cert_file",
        help: "PEM certificate of this server, where nodes ask for one.",
        flag: None,
        place: |config| Place::File(&mut config.store.cassandra.tls.cert_file),
    },
    Key {
        name: "store.cassandra.tls.key_file",
        help: "PEM key of that certificate, without a password.",
        flag: None,
        place: |config| Place::File(&mut config.store.cassandra.tls.key_file),
    },
    Key {
        name: "store.cassandra.tls.verify_hostname",
        help: "Whether the certificate of a node has to be for its IP address.",
        flag: None,
        place: |config| Place::Switch(&mut config.store.cassandra.tls.verify_hostname),
    },
    Key {
        name: "queue.backend",
        help: "How split workers hear of wide partitions: through the store itself, or through Kafka.",
        flag: None,
        place: |config| Place::Queue(&mut config.queue.backend),
    },
    Key {
        name: "queue.kafka.bootstrap_servers",
        help: "Brokers to begin with; the others are learnt from them. Separated by commas in a variable.",
        flag: None,
        place: |config| Place::Nodes(&mut config.queue.kafka.bootstrap_servers),
    },
    Key {
        name: "queue.kafka.topic",
        help: "The topic of detections; dead letters go to the one that ends in .dead-letter. Both are made if they are missing.",
        flag: None,
        place: |config| Place::Text(&mut config.queue.kafka.topic, TOPIC),
    },
    Key {
        name: "queue.kafka.group",
        help: "The consumer group of all split workers.",
        flag: None,
        place: |config| Place::Text(&mut config.queue.kafka.group, GROUP),
    },
    Key {
        name: "queue.kafka.password_file",
        help: "The file that holds the password for SASL (sasl.password), and nothing else; read at start.",
        flag: None,
        place: |config| Place::File(&mut config.queue.kafka.password_file),
    },
    Key {
        name: "queue.kafka.properties",
        help: "Properties of librdkafka, passed through, as security.protocol or sasl.mechanisms. `linger.ms=5,client.id=b` in a variable.",
        flag: None,
        place: |config| Place::Properties(&mut config.queue.kafka.properties),
    },
    Key {
        name: "histograms.source",
        help: "Who in a Cassandra cluster is asked for the sizes of partitions; auto tries the others in this order.",
        flag: None,
        place: |config| Place::Source(&mut config.histograms.source),
    },
    Key {
        name: "histograms.jolokia_port",
        help: "The port of the Jolokia agent, at the address where a node serves CQL; every node is asked.",
        flag: None,
        place: |config| Place::Count(&mut config.histograms.jolokia_port, 1..=PORT_MAX),
    },
    Key {
        name: "histograms.nodetool",
        help: "Cassandra's nodetool: a path, or a name that is looked for in PATH.",
        flag: None,
        place: |config| Place::Path(&mut config.histograms.nodetool),
    },
    Key {
        name: "histograms.jmx_port",
        help: "The JMX port that nodetool is told, at the address where a node serves CQL.",
        flag: None,
        place: |config| Place::Count(&mut config.histograms.jmx_port, 1..=PORT_MAX),
    },
    Key {
        name: "limits.connections",
        help: "Connections that may be open.",
        flag: None,
        place: |config| Place::Count(&mut config.limits.connections, 1..=UNDER_WAY_MAX),
    },
    Key {
        name: "limits.requests",
        help: "Unary calls that may be under way.",
        flag: None,
        place: |config| Place::Count(&mut config.limits.requests, 1..=UNDER_WAY_MAX),
    },
    Key {
        name: "limits.streams",
        help: "Streams that may be under way.",
        flag: None,
        place: |config| Place::Count(&mut config.limits.streams, 1..=UNDER_WAY_MAX),
    },
    Key {
        name: "limits.reads",
        help: "Reads of one namespace that run at a time; further ones wait.",
        flag: None,
        place: |config| Place::Count(&mut config.limits.reads, 1..=UNDER_WAY_MAX),
    },
    Key {
        name: "limits.reads_waiting",
        help: "Reads of one namespace that may wait; further ones are refused at once with RATE_LIMITED.",
        flag: None,
        place: |config| Place::Count(&mut config.limits.reads_waiting, 0..=UNDER_WAY_MAX),
    },
    Key {
        name: "limits.wide_scans",
        help: "Scans of over 512 rows that the store runs at a time; 0 means one per processor core, or 64 with Cassandra. Small scans have four times as many lanes of their own.",
        flag: None,
        place: |config| Place::Count(&mut config.limits.wide_scans, 0..=UNDER_WAY_MAX),
    },
    Key {
        name: "limits.splits",
        help: "Wide partitions that this server splits at a time; 0 leaves them to other servers.",
        flag: None,
        place: |config| Place::Count(&mut config.limits.splits, 0..=SPLITS_MAX),
    },
    Key {
        name: "limits.split_bytes_per_second",
        help: "Bytes that all splits of this server may copy in a second; reading counts a quarter.",
        flag: None,
        place: |config| Place::Size(&mut config.limits.split_bytes_per_second, SPLIT_BYTES_MIN..=BYTES_MAX),
    },
    Key {
        name: "log.level",
        help: "The least important level that is logged.",
        flag: None,
        place: |config| Place::Level(&mut config.log.level),
    },
    Key {
        name: "log.format",
        help: "Lines for people, or one JSON object a line.",
        flag: None,
        place: |config| Place::Format(&mut config.log.format),
    },
];

impl Key {
    /// The section, with dots.
    pub(super) fn section(&self) -> &'static str {
        self.name.rsplit_once('.').map_or("", |(section, _)| section)
    }

    /// The name inside its section.
    pub(super) fn leaf(&self) -> &'static str {
        self.name.rsplit_once('.').map_or(self.name, |(_, leaf)| leaf)
    }

    /// The variable that sets it.
    pub(super) fn variable(&self) -> String {
        variable(self.name)
    }

    /// Puts `value` into `config`, or says what to give instead.
    pub(super) fn set(&self, config: &mut Config, value: &Value) -> Result<(), String> {
        (self.place)(config).set(value)
    }

    /// What was given for it, as a message repeats it.
    pub(super) fn repeated(&self, value: &Value) -> String {
        (self.place)(&mut Config::default()).repeated(value)
    }

    /// Its value in `config`, as TOML writes it.
    pub(super) fn show(&self, config: &Config) -> String {
        // Some small fields: a copy is cheaper than a second set of accessors.
        (self.place)(&mut config.clone()).show()
    }

    /// What may be given, in words.
    #[cfg(test)]
    pub(super) fn allowed(&self) -> String {
        (self.place)(&mut Config::default()).allowed()
    }
}

/// What all variables that set something begin with.
pub(super) const PREFIX: &str = "BRAID__";

/// The variable of a name with dots.
pub(super) fn variable(name: &str) -> String {
    format!("{PREFIX}{}", name.replace('.', "__").to_ascii_uppercase())
}

/// The sections that have keys, in the order of the table.
pub(super) fn sections() -> Vec<&'static str> {
    let mut sections: Vec<_> = KEYS.iter().map(Key::section).collect();
    sections.dedup();
    sections
}

/// The keys of `section`, without those of the sections inside it.
pub(super) fn keys_of(section: &str) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.section() == section)
}
