//! A real cluster of three nodes, three replicas, that loses nodes while a checked workload runs.
//!
//! One test, as there is one cluster: it starts its own, says every step on stderr, and wipes it at the end, also when
//! it fails. Everything that was acknowledged must be there and nothing that was called not done; no call may take
//! longer than it promises, whatever is down.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod board;
mod hedge;
mod large;
mod nodes;
mod records;
mod rows;
mod scenarios;

use std::sync::Arc;

use env::Env;
use prometheus_client::registry::Registry;
use store::conformance::Fixture;
use store::{Consistency, Store};
use store_cassandra::{CassandraStore, Options};

use crate::board::Board;
use crate::nodes::Nodes;
use crate::records::Changer;
use crate::rows::Rows;

/// Clients of each kind. Every one makes one call after the other.
const WRITERS: usize = 3;
const READERS: usize = 2;

async fn server(nodes: &Nodes) -> CassandraStore {
    let options = Options {
        contact_points: nodes.addresses(),
        keyspace_prefix: "faults".to_owned(),
        ..Options::default()
    };
    CassandraStore::connect(&options, Env::system()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_and_nothing_hangs() {
    let env = Env::system();
    let nodes = Nodes::start(&env).await;
    // Two servers over the cluster, and a namespace on one of them that asks a single replica.
    let [one, other] = [(); 2].map(|()| server(&nodes));
    let (first, other): (_, Arc<dyn Store>) = (one.await, Arc::new(other.await));
    let mut registry = Registry::default();
    first.register_metrics(&mut registry);
    let one = Fixture::new(Arc::new(first));
    let weak = Fixture { consistency: Consistency::LocalOne, ..one.clone() };
    large::check(&nodes, &one, &registry).await;

    let board = Board::new(&env);
    let rows = Rows::new(&board, &one, &other, WRITERS).await;
    let key = one.meta_key("faults", "marks");
    let changers = [Changer::new(&board, 0, &one.store, &key), Changer::new(&board, 1, &other, &key)];
    let clients = async {
        let writers = futures::future::join_all((0..WRITERS).map(|writer| rows.write(writer)));
        let readers = futures::future::join_all((0..READERS).map(|reader| rows.scan(reader)));
        futures::join!(writers, readers, changers[0].run(&changers), changers[1].run(&changers));
    };
    let play = async {
        scenarios::play(&nodes, &board, &weak, rows.table()).await;
        board.close();
    };
    futures::join!(clients, play);
    rows.check_all().await;
    records::check_all(&one.store, &key, &changers).await;
    nodes.say("everything that was acknowledged is there, and nothing else that should not be");
}
