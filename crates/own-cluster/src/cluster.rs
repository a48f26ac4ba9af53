//! A cluster of a suite, from its directory to its end.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use env::{BootTime, Env};

/// Small: these nodes share a machine with the tests, and with each other.
const HEAP: &str = "512m";
/// Nodes start more often here than they run long: no time goes into code that would be fast later.
const QUICK_START: &str = "-XX:TieredStopAtLevel=1";

/// A certificate with its key, for nodes that ask for one: in the directory of the cluster, if its suite puts one there.
pub const CERTIFICATE: &str = "certificates/ours-pair.pem";

/// What tells a suite's cluster from those of others.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The suite, in what is said and in the name of the directory.
    pub suite: &'static str,
    /// The address of the first node; the next two belong to the suite as well.
    pub address: &'static str,
    /// Flags for the nodes beside those of `dev/cassandra`.
    pub jvm: &'static str,
}

/// The nodes of a suite, whether they run or not. Dropping it wipes them.
pub struct OwnCluster {
    env: Env,
    began: BootTime,
    place: Place,
    directory: PathBuf,
    /// Held until the nodes are wiped: two runs on one machine take turns.
    _lock: File,
}

impl OwnCluster {
    /// A cluster without nodes, however the last run ended.
    ///
    /// # Panics
    /// Where it cannot be had, as everything here: a test then fails.
    pub async fn new(env: &Env, place: Place) -> Self {
        let directory = std::env::temp_dir().join(format!("braid-cassandra-{}", place.suite));
        let lock = File::create(directory.with_extension("lock")).expect("a file for the lock");
        lock.lock().expect("a lock");
        let cluster = Self { env: env.clone(), began: env.clock.boot(), place, directory, _lock: lock };
        cluster.run(&["wipe"]).await;
        cluster.clear();
        cluster
    }

    /// Where the nodes keep what they have.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where node `number` listens; the first is 1.
    pub fn contact_point(&self, number: usize) -> String {
        let (network, first) = self.place.address.rsplit_once('.').expect("an address");
        let first: usize = first.parse().expect("a number");
        format!("{network}.{}:9042", first + number - 1)
    }

    /// Says a step, at once and also when the test passes.
    pub fn say(&self, step: &str) {
        let seconds = self.env.clock.boot().since(self.began).as_secs_f32();
        // Not by a macro: the test harness keeps what those print. Who cannot say it goes on.
        let _unheard = writeln!(std::io::stderr().lock(), "{} {seconds:6.1} s  {step}", self.place.suite);
    }

    /// Starts nodes: `which` and how they are set.
    pub async fn start(&self, which: &[&str]) {
        let how = ["start", "--ip", self.place.address, "--heap", HEAP];
        self.run(&[&how, which].concat()).await;
    }

    /// Ends a node as a crash does (`kill`), lets it hang (`pause`), or lets it go on (`resume`).
    pub async fn order(&self, verb: &str, node: usize) {
        self.run(&[verb, "--node", &node.to_string()]).await;
    }

    /// Has a node do what Cassandra's own tool tells it.
    pub async fn nodetool(&self, node: usize, arguments: &[&str]) {
        self.run(&[&["nodetool", "--node", &node.to_string()], arguments].concat()).await;
    }

    async fn run(&self, arguments: &[&str]) {
        let mut command = self.command(arguments);
        let ended = env::blocking(&*self.env.spawn, move || command.output()).await;
        let output = ended.expect("a thread").expect("dev/cassandra runs");
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "`dev/cassandra {}` failed: {complained}", arguments.join(" "));
    }

    /// Removes what the suite put beside its nodes. Where it cannot, the suite fails on what it finds, or the next one does.
    fn clear(&self) {
        let _left = std::fs::remove_dir_all(&self.directory);
    }

    fn command(&self, arguments: &[&str]) -> Command {
        // Asked when it runs: what was built may be kept for another checkout.
        let crate_home = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says where the crate is");
        let mut command = Command::new(Path::new(&crate_home).join("../../dev/cassandra"));
        let (verb, rest) = arguments.split_first().expect("a verb");
        command.arg(verb).arg("--dir").arg(&self.directory).args(rest);
        command.env("BRAID_JVM", format!("{QUICK_START} {}", self.place.jvm));
        let certificate = self.directory.join(CERTIFICATE);
        if certificate.try_exists().expect("a directory that can be looked at") {
            command.env("BRAID_CERTIFICATE", certificate);
        }
        command
    }
}

impl Drop for OwnCluster {
    fn drop(&mut self) {
        match self.command(&["wipe"]).status() {
            Ok(status) if status.success() => self.say("wiped the nodes"),
            failed => self.say(&format!("could not wipe the nodes: {failed:?}")),
        }
        self.clear();
    }
}
