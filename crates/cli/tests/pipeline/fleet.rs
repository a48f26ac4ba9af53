//! The processes: a cluster, a broker, servers; how each is killed, paused and mended.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use env::Env;
use own_cluster::{OwnBroker, OwnCluster, OwnServer, Place};
use rpc::client::Client;
use tempfile::TempDir;

use crate::fault::{Fault, How, Part};
use crate::live::within;

/// Three nodes. No other suite uses their addresses; killed, they keep their tables, as they do in production.
const PLACE: Place = Place {
    suite: "pipeline",
    address: "127.0.0.61",
    jvm: "-Dcassandra.test.flush_local_schema_changes=true",
};
const NODES: usize = 3;
/// Not used by any other suite, nor the one behind it.
const BROKER_PORT: u16 = 19_392;
/// Split so slowly that every stage can be met: a partition of a megabyte and a half takes some seconds.
const SPLIT_BYTES_PER_SECOND: &str = "384KiB";
/// How long a detection may wait for its broker; then it is dropped.
const DELIVERED_WITHIN: &str = "delivery.timeout.ms=5000";
/// The node and the servers that are hit where it does not matter which.
const VICTIM_NODE: usize = 2;
/// How long any step may take until it is seen.
pub(crate) const SEEN_WITHIN: Duration = Duration::from_secs(240);
const LOOK_EVERY: Duration = Duration::from_millis(40);

/// Everything that runs.
pub(crate) struct Fleet {
    pub(crate) env: Env,
    cluster: OwnCluster,
    broker: OwnBroker,
    apis: [Mutex<OwnServer>; 2],
    workers: [Mutex<OwnServer>; 2],
    /// Of the servers that answer calls, in their order.
    pub(crate) clients: [Client; 2],
    _directory: TempDir,
}

fn settings(cluster: &OwnCluster, broker: &OwnBroker, roles: &str) -> Vec<(&'static str, String)> {
    let points: Vec<String> = (1..=NODES).map(|node| cluster.contact_point(node)).collect();
    vec![
        ("BRAID__STORE__BACKEND", "cassandra".to_owned()),
        ("BRAID__STORE__CASSANDRA__CONTACT_POINTS", points.join(",")),
        ("BRAID__QUEUE__BACKEND", "kafka".to_owned()),
        ("BRAID__QUEUE__KAFKA__BOOTSTRAP_SERVERS", broker.address()),
        ("BRAID__QUEUE__KAFKA__PROPERTIES", DELIVERED_WITHIN.to_owned()),
        ("BRAID__SERVER__ROLES", roles.to_owned()),
        ("BRAID__LIMITS__SPLIT_BYTES_PER_SECOND", SPLIT_BYTES_PER_SECOND.to_owned()),
    ]
}

impl Fleet {
    pub(crate) async fn start(env: &Env) -> Self {
        let cluster = OwnCluster::new(env, PLACE).await;
        let broker = OwnBroker::new(env, PLACE.suite, BROKER_PORT).await;
        tokio::join!(cluster.start(&["--nodes", "3"]), broker.start(&[]));
        cluster.say("three nodes and a broker answer");
        let directory = TempDir::new().unwrap();
        let start = |roles: &str| {
            let settings = settings(&cluster, &broker, roles);
            Mutex::new(OwnServer::start(env!("CARGO_BIN_EXE_braid"), directory.path() as &Path, &settings))
        };
        let apis = [start("api,slice_keeper"), start("api,slice_keeper")];
        let workers = [start("split_worker"), start("split_worker")];
        let clients = apis.each_ref().map(|api| Client::new(api.lock().unwrap().address()).unwrap());
        let fleet = Self { env: env.clone(), cluster, broker, apis, workers, clients, _directory: directory };
        fleet.say("two servers answer calls, two split");
        fleet
    }

    /// The server that is never hit.
    pub(crate) fn control(&self) -> &Client {
        let [_, control] = &self.clients;
        control
    }

