//! The cluster of this suite: three nodes by `dev/cassandra`, in a directory and on addresses of their own.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use env::{BootTime, Env};

/// The first address; no other cluster of `dev/cassandra` uses these three.
const ADDRESS: &str = "127.0.0.21";
const NODES: usize = 3;
const HEAP: &str = "512m";
/// A node that is killed keeps its tables, as it does in production; `dev/cassandra` has them in memory for a while. And
/// nodes start more often here than they run long: no time goes into code that would be fast later.
const JVM: &str = "-Dcassandra.test.flush_local_schema_changes=true -XX:TieredStopAtLevel=1";
/// Nodes refuse an answer that is larger. See `large`.
const ANSWER_LIMIT: [&str; 4] =
    ["--set", "read_thresholds_enabled: true", "--set", "coordinator_read_size_fail_threshold: 8MiB"];

/// A slow node: how long it hangs and then runs, in turns. Shorter than anybody takes it for dead.
const HANGS: Duration = Duration::from_millis(700);
const RUNS: Duration = Duration::from_millis(100);

/// The running cluster. Dropping it wipes it.
pub(crate) struct Nodes {
    env: Env,
    began: BootTime,
    directory: PathBuf,
    /// Held until the cluster is wiped: two runs on one machine take turns.
    _lock: File,
}

impl Nodes {
    /// Starts three nodes, empty, however the last run ended.
    pub(crate) async fn start(env: &Env) -> Self {
        let directory = std::env::temp_dir().join("braid-cassandra-faults");
        let lock = File::create(directory.with_extension("lock")).unwrap();
        lock.lock().unwrap();
        let nodes = Self { env: env.clone(), began: env.clock.boot(), directory, _lock: lock };
        nodes.say("starts three nodes");
        nodes.dev_cassandra(&["wipe"]).await;
        nodes.launch(&["--nodes", "3"]).await;
        nodes.say("three nodes answer and see each other");
        nodes
    }

    /// Where the nodes listen.
    pub(crate) fn addresses(&self) -> Vec<String> {
        let (network, first) = ADDRESS.rsplit_once('.').unwrap();
        let first: usize = first.parse().unwrap();
        (0..NODES).map(|node| format!("{network}.{}:9042", first + node)).collect()
    }

    /// Says a step, at once and also when the test passes.
    pub(crate) fn say(&self, step: &str) {
        let seconds = self.env.clock.boot().since(self.began).as_secs_f32();
        // Not by a macro: the test harness keeps what those print.
        let mut stderr = std::io::stderr().lock();
        writeln!(stderr, "faults {seconds:6.1} s  {step}").unwrap();
    }

    /// Starts a node that was killed.
    pub(crate) async fn restart(&self, node: usize) {
        self.launch(&["--node", &node.to_string()]).await;
        self.say(&format!("node {node} was started and answers"));
    }

    /// Ends a node as a crash does, lets it hang, or lets it go on.
    pub(crate) async fn order(&self, verb: &str, node: usize) {
        self.dev_cassandra(&[verb, "--node", &node.to_string()]).await;
        self.say(&format!("{verb} node {node}"));
    }

    /// Lets a node stumble: most of the time it hangs, and goes on in between, so often.
    pub(crate) async fn slow_down(&self, node: usize, times: u32) {
        let node = node.to_string();
        self.say(&format!("node {node} begins to stumble"));
        for _ in 0..times {
            self.dev_cassandra(&["pause", "--node", &node]).await;
            self.env.clock.sleep(HANGS).await;
            self.dev_cassandra(&["resume", "--node", &node]).await;
            self.env.clock.sleep(RUNS).await;
        }
        self.say(&format!("node {node} has stumbled {times} times"));
    }

    async fn launch(&self, which: &[&str]) {
        let how = ["start", "--ip", ADDRESS, "--heap", HEAP];
        self.dev_cassandra(&[&how, &ANSWER_LIMIT[..], which].concat()).await;
    }

    async fn dev_cassandra(&self, arguments: &[&str]) {
        let mut command = command(&self.directory, arguments);
        let output = env::blocking(&*self.env.spawn, move || command.output()).await.unwrap().unwrap();
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "`dev/cassandra {}` failed: {complained}", arguments.join(" "));
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        match command(&self.directory, &["wipe"]).status() {
            Ok(status) if status.success() => self.say("wiped the nodes"),
            failed => self.say(&format!("could not wipe the nodes: {failed:?}")),
        }
    }
}

fn command(directory: &Path, arguments: &[&str]) -> Command {
    let here = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says where the crate is");
    let mut command = Command::new(Path::new(&here).join("../../dev/cassandra"));
    let (verb, rest) = arguments.split_first().expect("a verb");
    command.arg(verb).arg("--dir").arg(directory).args(rest).env("BRAID_JVM", JVM);
    command
}
