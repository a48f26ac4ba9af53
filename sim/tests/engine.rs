//! The real engine in the world: it runs, it survives crashes at any await, and a run of it repeats.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{Engine, EventInput, ItemInput, NamespaceSpec, ReadRequest, WriteRequest};
use env::Random;
use model::{EventId, Interval, NamespaceName, Order, SeriesId};
use sim::cluster::{Faults, Options};
use sim::world::Hardware;
use sim::{Cluster, Machine, World};

const SECOND: Duration = Duration::from_secs(1);
const EVENTS: u64 = 150;
const SEEDS: u64 = 30;

#[derive(Debug, PartialEq, Eq)]
struct Ending {
    hash: u64,
    acknowledged: usize,
    crashes: u64,
}

fn name() -> NamespaceName {
    NamespaceName::new("orders").expect("legal")
}

fn text(id: &EventId) -> String {
    String::from_utf8_lossy(id.as_bytes()).into_owned()
}

/// A server: the machine, and the engine that runs on it while it does.
struct Server {
    machine: Machine,
    cluster: Cluster,
    engine: Option<Engine>,
    crashes: u64,
}

impl Server {
    /// The engine; none where it could not be opened this time.
    async fn engine(&mut self) -> Option<Engine> {
        if !self.machine.is_running() {
            self.machine.restart();
            self.engine = None;
            self.crashes += 1;
        }
        if self.engine.is_none() {
            let opened = Engine::open(Arc::new(self.cluster.clone()), self.machine.env());
            self.engine = self.machine.call(opened).await.ok().and_then(Result::ok);
        }
        self.engine.clone()
    }

    /// Writes one event; whether that was acknowledged.
    async fn write(&mut self, id: u64) -> bool {
        let Some(engine) = self.engine().await else { return false };
        let wall = self.machine.env().clock.wall();
        let item =
            ItemInput { key: "k".to_owned(), value: Bytes::from(id.to_string()), ..ItemInput::default() };
        let event = EventInput {
            series: "s".to_owned(),
            time: Some((wall / 1_000_000_000, 0)),
            event_id: format!("{id:04}"),
            items: vec![item],
        };
        let request = WriteRequest { namespace: name(), events: vec![event] };
        let answer = self.machine.call(async move { engine.write_synced(request).await }).await;
        matches!(answer, Ok(Ok(answer)) if answer.accepted == 1)
    }

    /// The ids of everything, in the order in which it was read.
    async fn read(&mut self) -> Vec<String> {
        let engine = self.engine().await.expect("a calm store opens");
        let mut request = ReadRequest {
            namespace: name(),
            series: vec![SeriesId::new("s").expect("legal")],
            interval: Interval::ALL,
            query: None,
            max_latency: None,
            deadline: None,
            page_records: 7,
            order: Order::OldestFirst,
            resume: None,
            total_limit: None,
        };
        let mut found = Vec::new();
        loop {
            let (engine, page) = (engine.clone(), request.clone());
            let page = self.machine.call(async move { engine.read(page).await }).await;
            let page = page.expect("it runs").expect("a calm store reads");
            found.extend(page.events.iter().map(|event| text(&event.to_event_id())));
            request.resume = page.next;
            if request.resume.is_none() {
                return found;
            }
        }
    }
}

async fn scenario(world: World) -> Ending {
    let cluster = world.cluster(Options::default());
    let machine = world.machine("server", Hardware { wall_error: 0, rate_ppm: 200 });
    let mut server = Server { machine, cluster, engine: None, crashes: 0 };
    let engine = server.engine().await.expect("opens");
    let made = async move { engine.create_namespace(&name(), NamespaceSpec::default()).await };
    server.machine.call(made).await.expect("it runs").expect("made");

    server.cluster.set_faults(Faults::stormy());
    let (random, mut acknowledged) = (world.random("scenario"), BTreeSet::new());
    for id in 0..EVENTS {
        match random.below(8) {
            0 => server.machine.crash_after(random.below(30)),
            1 => server.machine.pause(Duration::from_millis(random.below(3_000))),
            2 => {
                let replica = usize::try_from(random.below(3)).unwrap_or(0);
                server.cluster.set_up(replica, random.below(3) > 0);
            }
            _ => {}
        }
        if server.write(id).await {
            acknowledged.insert(format!("{id:04}"));
        }
        world.clock().sleep(Duration::from_millis(random.below(1_000))).await;
    }
    server.machine.restart();
    server.cluster.calm();
    world.clock().sleep(2 * SECOND).await;
    let found = server.read().await;
    let once: BTreeSet<&String> = found.iter().collect();
    assert_eq!(once.len(), found.len(), "each event comes once");
    for id in &acknowledged {
        assert!(once.contains(id), "{id} was acknowledged and is lost");
    }
    Ending { hash: world.trace().hash(), acknowledged: acknowledged.len(), crashes: server.crashes }
}

#[test]
fn what_the_engine_acknowledged_is_read_after_the_storm_and_a_seed_repeats() {
    let (mut acknowledged, mut crashes) = (0, 0);
    for seed in 0..SEEDS {
        let limit = |world: World| async move { world.within(3_600 * SECOND, scenario(world.clone())).await };
        let ending = World::run(seed, limit).expect("no task panics").expect("it ends");
        if seed % 10 == 0 {
            let again = World::run(seed, limit).expect("no task panics").expect("it ends");
            assert_eq!(again, ending, "seed {seed}");
        }
        acknowledged += ending.acknowledged;
        crashes += ending.crashes;
    }
    println!("{acknowledged} events acknowledged, {crashes} crashes");
    assert!(acknowledged > 1_000 && crashes > 100, "{acknowledged} acknowledged, {crashes} crashes");
}
