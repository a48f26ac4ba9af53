//! The cluster of this suite: three nodes.

use std::time::Duration;

use env::Env;
use own_cluster::{OwnCluster, Place};

/// No other cluster of `dev/cassandra` uses these three addresses. A node that is killed keeps its tables, as it does in
/// production; `dev/cassandra` has them in memory for a while.
const PLACE: Place =
    Place { suite: "faults", address: "127.0.0.21", jvm: "-Dcassandra.test.flush_local_schema_changes=true" };
const NODES: usize = 3;
/// Nodes warn of what they read for an answer above one size, and refuse to give one above another. See `large`.
const ANSWER_LIMITS: [&str; 6] = [
    "--set",
    "read_thresholds_enabled: true",
    "--set",
    "local_read_size_warn_threshold: 1MiB",
    "--set",
    "coordinator_read_size_fail_threshold: 8MiB",
];
/// A slow node: how long it hangs and then runs, in turns. Shorter than anybody takes it for dead.
const HANGS: Duration = Duration::from_millis(700);
const RUNS: Duration = Duration::from_millis(100);

/// The running cluster.
pub(crate) struct Nodes {
    env: Env,
    cluster: OwnCluster,
}

impl Nodes {
    /// Starts three nodes, empty.
    pub(crate) async fn start(env: &Env) -> Self {
        let nodes = Self { env: env.clone(), cluster: OwnCluster::new(env, PLACE).await };
        nodes.say("starts three nodes");
        nodes.launch(&["--nodes", "3"]).await;
        nodes.say("three nodes answer and see each other");
        nodes
    }

    /// Where the nodes listen.
    pub(crate) fn addresses(&self) -> Vec<String> {
        (1..=NODES).map(|node| self.cluster.contact_point(node)).collect()
    }

    /// Says a step.
    pub(crate) fn say(&self, step: &str) {
        self.cluster.say(step);
    }

    /// Starts a node that was killed.
    pub(crate) async fn restart(&self, node: usize) {
        self.launch(&["--node", &node.to_string()]).await;
        self.say(&format!("node {node} was started and answers"));
    }

    /// Ends a node as a crash does, lets it hang, or lets it go on.
    pub(crate) async fn order(&self, verb: &str, node: usize) {
        self.cluster.order(verb, node).await;
        self.say(&format!("{verb} node {node}"));
    }

    /// Lets a node stumble: most of the time it hangs, and goes on in between, so often.
    pub(crate) async fn slow_down(&self, node: usize, times: u32) {
        self.say(&format!("node {node} begins to stumble"));
        for _ in 0..times {
            self.cluster.order("pause", node).await;
            self.env.clock.sleep(HANGS).await;
            self.cluster.order("resume", node).await;
            self.env.clock.sleep(RUNS).await;
        }
        self.say(&format!("node {node} has stumbled {times} times"));
    }

    async fn launch(&self, which: &[&str]) {
        self.cluster.start(&[which, &ANSWER_LIMITS].concat()).await;
    }
}
