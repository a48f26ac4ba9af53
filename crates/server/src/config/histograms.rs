//! Where sizes of partitions are asked for in a cluster, as plain data with its defaults.

use std::path::PathBuf;

use store_cassandra::{HistogramOptions, SourceChoice};

use super::settings::Config;

/// Where the store on Cassandra asks for the sizes of partitions. The defaults are those of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histograms {
    /// Which source. Default auto: Jolokia, else nodetool, else CQL.
    pub source: SourceChoice,
    /// The port of the Jolokia agent of every node. Default 8778.
    pub jolokia_port: usize,
    /// Cassandra's tool, a path or a name in `PATH`. Default `nodetool`.
    pub nodetool: PathBuf,
    /// The JMX port of every node, for the tool. Default 7199.
    pub jmx_port: usize,
}

impl Default for Histograms {
    fn default() -> Self {
        let HistogramOptions { source, jolokia_port, nodetool, jmx_port } = HistogramOptions::default();
        Self { source, jolokia_port: usize::from(jolokia_port), nodetool, jmx_port: usize::from(jmx_port) }
    }
}

impl Config {
    /// The options of the store for histograms.
    pub(super) fn histogram_options(&self) -> HistogramOptions {
        let Histograms { source, jolokia_port, nodetool, jmx_port } = self.histograms.clone();
        // The table of keys has refused what is no port.
        let port = |number| u16::try_from(number).unwrap_or(u16::MAX);
        HistogramOptions { source, jolokia_port: port(jolokia_port), nodetool, jmx_port: port(jmx_port) }
    }
}
