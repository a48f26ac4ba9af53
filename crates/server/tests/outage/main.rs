//! A server whose whole cluster is away when it starts, comes, crashes, hangs and comes back, while a checked workload runs
//! through the API. The server is started once.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod workload;

use std::time::Duration;

use api::admin::v1 as admin;
use env::Env;
use own_cluster::{OwnCluster, Place};
use rpc::client::Client;
use server::config::{Config, Flags, load};
use server::{Server, Starting};

use crate::workload::{NAMESPACE, Workload};

/// One node, so when it goes, all of the cluster does. No other suite uses its address; killed, it keeps its tables, as it
/// does in production.
const PLACE: Place =
    Place { suite: "outage", address: "127.0.0.41", jvm: "-Dcassandra.test.flush_local_schema_changes=true" };
/// There is no other replica, so what the node acknowledges has to be on its disk. Unless it is told, a node that is killed may
/// lose what it acknowledged in its last 100 ms.
const DURABLE: [&str; 4] = ["--set", "commitlog_sync: batch", "--set", "commitlog_sync_period: 0ms"];
/// How long a server may take to notice that its cluster is there, or not.
const NOTICED_WITHIN: Duration = Duration::from_secs(60);

fn config(cluster: &OwnCluster) -> Config {
    let flags = Flags { config: None, data: None, listen: Some("127.0.0.1:0".to_owned()) };
    let settings = [
        ("BRAID__STORE__BACKEND", "cassandra".to_owned()),
        ("BRAID__STORE__CASSANDRA__CONTACT_POINTS", cluster.contact_point(1)),
    ];
    load(&flags, settings.map(|(key, value)| (key.to_owned(), value)), None).unwrap().config
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_outlives_its_cluster() {
    let env = Env::system();
    let cluster = &OwnCluster::new(&env, PLACE).await;
    let server = waited_for(cluster, &env).await;
    let address = server.address().to_string();
    make_namespace(&address).await;

    let workload = Workload::new(&env, &address);
    let play = async {
        goes_on(cluster, &workload, "with the cluster").await;

        order(cluster, "kill").await;
        fails(cluster, &workload, &address, "without the cluster").await;
        start(cluster).await;
        goes_on(cluster, &workload, "with the cluster back").await;
        readiness(&env, &address, true).await;

        order(cluster, "pause").await;
        fails(cluster, &workload, &address, "with the cluster hanging").await;
        order(cluster, "resume").await;
        goes_on(cluster, &workload, "with the cluster awake").await;
        readiness(&env, &address, true).await;
        workload.close();
    };
    tokio::join!(workload.write(), workload.read(), play);
    workload.read_all().await;
    cluster.say("everything that was acknowledged is there, once");
    server.stop().await;
}

/// A server that is started before its cluster.
async fn waited_for(cluster: &OwnCluster, env: &Env) -> Server {
    let starting = Starting::listen(config(cluster), env.clone()).await.unwrap();
    let address = starting.address().to_string();
    let play = async {
        readiness(env, &address, false).await;
        cluster.say("the server says that there is no cluster");
        start(cluster).await;
    };
    let (server, ()) = tokio::join!(starting.open_when_there(), play);
    readiness(env, &address, true).await;
    cluster.say("the server is ready");
    server.unwrap()
}

/// Starts the node, with what it had when it was killed.
async fn start(cluster: &OwnCluster) {
    cluster.say("starts the node");
    cluster.start(&[&["--node", "1"], &DURABLE[..]].concat()).await;
    cluster.say("the node answers");
}

async fn order(cluster: &OwnCluster, verb: &str) {
    cluster.order(verb, 1).await;
    cluster.say(verb);
}

async fn make_namespace(address: &str) {
    let zero = Some(prost_types::Duration::default());
    let namespace = admin::Namespace {
        name: NAMESPACE.to_owned(),
        accept_limit: zero,
        retention: Some(admin::Retention { close_after: zero, delete_after: zero }),
        ..admin::Namespace::default()
    };
    let request = admin::CreateNamespaceRequest { namespace: Some(namespace), ..Default::default() };
    Client::new(address).unwrap().create_namespace(request).await.unwrap();
}

async fn goes_on(cluster: &OwnCluster, workload: &Workload, when: &str) {
    let calls = workload.until(when, |calls| calls.written >= 50 && calls.read >= 5).await;
    cluster.say(&format!("{when}: {calls:?}"));
}

async fn fails(cluster: &OwnCluster, workload: &Workload, address: &str, when: &str) {
    let calls = workload.until(when, |calls| calls.failed_writes >= 1 && calls.failed_reads >= 1).await;
    cluster.say(&format!("{when}: {calls:?}"));
    readiness(&Env::system(), address, false).await;
    cluster.say(&format!("{when}: not ready, says the server"));
}

/// Waits until the server says so; `GetServerInfo` says what `/readyz` does.
async fn readiness(env: &Env, address: &str, ready: bool) {
    let looking = async {
        while is_ready(address).await != ready {
            env.clock.sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::select! {
        () = looking => {}
        () = env.clock.sleep(NOTICED_WITHIN) => panic!("`ready` never became {ready}"),
    }
}

async fn is_ready(address: &str) -> bool {
    let client = Client::new(address).unwrap();
    client.server_info().await.is_ok_and(|info| info.ready)
}
