//! Keyspaces that one run has for itself, and servers on them.
//!
//! The server makes every table, also those that the raw driver writes: so both sides have the same schema, whatever it
//! is, and nothing of it is repeated here.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use env::{Random, SystemRandom};
use model::TableName;
use store_cassandra::Options;
use tempfile::TempDir;
use tokio::runtime::Builder;

use super::{Driver, node};
use crate::braid::Variable;
use crate::harness::{Process, Setting};
use crate::remote::{Remote, Threads};
use crate::{remote, wire, workload};

/// Keyspaces of all runs begin with it; five random digits tell them apart.
const PREFIX: &str = "bench";
const DIGITS_BOUND: u64 = 0x10_0000;
/// Its one event has the table made. No question reads it.
const FIRST_SERIES: u64 = 999_999_998;

/// Another cluster than the one of this run, in which everything is kept once.
#[derive(Clone, Debug)]
pub(crate) struct Elsewhere {
    /// Its first node.
    pub(crate) node: SocketAddr,
    /// Its directory.
    pub(crate) directory: PathBuf,
    /// How many nodes it has.
    pub(crate) nodes: usize,
}

/// The only data centre of `dev/cassandra`.
const DATACENTER: &str = "datacenter1";

/// A prefix of keyspaces that nobody else has.
pub(crate) struct Home {
    prefix: String,
    /// Where a server works; it keeps nothing there.
    directory: TempDir,
    /// Where that is not the cluster of this run.
    elsewhere: Option<Elsewhere>,
}

impl Home {
    /// Does `work` under a prefix of its own, and drops everything with that prefix whatever came of it.
    pub(crate) fn with<T>(setting: &Setting, work: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        Self::with_in(setting, None, work)
    }

    /// The same in another cluster.
    pub(crate) fn with_in<T>(
        setting: &Setting,
        elsewhere: Option<Elsewhere>,
        work: impl FnOnce(&Self) -> Result<T>,
    ) -> Result<T> {
        let prefix = format!("{PREFIX}{:05x}", SystemRandom.below(DIGITS_BOUND));
        let home = Self { prefix, directory: setting.directory()?, elsewhere };
        let done = work(&home);
        let dropped = home.drop_keyspaces();
        let done = done?;
        dropped.with_context(|| format!("cannot drop the keyspaces {}_*; drop them by hand", home.prefix))?;
        Ok(done)
    }

    /// Starts a server.
    pub(crate) fn serve(&self, threads: Threads) -> Result<Remote> {
        self.serve_with(&[], threads)
    }

    /// Starts a server with settings of its own.
    pub(crate) fn serve_with(&self, settings: &[Variable], threads: Threads) -> Result<Remote> {
        let mut all = vec![
            ("BRAID__STORE__BACKEND", "cassandra".to_owned()),
            ("BRAID__STORE__CASSANDRA__CONTACT_POINTS", self.node().to_string()),
            ("BRAID__STORE__CASSANDRA__KEYSPACE_PREFIX", self.prefix.clone()),
        ];
        if self.elsewhere.is_some() {
            all.push(("BRAID__STORE__CASSANDRA__REPLICATION", format!("{DATACENTER}=1")));
        }
        all.extend_from_slice(settings);
        Remote::serve_with(self.directory.path(), &all, threads)
    }

    /// The driver, with the statements for a table.
    pub(crate) async fn driver(&self, table: &str) -> Result<Driver> {
        Driver::connect_to(self.node(), table).await
    }

    /// Has the server make the namespace and the table of its slice; returns the table as a statement names it.
    pub(crate) fn create_table(&self, remote: &Remote) -> Result<String> {
        let table = wire::table(remote.create_namespace()?)?;
        let (client, series) = (remote.client()?, workload::series(FIRST_SERIES)?);
        remote.run(remote::write(&client, &series, 0, 1)).context("the first write")?;
        Ok(self.table(table.namespace.as_str(), &table.name))
    }

    /// How a store in this process has them.
    pub(crate) fn options(&self) -> Options {
        Options {
            contact_points: vec![self.node().to_string()],
            keyspace_prefix: self.prefix.clone(),
            replication: self.elsewhere.iter().map(|_| (DATACENTER.to_owned(), 1)).collect(),
            ..Options::default()
        }
    }

    /// Has the node write down and compact all tables of these namespaces, each of which was made once.
    pub(crate) fn compact(&self, namespaces: &[&str]) -> Result<()> {
        for namespace in namespaces {
            for verb in ["flush", "compact"] {
                for node in 1..=self.elsewhere.as_ref().map_or(1, |elsewhere| elsewhere.nodes) {
                    self.nodetool(&["--node", &node.to_string(), verb, &self.keyspace(namespace)])?;
                }
            }
        }
        Ok(())
    }

    /// Bytes that a table of a namespace takes on the node's disk.
    pub(crate) fn disk_bytes(&self, namespace: &str, table: &TableName) -> Result<u64> {
        let table = format!("{}.{}", self.keyspace(namespace), table.as_str());
        let said = self.nodetool(&["tablestats", &table])?;
        live_bytes(&said).with_context(|| format!("nodetool tablestats says no size of {table}"))
    }

    /// The processes of the nodes.
    pub(crate) fn processes(&self) -> Result<Vec<Process>> {
        Ok(node::processes(&node::dev_cassandra(self.cluster(), "status", &[])?))
    }

    /// A table of a namespace, as a statement names it.
    pub(crate) fn table(&self, namespace: &str, table: &TableName) -> String {
        format!("\"{}\".\"{}\"", self.keyspace(namespace), table.as_str())
    }

    fn keyspace(&self, namespace: &str) -> String {
        format!("{}_{namespace}_1", self.prefix)
    }

    fn nodetool(&self, arguments: &[&str]) -> Result<String> {
        node::dev_cassandra(self.cluster(), "nodetool", arguments)
    }

    fn cluster(&self) -> Option<&Path> {
        self.elsewhere.as_ref().map(|elsewhere| elsewhere.directory.as_path())
    }

    fn node(&self) -> SocketAddr {
        self.elsewhere.as_ref().map_or_else(node::address, |elsewhere| elsewhere.node)
    }

    fn drop_keyspaces(&self) -> Result<()> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(runtime.block_on(store_cassandra::drop_keyspaces(&self.options()))?)
    }
}

/// What `nodetool tablestats` says of one table.
fn live_bytes(said: &str) -> Option<u64> {
    said.lines().find_map(|line| line.trim().strip_prefix("Space used (live): "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_table_is_found() {
        let said = "Keyspace : bench\n\t\tTable: data\n\t\tSSTable count: 1\n\t\tSpace used (live): 12345\n\t\tSpace used (total): 99\n";
        assert_eq!(live_bytes(said), Some(12_345));
        assert_eq!(live_bytes(""), None);
    }
}
