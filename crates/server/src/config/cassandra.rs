//! How to join a cluster, as plain data with its defaults. No parsing and no names of keys.

use std::collections::BTreeMap;
use std::path::PathBuf;

use store_cassandra::Options;

use super::settings::Config;

/// How the store joins an Apache Cassandra cluster. The defaults are those of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cassandra {
    /// Nodes to begin with, as `host:port`. Default 127.0.0.1:9042.
    pub contact_points: Vec<String>,
    /// The data centre that this server is in; empty means the only one there is. Default empty.
    pub local_datacenter: String,
    /// Keyspaces begin with it. Default `braid`.
    pub keyspace_prefix: String,
    /// Replicas by data centre; empty means three in the local one, or as many as it has nodes. Default empty.
    pub replication: BTreeMap<String, usize>,
    /// Who we are; empty where the cluster does not ask. Default empty.
    pub user: String,
    /// The file that holds the password of `user`; empty where there is none. Default empty.
    pub password_file: PathBuf,
    /// Connections to each node. Default 2.
    pub connections_per_node: usize,
    /// How connections are encrypted.
    pub tls: CassandraTls,
}

/// How connections to the cluster are encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CassandraTls {
    /// Whether they are. Default false.
    pub enabled: bool,
    /// The file with the certificates of the authorities that sign those of nodes. Default empty.
    pub ca_file: PathBuf,
    /// The file with our own certificate, where nodes ask for one. Default empty.
    pub cert_file: PathBuf,
    /// The file with its key. Default empty.
    pub key_file: PathBuf,
    /// Whether a node's certificate has to be for the address of that node. Default true.
    pub verify_hostname: bool,
}

impl Default for CassandraTls {
    fn default() -> Self {
        let [ca_file, cert_file, key_file] = [(); 3].map(|()| PathBuf::new());
        Self { enabled: false, ca_file, cert_file, key_file, verify_hostname: true }
    }
}

impl Default for Cassandra {
    fn default() -> Self {
        let Options { contact_points, keyspace_prefix, replication, connections_per_node, .. } =
            Options::default();
        Self {
            contact_points,
            local_datacenter: String::new(),
            keyspace_prefix,
            replication,
            user: String::new(),
            password_file: PathBuf::new(),
            connections_per_node,
            tls: CassandraTls::default(),
        }
    }
}

impl Config {
    /// The options of the store on Cassandra, without credentials and TLS: those are in files that were not read.
    pub fn cassandra_options(&self) -> Options {
        let cassandra = self.store.cassandra.clone();
        let own = Options::default();
        let local = Some(cassandra.local_datacenter).filter(|name| !name.is_empty());
        let tables = self.store.max_tables;
        Options {
            contact_points: cassandra.contact_points,
            local_datacenter: local,
            keyspace_prefix: cassandra.keyspace_prefix,
            replication: cassandra.replication,
            connections_per_node: cassandra.connections_per_node,
            tables_max: if tables == 0 { own.tables_max } else { tables },
            histograms: self.histogram_options(),
            ..own
        }
    }

    /// What two settings of the cluster say against each other: the key to correct, and what to give.
    pub(super) fn cassandra_contradictions(&self) -> Vec<(&'static str, String)> {
        let Cassandra { local_datacenter, replication, user, password_file, .. } = &self.store.cassandra;
        let mut found = Vec::new();
        if !user.is_empty() && password_file.as_os_str().is_empty() {
            let advice = "a user needs store.cassandra.password_file; give both or neither";
            found.push(("store.cassandra.user", advice.to_owned()));
        }
        if user.is_empty() && !password_file.as_os_str().is_empty() {
            let advice = "a password needs store.cassandra.user; give both or neither";
            found.push(("store.cassandra.password_file", advice.to_owned()));
        }
        let local = !local_datacenter.is_empty() && !replication.is_empty();
        if local && !replication.contains_key(local_datacenter) {
            let advice = format!("give replicas for the local data centre too, as {local_datacenter} = 3");
            found.push(("store.cassandra.replication", advice));
        }
        found.extend(self.store.cassandra.tls.contradictions());
        found
    }
}

impl CassandraTls {
    /// What may be wrong is refused also where TLS is off: it would come to light on the day that it is turned on.
    fn contradictions(&self) -> Vec<(&'static str, String)> {
        let given = |path: &PathBuf| !path.as_os_str().is_empty();
        let mut found = Vec::new();
        if self.enabled && !given(&self.ca_file) {
            let advice = "name the certificates to trust in store.cassandra.tls.ca_file; those of the system are \
                          usually in /etc/ssl/certs/ca-certificates.crt";
            found.push(("store.cassandra.tls.enabled", advice.to_owned()));
        }
        if given(&self.cert_file) && !given(&self.key_file) {
            let advice = "a certificate needs store.cassandra.tls.key_file; give both or neither";
            found.push(("store.cassandra.tls.cert_file", advice.to_owned()));
        }
        if given(&self.key_file) && !given(&self.cert_file) {
            let advice = "a key needs store.cassandra.tls.cert_file; give both or neither";
            found.push(("store.cassandra.tls.key_file", advice.to_owned()));
        }
        found
    }
}
