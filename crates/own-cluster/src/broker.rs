//! A Kafka broker of a suite, from its directory to its end.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use env::Env;

/// It starts more often here than it runs long: no time goes into code that would be fast later.
const QUICK_START: &str = "-XX:TieredStopAtLevel=1";

/// The broker of a suite, whether it runs or not. Dropping it wipes it.
pub struct OwnBroker {
    env: Env,
    directory: PathBuf,
    port: u16,
    /// Held until the broker is wiped: two runs on one machine take turns.
    _lock: File,
}

impl OwnBroker {
    /// A broker that does not run, however the last run of the suite ended. No other suite has its port, nor the two behind it.
    ///
    /// # Panics
    /// Where it cannot be had, as everything here: a test then fails.
    pub async fn new(env: &Env, suite: &str, port: u16) -> Self {
        let directory = std::env::temp_dir().join(format!("braid-kafka-{suite}"));
        let lock = File::create(directory.with_extension("lock")).expect("a file for the lock");
        lock.lock().expect("a lock");
        let broker = Self { env: env.clone(), directory, port, _lock: lock };
        broker.order("wipe").await;
        broker
    }

    /// Where it keeps what it has, and a suite its certificates.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where it listens, without TLS and for everybody.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Starts it, with these lines added to its properties.
    pub async fn start(&self, properties: &[String]) {
        let port = self.port.to_string();
        let set = properties.iter().flat_map(|line| ["--set", line.as_str()]);
        self.run(&["start", "--port", &port].into_iter().chain(set).collect::<Vec<_>>()).await;
    }

    /// Ends it (`stop`), ends it as a crash does (`kill`), lets it hang (`pause`) or go on (`resume`), or removes it (`wipe`).
    pub async fn order(&self, verb: &str) {
        self.run(&[verb]).await;
    }

    /// How many topics there are, those of Kafka itself among them.
    pub async fn topics(&self) -> usize {
        let said = self.run(&["status"]).await;
        let topics = said.split_whitespace().find_map(|word| word.strip_prefix("topics="));
        topics.and_then(|topics| topics.parse().ok()).expect("a number of topics")
    }

    /// Runs `dev/kafka`; what it said.
    async fn run(&self, arguments: &[&str]) -> String {
        let mut command = self.command(arguments);
        let ended = env::blocking(&*self.env.spawn, move || command.output()).await;
        let output = ended.expect("a thread").expect("dev/kafka runs");
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "`dev/kafka {}` failed: {complained}", arguments.join(" "));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        // Asked when it runs: what was built may be kept for another checkout.
        let crate_home = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says where the crate is");
        let mut command = Command::new(Path::new(&crate_home).join("../../dev/kafka"));
        let (verb, rest) = arguments.split_first().expect("a verb");
        command.arg(verb).arg("--dir").arg(&self.directory).args(rest).env("BRAID_JVM", QUICK_START);
        command
    }
}

impl Drop for OwnBroker {
    fn drop(&mut self) {
        // What is left is wiped by the next run.
        let _left = self.command(&["wipe"]).status();
    }
}
