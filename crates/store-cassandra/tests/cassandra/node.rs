//! The node that the tests talk to: started by `dev/cassandra`, once, and left running for the next run.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use env::Env;
use model::TableRef;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use store_cassandra::{CassandraStore, Options};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::OnceCell;

/// Keyspaces of these tests begin with it, also those with a longer prefix.
const PREFIX: &str = "suite";

/// Every test has a runtime that ends with it; what is shared between tests lives on this one.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap());

/// A store with other settings.
pub(crate) async fn connect_with(options: Options) -> store::Result<CassandraStore> {
    RUNTIME.spawn(async move { CassandraStore::connect(&options, Env::system()).await }).await.unwrap()
}

/// Settings that reach the node.
pub(crate) async fn options() -> Options {
    static ADDRESS: OnceCell<String> = OnceCell::const_new();
    let address = ADDRESS.get_or_init(|| async { RUNTIME.spawn(prepare()).await.unwrap() }).await;
    Options {
        contact_points: vec![address.clone()],
        keyspace_prefix: PREFIX.to_owned(),
        tables_max: 2_000,
        ..Options::default()
    }
}

/// A way past the store: what somebody else may have written.
pub(crate) async fn session() -> Session {
    let options = options().await;
    SessionBuilder::new().known_nodes(options.contact_points).build().await.unwrap()
}

/// The keyspace of a table.
pub(crate) fn keyspace(table: &TableRef) -> String {
    format!("{PREFIX}_{}_{}", table.namespace.as_str(), table.incarnation)
}

/// Starts the node, waits for another run of these tests to end, and drops what earlier ones left.
async fn prepare() -> String {
    let address = start();
    // Not in the target directory: every clone on this machine talks to this node.
    let lock = File::create(std::env::temp_dir().join("braid-cassandra-suite.lock")).unwrap();
    lock.lock().unwrap();
    // Held until the process ends.
    std::mem::forget(lock);
    // Nobody looks at the schema between two drops: agreeing on it after each would take most of the time.
    let builder = SessionBuilder::new().known_node(&address).auto_await_schema_agreement(false);
    let session = builder.fetch_full_schema_metadata(false).build().await.unwrap();
    let keyspaces =
        session.query_unpaged("SELECT keyspace_name FROM system_schema.keyspaces", ()).await.unwrap();
    let keyspaces = keyspaces.into_rows_result().unwrap();
    for row in keyspaces.rows::<(&str,)>().unwrap() {
        let (name,) = row.unwrap();
        if name.starts_with(PREFIX) {
            session.query_unpaged(format!("DROP KEYSPACE \"{name}\""), ()).await.unwrap();
        }
    }
    session.await_schema_agreement().await.unwrap();
    address
}

/// Runs `dev/cassandra`; gives back what it said.
pub(crate) fn dev_cassandra(arguments: &[&str]) -> String {
    // Asked when it runs: a target directory that clones share holds the binary of whichever was built last.
    let here = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says where the crate is");
    let output = Command::new(Path::new(&here).join("../../dev/cassandra")).args(arguments).output().unwrap();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "these tests need a Cassandra, and `dev/cassandra {}` failed: {}",
        arguments.join(" "),
        complained.trim()
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The address of the first node.
fn start() -> String {
    let said = dev_cassandra(&["start"]);
    let address = said.lines().find_map(|line| line.strip_prefix("node1 ")?.split(' ').next());
    address.unwrap_or_else(|| panic!("`dev/cassandra start` named no node: {said}")).to_owned()
}
