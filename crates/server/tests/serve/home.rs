//! Where a test's server keeps its events: in a directory of its own, or, with `BRAID_TEST_BACKEND=cassandra`, under a
//! keyspace prefix of its own in the node that `dev/cassandra` runs. Both are gone when the test ends.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use env::Env;
use server::config::{Backend, Config, Flags, load};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// Keyspaces of this suite begin with it.
const PREFIX: &str = "srv";

/// The store that the suite runs on.
static BACKEND: LazyLock<Backend> = LazyLock::new(|| match std::env::var("BRAID_TEST_BACKEND").as_deref() {
    Ok("cassandra") => Backend::Cassandra,
    Ok("embedded" | "") | Err(_) => Backend::Embedded,
    Ok(other) => panic!("BRAID_TEST_BACKEND is {other}; give embedded or cassandra"),
});

/// The runtime of a test may be ending when its home goes; this one does not.
static CLEANING: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());

/// A place for the events of one test, kept over restarts of its server.
pub(crate) struct Home {
    directory: TempDir,
    backend: Backend,
    prefix: String,
}

impl Home {
    /// On the store that the suite runs on.
    pub(crate) fn new() -> Self {
        Self::on(*BACKEND)
    }

    /// In a directory, whatever the suite runs on: for what is true of directories only.
    pub(crate) fn embedded() -> Self {
        Self::on(Backend::Embedded)
    }

    fn on(backend: Backend) -> Self {
        // The process tells runs apart, the number tests: 3 + 4 + 3 characters are all that a prefix has.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id() % 0x1_0000, NUMBER.fetch_add(1, Ordering::Relaxed));
        let prefix = format!("{PREFIX}{process:04x}{number:x}");
        Self { directory: TempDir::new().unwrap(), backend, prefix }
    }

    /// What the keyspaces of a server here begin with.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The settings of a server here, with these on top, on a free port.
    pub(crate) fn config(&self, settings: &[(&str, &str)]) -> Config {
        let flags = Flags {
            config: None,
            data: Some(self.directory.path().join("data")),
            listen: Some("127.0.0.1:0".to_owned()),
        };
        let mut all = vec![("BRAID__STORE__BACKEND", self.backend.as_str())];
        if self.backend == Backend::Cassandra {
            all.push(("BRAID__STORE__CASSANDRA__CONTACT_POINTS", &NODE));
            all.push(("BRAID__STORE__CASSANDRA__KEYSPACE_PREFIX", &self.prefix));
        }
        all.extend(settings);
        let all = all.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned()));
        load(&flags, all, None).unwrap().config
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if self.backend == Backend::Embedded {
            return;
        }
        let config = self.config(&[]);
        let (done, outcome) = std::sync::mpsc::sync_channel(1);
        CLEANING.spawn(async move { done.send(server::drop_keyspaces(&config, &Env::system()).await) });
        let dropped = outcome.recv();
        // A panic on top of another would hide it.
        assert!(matches!(dropped, Ok(Ok(()))) || std::thread::panicking(), "{dropped:?}");
    }
}

/// The name of the store that the suite runs on.
pub(crate) fn backend() -> &'static str {
    BACKEND.as_str()
}

/// Has the node do what a server never would. For tests that run on Cassandra.
pub(crate) fn cql(statement: &str) {
    dev_cassandra(&["cql", statement]);
}

/// Runs `dev/cassandra`; gives back what it said.
fn dev_cassandra(arguments: &[&str]) -> String {
    // Asked for when it runs: what was built may be kept for another checkout.
    let crate_home = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says where the crate is");
    let script = Path::new(&crate_home).join("../../dev/cassandra");
    let output = Command::new(&script).args(arguments).output().unwrap();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`dev/cassandra {}` failed: {}", arguments.join(" "), complained.trim());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The address of the node, started if it does not run.
static NODE: LazyLock<String> = LazyLock::new(|| {
    let said = dev_cassandra(&["start"]);
    let address = said.lines().find_map(|line| line.strip_prefix("node1 ")?.split(' ').next());
    address.unwrap_or_else(|| panic!("`dev/cassandra start` named no node: {said}")).to_owned()
});
