//! A read whose node hangs is answered by another one, long before it is given up.

use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use env::Env;
use model::{Interval, Order, PartitionKey, SeriesId, TableRef};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use store::conformance::{Fixture, row};
use store::{Consistency, Scan};
use store_cassandra::{CassandraStore, Options};

use crate::nodes::Nodes;

/// After so long another node is asked.
const HEDGE_AFTER: Duration = Duration::from_millis(100);
/// Reads of one round while a node hangs: no more than can be asked twice at once.
const READS: usize = 10;
/// Rounds at most: in each, one read in three goes to the node that hangs.
const ROUNDS: usize = 5;

fn scan(table: &TableRef, number: usize) -> Scan {
    Scan {
        table: table.clone(),
        partition: at(number),
        order: Order::OldestFirst,
        interval: Interval::ALL,
        from: Bound::Unbounded,
        rows_max: 10,
        bytes_max: 1 << 20,
        consistency: Consistency::LocalQuorum,
        hedge_after: Some(HEDGE_AFTER),
        ahead: false,
    }
}

fn at(number: usize) -> PartitionKey {
    let series = SeriesId::new(&format!("hedged {number}")).unwrap();
    PartitionKey { series, time_bucket: 0, event_bucket: 0 }
}

/// How many hedges ended so.
fn counted(registry: &Registry, outcome: &str) -> u64 {
    let mut text = String::new();
    encode(&mut text, registry).unwrap();
    let name = format!("braid_store_hedges_total{{outcome=\"{outcome}\"}} ");
    text.lines().find_map(|line| line.strip_prefix(&name)).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hedged_reads_of_a_node_that_hangs_are_answered_by_another() {
    let env = Env::system();
    let nodes = Nodes::start(&env).await;
    let options = Options {
        contact_points: nodes.addresses(),
        keyspace_prefix: "hedges".to_owned(),
        ..Options::default()
    };
    let store = CassandraStore::connect(&options, env.clone()).await.unwrap();
    let mut registry = Registry::default();
    store.register_metrics(&mut registry);
    let fixture = Fixture::new(Arc::new(store));
    let table = fixture.made(1).await;
    let rows = [row(5, "e", "i", "v")];
    for number in 0..READS {
        fixture.write(&table, &at(number), &rows).await;
        // Also so that the statement is prepared on every node.
        assert_eq!(fixture.read(&table, &at(number)).await, rows);
    }

    nodes.order("pause", 2).await;
    let began = env.clock.boot();
    for _ in 0..ROUNDS {
        let reads = (0..READS).map(|number| fixture.store.scan(scan(&table, number)));
        for page in futures::future::join_all(reads).await {
            assert_eq!(page.unwrap().rows.to_vec(), rows);
        }
        if counted(&registry, "won") > 0 {
            break;
        }
    }
    let (took, won) = (env.clock.boot().since(began), counted(&registry, "won"));
    nodes.order("resume", 2).await;
    nodes.say(&format!("with node 2 hanging: read in {took:?}, {won} times answered by a second node"));
    // An attempt without one would have waited for the hanging node until its time-out.
    assert!(won > 0, "no read was answered by a second node");
}
