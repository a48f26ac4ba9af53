//! Settings: plain data, every one with its default and reason, checked once.

use std::collections::BTreeMap;

use store::{Error, Result};

use crate::{HistogramOptions, Tls};

/// Longest keyspace prefix.
const PREFIX_MAX: usize = 10;

/// A user of the cluster.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The name.
    pub user: String,
    /// The password; never shown.
    pub password: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

/// How to join a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Nodes to begin with, as `host:port`; the others are learnt from them. Default `127.0.0.1:9042`.
    pub contact_points: Vec<String>,
    /// The data centre that this process is in. Default: the only one there is.
    pub local_datacenter: Option<String>,
    /// Keyspaces begin with it, so that several installations share a cluster: `[a-z][a-z0-9]{0,9}`. Default `braid`.
    pub keyspace_prefix: String,
    /// Replicas in each data centre. Default: three in the local one, or as many as it has nodes.
    pub replication: BTreeMap<String, usize>,
    /// Who we are, where the cluster asks. Default: nobody.
    pub credentials: Option<Credentials>,
    /// How connections are encrypted. Default: not at all.
    pub tls: Option<Tls>,
    /// Connections to each node. Default 2: one is decoded on one core.
    pub connections_per_node: usize,
    /// Tables that may exist: each costs every node about a megabyte of heap. Default 500.
    pub tables_max: usize,
    /// Where sizes of partitions are asked for.
    pub histograms: HistogramOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            contact_points: vec!["127.0.0.1:9042".to_owned()],
            local_datacenter: None,
            keyspace_prefix: "braid".to_owned(),
            replication: BTreeMap::new(),
            credentials: None,
            tls: None,
            connections_per_node: 2,
            tables_max: 500,
            histograms: HistogramOptions::default(),
        }
    }
}

impl Options {
    /// Refuses settings that cannot work, before anything is sent.
    pub(crate) fn check(&self) -> Result<()> {
        if self.contact_points.is_empty() {
            return Err(Error::invalid("there is no contact point; name at least one node as host:port"));
        }
        let prefix = &self.keyspace_prefix;
        let starts = prefix.starts_with(|c: char| c.is_ascii_lowercase());
        let legal = prefix.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        // Without underscores no two prefixes can mean the same keyspace.
        if !starts || !legal || prefix.len() > PREFIX_MAX {
            return Err(Error::invalid(format!(
                "keyspace prefix `{prefix}` must be 1 to {PREFIX_MAX} of a-z and 0-9 and start with a letter"
            )));
        }
        for (datacenter, replicas) in &self.replication {
            let legal = |b: u8| b.is_ascii_alphanumeric() || b"_-.".contains(&b);
            if datacenter.is_empty() || !datacenter.bytes().all(legal) || *replicas == 0 {
                return Err(Error::invalid(format!(
                    "replication of {replicas} in data centre `{datacenter}`; name a data centre and at least 1"
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: impl FnOnce(&mut Options), good: bool) {
        let mut options = Options::default();
        change(&mut options);
        assert_eq!(options.check().is_ok(), good, "{options:?}");
    }

    #[test]
    fn what_cannot_work_is_refused() {
        check(|_| {}, true);
        check(|options| options.contact_points.clear(), false);
        for (prefix, good) in [
            ("b", true),
            ("braid2", true),
            ("", false),
            ("2b", false),
            ("a_b", false),
            ("elevenchars", false),
        ] {
            check(|options| options.keyspace_prefix = prefix.to_owned(), good);
        }
        for (datacenter, replicas, good) in
            [("dc1", 3, true), ("eu-west", 1, true), ("dc1", 0, false), ("", 1, false), ("a'b", 1, false)]
        {
            check(|options| options.replication = [(datacenter.to_owned(), replicas)].into(), good);
        }
    }

    #[test]
    fn a_password_is_not_shown() {
        let credentials = Credentials { user: "braid".to_owned(), password: "secret".to_owned() };
        let shown = format!("{credentials:?}");
        assert!(shown.contains("braid") && !shown.contains("secret"), "{shown}");
    }
}
