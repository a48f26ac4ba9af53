//! Settings: which sources are asked, and where.

use std::path::PathBuf;

/// Which source of partition sizes is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SourceChoice {
    /// Jolokia, else nodetool, else CQL.
    #[default]
    Auto,
    /// Only the Jolokia agents of the nodes.
    Jolokia,
    /// Only Cassandra's own tool.
    Nodetool,
    /// Only what can be read by CQL.
    Cql,
}

impl SourceChoice {
    /// Every choice.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Jolokia, Self::Nodetool, Self::Cql];

    /// Its name in the settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Jolokia => "jolokia",
            Self::Nodetool => "nodetool",
            Self::Cql => "cql",
        }
    }
}

/// Where sizes of partitions are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramOptions {
    /// Which source. Default [`SourceChoice::Auto`].
    pub source: SourceChoice,
    /// The port of the Jolokia agent, at the address where the node serves CQL. Default 8778, the agent's own.
    pub jolokia_port: u16,
    /// Cassandra's tool: a path, or a name that is looked for in `PATH`. Default `nodetool`.
    pub nodetool: PathBuf,
    /// The port of JMX that the tool is told, with the address where the node serves CQL. Default 7199, Cassandra's own.
    pub jmx_port: u16,
}

impl Default for HistogramOptions {
    fn default() -> Self {
        Self {
            source: SourceChoice::default(),
            jolokia_port: 8778,
            nodetool: PathBuf::from("nodetool"),
            jmx_port: 7199,
        }
    }
}