    /// Detections that the servers have dropped since they were started.
    pub(crate) async fn dropped(&self) -> u64 {
        let mut dropped = 0;
        for client in &self.clients {
            let listed = within(&self.env, client.list_workers()).await;
            dropped +=
                listed.and_then(Result::ok).and_then(|listed| listed.queue).map_or(0, |queue| queue.dropped);
        }
        dropped
    }

    pub(crate) fn say(&self, step: &str) {
        self.cluster.say(step);
    }

    /// Where Kafka is.
    pub(crate) fn brokers(&self) -> String {
        self.broker.address()
    }

    /// Where a worker shows its metrics.
    pub(crate) fn worker_addresses(&self) -> [String; 2] {
        self.workers.each_ref().map(|worker| worker.lock().unwrap().address().to_owned())
    }

    /// Where a server listens, if it is among those that are known.
    pub(crate) async fn address_of(&self, server_id: &str) -> Option<String> {
        let listed = async || within(&self.env, self.control().list_workers()).await?.ok();
        let workers = self.until("a list of servers", listed).await.workers;
        workers.into_iter().find(|worker| worker.server_id == server_id).map(|worker| worker.address)
    }

    /// Takes the second worker away, as for an upgrade; where it was.
    pub(crate) fn stop_worker(&self) -> String {
        let [_, second] = &self.workers;
        let mut second = second.lock().unwrap();
        second.stop();
        second.address().to_owned()
    }

    /// And brings it back.
    pub(crate) fn start_worker(&self) {
        let [_, second] = &self.workers;
        second.lock().unwrap().start_again();
    }

    /// Hits a part. `owner` is the address of the worker that is at the split, for those who want that one.
    pub(crate) async fn hit(&self, fault: Fault, owner: Option<&str>) {
        let verb = fault.how.verb();
        self.say(&fault.to_string());
        match fault.part {
            Part::Node => self.cluster.order(verb, VICTIM_NODE).await,
            Part::Broker => self.broker.order(verb).await,
            Part::Worker => strike(self.worker(owner), fault.how),
            Part::Api => strike(self.api(), fault.how),
        }
    }

    /// Brings back what [`Self::hit`] has hit.
    pub(crate) async fn mend(&self, fault: Fault, owner: Option<&str>) {
        match (fault.part, fault.how) {
            (Part::Node, How::Kill) => {
                self.cluster.start(&["--node", &VICTIM_NODE.to_string()]).await;
            }
            (Part::Node, How::Pause) => self.cluster.order("resume", VICTIM_NODE).await,
            (Part::Broker, How::Kill) => self.broker.start(&[]).await,
            (Part::Broker, How::Pause) => self.broker.order("resume").await,
            (Part::Worker, how) => wake(self.worker(owner), how),
            (Part::Api, how) => wake(self.api(), how),
        }
        self.say(&format!("{}: mended", fault.part));
    }

    fn worker(&self, owner: Option<&str>) -> &Mutex<OwnServer> {
        let [first, second] = &self.workers;
        let is_second = owner.is_some_and(|owner| second.lock().unwrap().address() == owner);
        if is_second { second } else { first }
    }

    fn api(&self) -> &Mutex<OwnServer> {
        let [first, _] = &self.apis;
        first
    }

    /// Asks until the answer is there.
    pub(crate) async fn until<T>(&self, what: &str, ask: impl AsyncFn() -> Option<T>) -> T {
        let started = self.env.clock.boot();
        loop {
            if let Some(found) = ask().await {
                return found;
            }
            let waited = self.env.clock.boot().since(started);
            assert!(waited < SEEN_WITHIN, "never: {what}");
            self.env.clock.sleep(LOOK_EVERY).await;
        }
    }
}

fn strike(server: &Mutex<OwnServer>, how: How) {
    let mut server = server.lock().unwrap();
    match how {
        How::Kill => server.kill(),
        How::Pause => server.pause(),
    }
}

fn wake(server: &Mutex<OwnServer>, how: How) {
    let mut server = server.lock().unwrap();
    match how {
        How::Kill => server.start_again(),
        How::Pause => server.resume(),
    }
}
