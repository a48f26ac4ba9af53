//! A wide partition of a real cluster of three nodes is split while one of them is down, which comes back with what the others
//! kept for it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod wide;

use std::time::Duration;

use api::admin::v1 as admin;
use env::Env;
use own_cluster::{OwnCluster, Place};
use rpc::client::Client;
use server::Starting;
use server::config::{Config, Flags, load};

use crate::wide::{EVENTS, NAMESPACE, Wide};

/// Three nodes. No other suite uses their addresses; killed, they keep their tables, as they do in production.
const PLACE: Place =
    Place { suite: "split", address: "127.0.0.51", jvm: "-Dcassandra.test.flush_local_schema_changes=true" };
const NODES: usize = 3;
/// How long any step may take until it is seen.
const SEEN_WITHIN: Duration = Duration::from_secs(180);

/// Splits are slow enough that a node can go while one is copied.
fn config(cluster: &OwnCluster) -> Config {
    let flags = Flags { config: None, data: None, listen: Some("127.0.0.1:0".to_owned()) };
    let points: Vec<String> = (1..=NODES).map(|node| cluster.contact_point(node)).collect();
    let settings = [
        ("BRAID__STORE__BACKEND", "cassandra".to_owned()),
        ("BRAID__STORE__CASSANDRA__CONTACT_POINTS", points.join(",")),
        ("BRAID__LIMITS__SPLIT_BYTES_PER_SECOND", "1MiB".to_owned()),
    ];
    load(&flags, settings.map(|(key, value)| (key.to_owned(), value)), None).unwrap().config
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_away_while_a_partition_is_split_changes_nothing() {
    let env = Env::system();
    let cluster = &OwnCluster::new(&env, PLACE).await;
    cluster.start(&["--nodes", "3"]).await;
    cluster.say("three nodes answer");
    let starting = Starting::listen(config(cluster), env.clone()).await.unwrap();
    let server = starting.open_when_there().await.unwrap();
    let client = Client::new(&server.address().to_string()).unwrap();
    let wide = Wide::write(&client, &env).await;
    cluster.say("a wide partition is written, and its time is closed");

    wide.read_all(&client).await;
    state(cluster, &env, &client, &wide, &["COPYING"]).await;
    cluster.order("kill", 3).await;
    let split = state(cluster, &env, &client, &wide, &["COMPLETED", "FAILED"]).await;
    assert_eq!(split.state, "COMPLETED", "{:?}", split.reason);
    let (before, after) = (split.pre_split_data.unwrap(), split.post_split_data.unwrap());
    assert_eq!(before.digest, after.digest);
    assert_eq!(before.digest.unwrap().rows, EVENTS);
    wide.read_all(&client).await;

    cluster.start(&["--node", "3"]).await;
    cluster.say("the node is back");
    equal(&client, &wide).await;
    // Now the one that was away has to answer for what it missed.
    cluster.order("kill", 1).await;
    equal(&client, &wide).await;
    wide.read_all(&client).await;
    cluster.say("the targets are equal to the origin, with the node that was away and without another one");
    server.stop().await;
}

/// Compares the split with its origin.
async fn equal(client: &Client, wide: &Wide) {
    let request = admin::VerifySplitRequest {
        namespace: NAMESPACE.to_owned(),
        id: wide.id.clone(),
        ..admin::VerifySplitRequest::default()
    };
    let compared = client.verify_split(request).await.unwrap();
    assert_eq!((compared.state.as_str(), compared.stragglers), ("COMPLETED", 0), "{:?}", compared.reason);
    assert!(compared.rechecks.last().unwrap().equal);
}

/// Waits until the split is in one of these states.
async fn state(
    cluster: &OwnCluster,
    env: &Env,
    client: &Client,
    wide: &Wide,
    states: &[&str],
) -> admin::Split {
    let looking = async {
        loop {
            match client.get_split(NAMESPACE, &wide.id).await {
                Ok(split) if states.contains(&split.state.as_str()) => return split,
                // It is not found until a read has told of it, and not answered while a node goes.
                _ => env.clock.sleep(Duration::from_millis(50)).await,
            }
        }
    };
    let split = tokio::select! {
        split = looking => split,
        () = env.clock.sleep(SEEN_WITHIN) => panic!("the split never became {states:?}"),
    };
    cluster.say(&format!("the split is {}", split.state));
    split
}
