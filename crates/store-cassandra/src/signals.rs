//! What the nodes of a cluster say about themselves, as metrics: how many reads wait, and how many tombstones a read meets.
//!
//! Read from `system_views` of every node of the local data centre, now and then, by a task of its own that ends with the store; never while
//! somebody waits for a row. A node that does not answer has no value until it does.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use scylla::cluster::Node;
use scylla::response::query_result::QueryRowsResult;
use store::Result;
use tokio::sync::watch;

use crate::cluster::Cluster;
use crate::failure::unreadable;
use crate::one_node::only_at;
use crate::retry::{self, Task};

/// How often the nodes are asked.
const INTERVAL: Duration = Duration::from_secs(15);

const PENDING: &str = "SELECT pending_tasks FROM system_views.thread_pools WHERE name = 'ReadStage'";
const TOMBSTONES: &str = "SELECT keyspace_name, p99th FROM system_views.tombstones_per_read";

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EncodeLabelSet)]
struct Labels {
    node: String,
}

/// What one node said.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Said {
    pending_reads: i64,
    tombstones_per_read: f64,
}

/// What is shown.
#[derive(Clone, Default)]
pub(crate) struct Signals {
    pending_reads: Family<Labels, Gauge>,
    tombstones_per_read: Family<Labels, Gauge<f64, AtomicU64>>,
}

impl Signals {
    /// Shows them in `registry`.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register(
            "braid_cassandra_pending_reads",
            "Reads that wait for a thread of the node",
            self.pending_reads.clone(),
        );
        registry.register(
            "braid_cassandra_tombstones_per_read",
            "Tombstones that one read in a hundred meets at least, in the worst of our tables on the node",
            self.tombstones_per_read.clone(),
        );
    }

    /// Asks again and again, until the store is gone or `stopped` is.
    pub(crate) async fn follow(self, cluster: Weak<Cluster>, mut stopped: watch::Receiver<()>) {
        loop {
            let Some(clock) = self.refresh(&cluster).await else { return };
            tokio::select! {
                // Nothing is ever sent; it only ends.
                _ = stopped.changed() => return,
                () = clock.sleep(INTERVAL) => {}
            }
        }
    }

    /// One round over all nodes; none if there is no store any more.
    async fn refresh(&self, cluster: &Weak<Cluster>) -> Option<Arc<dyn env::Clock>> {
        let cluster = cluster.upgrade()?;
        let mut said = BTreeMap::new();
        for node in cluster.local_nodes() {
            match ask(&cluster, &node).await {
                Ok(found) => {
                    said.insert(Labels { node: node.address.to_string() }, found);
                }
                Err(error) => tracing::debug!(%error, node = %node.address, "a node tells nothing of itself"),
            }
        }
        self.show(said);
        Some(Arc::clone(&cluster.env.clock))
    }

    /// Nodes that said nothing are not shown: an old value would look like a good one.
    fn show(&self, said: BTreeMap<Labels, Said>) {
        self.pending_reads.clear();
        self.tombstones_per_read.clear();
        for (labels, said) in said {
            self.pending_reads.get_or_create(&labels).set(said.pending_reads);
            self.tombstones_per_read.get_or_create(&labels).set(said.tombstones_per_read);
        }
    }
}

async fn ask(cluster: &Cluster, node: &Arc<Node>) -> Result<Said> {
    let pending = rows(cluster, node, PENDING).await?;
    let pending = pending.maybe_first_row::<(i32,)>().map_err(|error| unreadable("thread pools", error))?;
    let tombstones = rows(cluster, node, TOMBSTONES).await?;
    let tombstones = tombstones.rows::<(&str, f64)>().map_err(|error| unreadable("tombstones", error))?;
    let mut worst = 0.0_f64;
    for row in tombstones {
        let (keyspace, found) = row.map_err(|error| unreadable("tombstones", error))?;
        if cluster.names.owns(keyspace) {
            worst = worst.max(found);
        }
    }
    Ok(Said { pending_reads: pending.map_or(0, |(pending,)| i64::from(pending)), tombstones_per_read: worst })
}

async fn rows(cluster: &Cluster, node: &Arc<Node>, text: &str) -> Result<QueryRowsResult> {
    let statement = only_at(node, cluster.sweep(text));
    let task = Task { what: "ask a node how it is", table: None, writes: false };
    let asked = || cluster.session.query_unpaged(statement.clone(), ());
    let found = retry::idempotent(&cluster.env, task, asked).await?;
    found.into_rows_result().map_err(|error| unreadable("answer of a node", error))
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;

    use super::*;

    #[test]
    fn a_node_that_says_nothing_any_more_is_not_shown() {
        let (signals, mut registry) = (Signals::default(), Registry::default());
        signals.register(&mut registry);
        let said = |nodes: &[&str]| {
            let said = Said { pending_reads: 3, tombstones_per_read: 1.5 };
            signals.show(nodes.iter().map(|node| (Labels { node: (*node).to_owned() }, said)).collect());
            let mut text = String::new();
            encode(&mut text, &registry).unwrap();
            text
        };
        let both = said(&["a:9042", "b:9042"]);
        assert!(both.contains("braid_cassandra_pending_reads{node=\"a:9042\"} 3\n"), "{both}");
        assert!(both.contains("braid_cassandra_tombstones_per_read{node=\"b:9042\"} 1.5\n"), "{both}");
        let one = said(&["b:9042"]);
        assert!(!one.contains("a:9042") && one.contains("b:9042"), "{one}");
    }
}
