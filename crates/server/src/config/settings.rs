//! What can be set, as plain data with its defaults. No parsing and no names of keys: those are in `keys`.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use super::cassandra::Cassandra;
use super::histograms::Histograms;
use super::queue::Queue;

/// Every setting of a server, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The port and how it is served.
    pub server: Server,
    /// Where events are kept.
    pub store: Store,
    /// How detections travel.
    pub queue: Queue,
    /// Where sizes of partitions are asked for.
    pub histograms: Histograms,
    /// How much may be under way at once.
    pub limits: Limits,
    /// What is logged.
    pub log: Log,
}

/// The port and how it is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Where gRPC, JSON, metrics and the console are served; port 0 takes any free one. Default 127.0.0.1:7420.
    pub listen: SocketAddr,
    /// What this server does. Default everything.
    pub roles: BTreeSet<Role>,
    /// Whether gRPC clients may ask for the descriptors. Default true.
    pub reflection: bool,
    /// How long requests under way may take after a stop signal. Default 10 s.
    pub shutdown_grace: Duration,
}

/// Something that a server does. What all do is not here: each keeps its view of the others fresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Answers calls, and tells of wide partitions.
    Api,
    /// Splits them.
    SplitWorker,
    /// Makes slices ahead, closes and drops them.
    SliceKeeper,
    /// Looks at closed slices, and proposes how future ones should be cut.
    Tuner,
}

/// Where events are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// Which store. Default embedded.
    pub backend: Backend,
    /// Data directory; a relative one starts at the working directory. Default `braid-data`.
    pub data: PathBuf,
    /// Tables that may exist; 0 means as many as suit the store: 2,000 embedded, 500 in Cassandra. Default 0.
    pub max_tables: usize,
    /// Settings of the embedded store.
    pub embedded: Embedded,
    /// Settings of the store on Cassandra.
    pub cassandra: Cassandra,
}

/// How the embedded store uses memory and disk. The defaults are those of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedded {
    /// Cache of blocks read from disk. Default 256 MiB.
    pub cache_bytes: u64,
    /// All active memtables together. Default 128 MiB.
    pub memtable_budget_bytes: u64,
    /// Journal files together. Default 128 MiB.
    pub journal_bytes: u64,
    /// Threads that flush and compact. Default 2.
    pub workers: usize,
}

/// How much may be under way at once; what is over a limit is refused or waits outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open connections. Default 1,024.
    pub connections: usize,
    /// Unary calls under way. Default 256.
    pub requests: usize,
    /// Streams under way. Default 64.
    pub streams: usize,
    /// Reads of one namespace that run at a time. Default 64.
    pub reads: usize,
    /// Reads of one namespace that wait for those. Default 256.
    pub reads_waiting: usize,
    /// Wide scans of the store that run at a time; 0 means as many as there are processor cores, and 64 where the
    /// store is elsewhere. Default 0.
    pub wide_scans: usize,
    /// Splits that this server works on at a time; 0 leaves them to others. Default 2.
    pub splits: usize,
    /// Bytes that all splits of this server may copy in a second; reading counts a quarter. Default 64 MiB.
    pub split_bytes_per_second: u64,
}

/// What is logged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The least important level that is logged. Default info.
    pub level: Level,
    /// How a line looks. Default text.
    pub format: LogFormat,
}

/// Which store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// A log-structured merge tree inside the process.
    #[default]
    Embedded,
    /// An Apache Cassandra cluster.
    Cassandra,
}

/// How important a line of the log is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something failed and needs somebody.
    Error,
    /// Something is odd and may need somebody.
    Warn,
    /// What an operator wants to know afterwards.
    #[default]
    Info,
    /// What a developer wants to know.
    Debug,
    /// Every step.
    Trace,
}

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line, for programs.
    Json,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            // Without a login, only this machine may reach it until an operator says otherwise.
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 7420)),
            roles: Role::ALL.into(),
            reflection: true,
            shutdown_grace: Duration::from_secs(10),
        }
    }
}

impl Default for Store {
    fn default() -> Self {
        Self {
            backend: Backend::default(),
            data: PathBuf::from("braid-data"),
            max_tables: 0,
            embedded: Embedded::default(),
            cassandra: Cassandra::default(),
        }
    }
}

impl Default for Embedded {
    fn default() -> Self {
        let store_embedded::Options { cache_bytes, memtable_budget_bytes, journal_bytes, workers, .. } =
            store_embedded::Options::default();
        Self { cache_bytes, memtable_budget_bytes, journal_bytes, workers }
    }
}

impl Default for Limits {
    fn default() -> Self {
        let engine::ReadLimits { running, waiting } = engine::ReadLimits::default();
        Self {
            connections: 1_024,
            requests: 256,
            streams: 64,
            reads: running,
            reads_waiting: waiting,
            wide_scans: 0,
            splits: 2,
            split_bytes_per_second: 64 << 20,
        }
    }
}

impl Config {
    /// The options of the embedded store. What cannot be set keeps the store's own default.
    pub fn embedded_options(&self) -> store_embedded::Options {
        let Embedded { cache_bytes, memtable_budget_bytes, journal_bytes, workers } = self.store.embedded;
        let (own, tables) = (store_embedded::Options::default(), self.store.max_tables);
        store_embedded::Options {
            cache_bytes,
            memtable_budget_bytes,
            journal_bytes,
            workers,
            tables_max: if tables == 0 { own.tables_max } else { tables },
            ..own
        }
    }
}

impl Store {
    /// Where the events are, in words.
    pub fn place(&self) -> String {
        match self.backend {
            Backend::Embedded => self.data.display().to_string(),
            Backend::Cassandra => {
                let Cassandra { contact_points, keyspace_prefix, .. } = &self.cassandra;
                format!("Cassandra at {}, keyspaces {keyspace_prefix}_*", contact_points.join(", "))
            }
        }
    }
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 4] = [Self::Api, Self::SplitWorker, Self::SliceKeeper, Self::Tuner];

    /// Its name in the settings and in lists.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::SplitWorker => "split_worker",
            Self::SliceKeeper => "slice_keeper",
            Self::Tuner => "tuner",
        }
    }
}

impl Config {
    /// What this server does, by name. Whoever may split nothing is no worker.
    pub fn roles(&self) -> Vec<String> {
        let does = |role: &&Role| **role != Role::SplitWorker || self.limits.splits > 0;
        self.server.roles.iter().filter(does).map(|role| role.as_str().to_owned()).collect()
    }

    /// Whether it does this.
    pub fn has(&self, role: Role) -> bool {
        self.server.roles.contains(&role)
    }
}

impl Backend {
    /// Every store that is built in.
    pub const ALL: [Self; 2] = [Self::Embedded, Self::Cassandra];

    /// Its name in the settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Cassandra => "cassandra",
        }
    }

    /// Whether it runs in other processes, which may be away when this one starts.
    pub const fn is_elsewhere(self) -> bool {
        matches!(self, Self::Cassandra)
    }
}

impl Level {
    /// Every level, the most important first.
    pub const ALL: [Self; 5] = [Self::Error, Self::Warn, Self::Info, Self::Debug, Self::Trace];

    /// Its name in the settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

impl LogFormat {
    /// Every format.
    pub const ALL: [Self; 2] = [Self::Text, Self::Json];

    /// Its name in the settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}
