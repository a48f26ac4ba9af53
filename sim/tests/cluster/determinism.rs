//! The same seed gives the same run, event by event: servers that crash and stop, clocks that jump, a store in a storm.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use env::{Env, Random};
use futures::future::join_all;
use model::TableRef;
use sim::cluster::{Faults, Options};
use sim::world::Hardware;
use sim::{Cluster, Machine, World};
use store::{Durability, MetaVersion, Store};

use crate::fixture::{batch, key, make_table, put, run, scan};

const SERVERS: u64 = 4;
const ROUNDS: u64 = 120;

/// What a run leaves: the trace, and how much of it there is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ending {
    hash: u64,
    events: u64,
    acknowledged: u64,
}

/// A server's work: several things at once, in an order that its own numbers choose.
async fn serve(env: Env, cluster: Cluster, table: TableRef, acknowledged: Arc<AtomicU64>) {
    for round in 0..ROUNDS {
        let write = async {
            let time = i64::try_from(env.random.below(500)).unwrap_or(0);
            if cluster.upsert(batch(&table, &[time]), Durability::Synced).await.is_ok() {
                acknowledged.fetch_add(1, Ordering::Relaxed);
            }
        };
        let read = async {
            let _page = cluster.scan(scan(&table)).await;
        };
        let change = async {
            let key = key(if round % 2 == 0 { "a" } else { "b" });
            if let Ok(record) = cluster.meta_get(&key).await {
                let expected: Option<MetaVersion> = record.map(|record| record.version);
                let _outcome = cluster.meta_cas(&key, expected, put("x")).await;
            }
        };
        tokio::join!(biased; write, read, change);
        env.clock.sleep(Duration::from_millis(env.random.below(400))).await;
    }
}

fn start(machine: &Machine, cluster: &Cluster, table: &TableRef, acknowledged: &Arc<AtomicU64>) {
    let env = machine.env();
    let work = serve(env.clone(), cluster.clone(), table.clone(), Arc::clone(acknowledged));
    env.spawn.task("server", Box::pin(work));
}

/// Something happens to a machine or to the store.
fn torment(random: &dyn Random, cluster: &Cluster, machine: &Machine) -> bool {
    let replica = usize::try_from(random.below(4)).unwrap_or(0);
    match random.below(9) {
        0 => machine.pause(Duration::from_millis(random.below(20_000))),
        1 => machine.jump_wall(i64::try_from(random.below(1 << 40)).unwrap_or(0) - (1 << 39)),
        2 => machine.set_rate(i32::try_from(random.below(30_000)).unwrap_or(0) - 15_000),
        3 => machine.restart(),
        4 => {
            cluster.set_up(replica, false);
        }
        5 | 6 => {
            cluster.set_up(0, true);
            cluster.set_up(1, true);
            cluster.set_up(2, true);
        }
        7 => {
            cluster.set_slowness(replica, u32::try_from(random.below(100)).unwrap_or(1));
        }
        _ => cluster.meta_outage(random.below(2) == 0),
    }
    !machine.tasks().is_empty()
}

async fn storm(world: World) -> Ending {
    let cluster = world.cluster(Options { faults: Faults::stormy(), ..Options::default() });
    cluster.set_faults(Faults::none());
    let table = make_table(&cluster).await;
    cluster.set_faults(Faults::stormy());
    let (random, acknowledged) = (world.random("torment"), Arc::new(AtomicU64::new(0)));
    let machines: Vec<Machine> = (0..SERVERS)
        .map(|n| {
            let wall_error = i64::try_from(random.below(1 << 36)).unwrap_or(0);
            world.machine(&format!("server {n}"), Hardware { wall_error, rate_ppm: 50 })
        })
        .collect();
    machines.iter().for_each(|machine| start(machine, &cluster, &table, &acknowledged));
    for _ in 0..60 {
        world.clock().sleep(Duration::from_millis(random.below(1_000))).await;
        let machine = machines.get(usize::try_from(random.below(SERVERS)).unwrap_or(0));
        if let Some(machine) = machine
            && !torment(&*random, &cluster, machine)
        {
            start(machine, &cluster, &table, &acknowledged);
        }
    }
    cluster.calm();
    let reads = machines.iter().map(|machine| {
        let (cluster, table) = (cluster.clone(), table.clone());
        machine.call(async move { cluster.scan(scan(&table)).await.is_ok() })
    });
    let answers = world.within(Duration::from_secs(60), join_all(reads)).await.expect("liveness");
    assert!(answers.iter().all(|answer| *answer == Ok(true)), "{answers:?}");
    let trace = world.trace();
    Ending { hash: trace.hash(), events: trace.events(), acknowledged: acknowledged.load(Ordering::Relaxed) }
}

#[test]
fn a_seed_repeats_and_another_differs() {
    let mut hashes: Vec<u64> = Vec::new();
    for seed in 0..8 {
        let ending = run(seed, storm);
        assert_eq!(run(seed, storm), ending, "seed {seed}");
        assert!(ending.events > 500 && ending.acknowledged > 20, "seed {seed}: {ending:?}");
        hashes.push(ending.hash);
    }
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 8);
}

#[test]
fn a_seed_repeats_on_other_threads() {
    let here = run(5, storm);
    let runs: Vec<Ending> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..2).map(|_| scope.spawn(|| run(5, storm))).collect();
        runs.into_iter().map(|run| run.join().expect("runs")).collect()
    });
    assert_eq!(runs, [here.clone(), here]);
}
