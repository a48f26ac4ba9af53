//! A server whose whole cluster is away when it starts, comes, crashes, hangs and comes back, while a checked workload runs
//! through the API. The server is started once.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod node;
mod workload;

use std::time::Duration;

use api::admin::v1 as admin;
use env::Env;
use rpc::client::Client;
use server::config::{Config, Flags, load};
use server::{Server, Starting};

use crate::node::Node;
use crate::workload::{NAMESPACE, Workload};

/// How long a server may take to notice that its cluster is there, or not.
const NOTICED_WITHIN: Duration = Duration::from_secs(60);

fn config() -> Config {
    let flags = Flags { config: None, data: None, listen: Some("127.0.0.1:0".to_owned()) };
    let settings = [
        ("BRAID__STORE__BACKEND", "cassandra".to_owned()),
        ("BRAID__STORE__CASSANDRA__CONTACT_POINTS", Node::contact_point()),
    ];
    load(&flags, settings.map(|(key, value)| (key.to_owned(), value)), None).unwrap().config
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_outlives_its_cluster() {
    let env = Env::system();
    let node = Node::new(&env).await;
    let server = waited_for(&node, &env).await;
    let address = server.address().to_string();
    make_namespace(&address).await;

    let workload = Workload::new(&env, &address);
    let play = async {
        goes_on(&node, &workload, "with the cluster").await;

        node.order("kill").await;
        fails(&node, &workload, &address, "without the cluster").await;
        node.start().await;
        goes_on(&node, &workload, "with the cluster back").await;
        readiness(&env, &address, true).await;

        node.order("pause").await;
        fails(&node, &workload, &address, "with the cluster hanging").await;
        node.order("resume").await;
        goes_on(&node, &workload, "with the cluster awake").await;
        readiness(&env, &address, true).await;
        workload.close();
    };
    tokio::join!(workload.write(), workload.read(), play);
    workload.read_all().await;
    node.say("everything that was acknowledged is there, once");
    server.stop().await;
}

/// A server that is started before its cluster.
async fn waited_for(node: &Node, env: &Env) -> Server {
    let starting = Starting::listen(config(), env.clone()).await.unwrap();
    let address = starting.address().to_string();
    let play = async {
        readiness(env, &address, false).await;
        node.say("the server says that there is no cluster");
        node.start().await;
    };
    let (server, ()) = tokio::join!(starting.open_when_there(), play);
    readiness(env, &address, true).await;
    node.say("the server is ready");
    server.unwrap()
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

async fn goes_on(node: &Node, workload: &Workload, when: &str) {
    let calls = workload.until(when, |calls| calls.written >= 50 && calls.read >= 5).await;
    node.say(&format!("{when}: {calls:?}"));
}

async fn fails(node: &Node, workload: &Workload, address: &str, when: &str) {
    let calls = workload.until(when, |calls| calls.failed_writes >= 1 && calls.failed_reads >= 1).await;
    node.say(&format!("{when}: {calls:?}"));
    readiness(&Env::system(), address, false).await;
    node.say(&format!("{when}: not ready, says the server"));
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
