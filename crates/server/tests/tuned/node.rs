//! The node of `dev/cassandra`, started if it does not run, and a server over it with keyspaces of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use env::Env;
use rpc::client::Client;
use server::Server;
use server::config::{Config, Flags, load};

/// Keyspaces of this suite begin with it.
const PREFIX: &str = "tuned";
/// Where `dev/cassandra` has the first node's JMX.
const JMX_PORT: &str = "7101";

pub(crate) struct Node {
    server: Server,
    config: Config,
}

impl Node {
    /// A server that asks this source for the sizes of partitions, with nothing in its keyspaces.
    pub(crate) async fn serve(source: &str) -> (Self, Client) {
        let started = dev_cassandra(&["start"]);
        let address = started.lines().find_map(|line| line.strip_prefix("node1 ")?.split(' ').next());
        let tool = checkout().join("crates/store-cassandra/tests/sizes/nodetool").display().to_string();
        let settings = [
            ("BRAID__STORE__BACKEND", "cassandra"),
            ("BRAID__STORE__CASSANDRA__CONTACT_POINTS", address.unwrap()),
            ("BRAID__STORE__CASSANDRA__KEYSPACE_PREFIX", PREFIX),
            ("BRAID__HISTOGRAMS__SOURCE", source),
            ("BRAID__HISTOGRAMS__NODETOOL", &tool),
            ("BRAID__HISTOGRAMS__JMX_PORT", JMX_PORT),
        ];
        let flags = Flags { config: None, data: None, listen: Some("127.0.0.1:0".to_owned()) };
        let settings = settings.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let config = load(&flags, settings, None).unwrap().config;
        // What a run left that failed.
        server::drop_keyspaces(&config, &Env::system()).await.unwrap();
        let server = Server::start(config.clone(), Env::system()).await.unwrap();
        let client = Client::new(&server.address().to_string()).unwrap();
        (Self { server, config }, client)
    }

    /// The keyspace of a namespace.
    pub(crate) fn keyspace(namespace: &str, incarnation: u32) -> String {
        format!("{PREFIX}_{namespace}_{incarnation}")
    }

    /// Ends the server and drops its keyspaces.
    pub(crate) async fn end(self) {
        self.server.stop().await;
        server::drop_keyspaces(&self.config, &Env::system()).await.unwrap();
    }
}

/// Runs Cassandra's own tool; gives back what it said.
pub(crate) fn nodetool(arguments: &[&str]) -> String {
    dev_cassandra(&[&["nodetool"], arguments].concat())
}

/// What it shows under `Partition Size` of a table, read by the place of the column: otherwise than the server does.
pub(crate) fn shown(keyspace: &str, table: &str) -> [i64; 7] {
    let output = nodetool(&["tablehistograms", keyspace, table]);
    let cell = |name: &str| {
        let line = output.lines().find(|line| line.starts_with(name)).unwrap();
        // Ten characters of a name, then eighteen of each column; this is the fourth.
        line[10 + 3 * 18..10 + 4 * 18].trim().parse().unwrap()
    };
    ["50%", "75%", "95%", "98%", "99%", "Min", "Max"].map(cell)
}

/// Runs `dev/cassandra`; gives back what it said.
fn dev_cassandra(arguments: &[&str]) -> String {
    let output = Command::new(checkout().join("dev/cassandra")).args(arguments).output().unwrap();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "this suite needs a Cassandra, and `dev/cassandra {}` failed: {}",
        arguments.join(" "),
        complained.trim()
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Asked for when it runs: what was built may be kept for another checkout.
fn checkout() -> PathBuf {
    let crate_home = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says where the crate is");
    Path::new(&crate_home).join("../..")
}
