//! The cluster of this suite: one node by `dev/cassandra`, in a directory and on an address of its own. It is the whole cluster,
//! so when it goes, all of it does.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use env::{BootTime, Env};

/// No other cluster of `dev/cassandra` uses it.
const ADDRESS: &str = "127.0.0.41";
const HEAP: &str = "512m";
/// A node that is killed keeps its tables, as it does in production; and no time goes into code that would be fast later.
const JVM: &str = "-Dcassandra.test.flush_local_schema_changes=true -XX:TieredStopAtLevel=1";

/// The node, whether it runs or not. Dropping it wipes it.
pub(crate) struct Node {
    env: Env,
    began: BootTime,
    directory: PathBuf,
    /// Held until the node is wiped: two runs on one machine take turns.
    _lock: File,
}

impl Node {
    /// A node that was never started, however the last run ended.
    pub(crate) async fn new(env: &Env) -> Self {
        let directory = std::env::temp_dir().join("braid-cassandra-outage");
        let lock = File::create(directory.with_extension("lock")).unwrap();
        lock.lock().unwrap();
        let node = Self { env: env.clone(), began: env.clock.boot(), directory, _lock: lock };
        node.dev_cassandra(&["wipe"]).await;
        node
    }

    /// Where it listens, once it runs.
    pub(crate) fn contact_point() -> String {
        format!("{ADDRESS}:9042")
    }

    /// Says a step, at once and also when the test passes.
    pub(crate) fn say(&self, step: &str) {
        let seconds = self.env.clock.boot().since(self.began).as_secs_f32();
        // Not by a macro: the test harness keeps what those print.
        let mut stderr = std::io::stderr().lock();
        writeln!(stderr, "outage {seconds:6.1} s  {step}").unwrap();
    }

    /// Starts it, with what it had when it was killed.
    pub(crate) async fn start(&self) {
        self.say("starts the node");
        self.dev_cassandra(&["start", "--ip", ADDRESS, "--heap", HEAP]).await;
        self.say("the node answers");
    }

    /// Ends it as a crash does (`kill`), lets it hang (`pause`), or lets it go on (`resume`).
    pub(crate) async fn order(&self, verb: &str) {
        self.dev_cassandra(&[verb, "--node", "1"]).await;
        self.say(verb);
    }

    async fn dev_cassandra(&self, arguments: &[&str]) {
        let mut command = command(&self.directory, arguments);
        let output = env::blocking(&*self.env.spawn, move || command.output()).await.unwrap().unwrap();
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "`dev/cassandra {}` failed: {complained}", arguments.join(" "));
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        match command(&self.directory, &["wipe"]).status() {
            Ok(status) if status.success() => self.say("wiped the node"),
            failed => self.say(&format!("could not wipe the node: {failed:?}")),
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
