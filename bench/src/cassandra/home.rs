//! Keyspaces that one run has for itself, and servers on them.
//!
//! The server makes every table, also those that the raw driver writes: so both sides have the same schema, whatever it
//! is, and nothing of it is repeated here.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use env::{Random, SystemRandom};
use store_cassandra::Options;
use tempfile::TempDir;
use tokio::runtime::Builder;

use super::node;
use crate::harness::Setting;
use crate::remote::{Remote, Threads};
use crate::{remote, wire, workload};

/// Keyspaces of all runs begin with it; five random digits tell them apart.
const PREFIX: &str = "bench";
const DIGITS_BOUND: u64 = 0x10_0000;
/// Its one event has the table made. No question reads it.
const FIRST_SERIES: u64 = 999_999_998;

/// What runs the node's own tool.
const DEV_CASSANDRA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dev/cassandra");

/// A prefix of keyspaces that nobody else has.
pub(crate) struct Home {
    prefix: String,
    /// Where a server works; it keeps nothing there.
    directory: TempDir,
}

impl Home {
    /// Does `work` under a prefix of its own, and drops everything with that prefix whatever came of it.
    pub(crate) fn with<T>(setting: &Setting, work: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        let prefix = format!("{PREFIX}{:05x}", SystemRandom.below(DIGITS_BOUND));
        let home = Self { prefix, directory: setting.directory()? };
        let done = work(&home);
        let dropped = home.drop_keyspaces();
        let done = done?;
        dropped.with_context(|| format!("cannot drop the keyspaces {}_*; drop them by hand", home.prefix))?;
        Ok(done)
    }

    /// Starts a server.
    pub(crate) fn serve(&self, threads: Threads) -> Result<Remote> {
        let settings = [
            ("BRAID__STORE__BACKEND", "cassandra".to_owned()),
            ("BRAID__STORE__CASSANDRA__CONTACT_POINTS", node::address().to_string()),
            ("BRAID__STORE__CASSANDRA__KEYSPACE_PREFIX", self.prefix.clone()),
        ];
        Remote::serve_with(self.directory.path(), &settings, threads)
    }

    /// Has the server make the namespace and the table of its slice; returns the table as a statement names it.
    pub(crate) fn create_table(&self, remote: &Remote) -> Result<String> {
        let table = wire::table(remote.create_namespace()?)?;
        let (client, series) = (remote.client()?, workload::series(FIRST_SERIES)?);
        remote.run(remote::write(&client, &series, 0, 1)).context("the first write")?;
        let keyspace = format!("{}_{}_{}", self.prefix, table.namespace.as_str(), table.incarnation);
        Ok(format!("\"{keyspace}\".\"{}\"", table.name.as_str()))
    }

    /// How a store in this process has them.
    pub(crate) fn options(&self) -> Options {
        Options {
            contact_points: vec![node::address().to_string()],
            keyspace_prefix: self.prefix.clone(),
            ..Options::default()
        }
    }

    /// Has the node write down and compact all tables of these namespaces, each of which was made once.
    pub(crate) fn compact(&self, namespaces: &[&str]) -> Result<()> {
        for namespace in namespaces {
            let keyspace = format!("{}_{namespace}_1", self.prefix);
            for verb in ["flush", "compact"] {
                let ran = Command::new(DEV_CASSANDRA).args(["nodetool", verb, &keyspace]).output();
                let ran = ran.with_context(|| format!("cannot run {DEV_CASSANDRA}"))?;
                let said = String::from_utf8_lossy(&ran.stderr);
                ensure!(ran.status.success(), "nodetool {verb} {keyspace} failed: {}", said.trim());
            }
        }
        Ok(())
    }

    fn drop_keyspaces(&self) -> Result<()> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(runtime.block_on(store_cassandra::drop_keyspaces(&self.options()))?)
    }
}
