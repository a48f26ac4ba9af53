//! kill -9 at random moments: everything acknowledged is there, nothing is doubled, torn or out of order.
//!
//! 20 kills in the suite; `BRAID_KILLS=200` for more, `BRAID_SEED` to repeat a run.

use env::Env;
use store::Store;
use store_embedded::{EmbeddedStore, Options};

use crate::support::{self, Acknowledged, Writer, check_writes, workload, writer_command};

const KILLS: u64 = 20;
/// A writer is killed after so many acknowledgements at most.
const ACKNOWLEDGEMENTS_MAX: u64 = 1_000;

fn from_env(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_acknowledged_is_lost_by_kill_9() {
    let kills = from_env("BRAID_KILLS").unwrap_or(KILLS);
    let seed = from_env("BRAID_SEED").unwrap_or_else(|| Env::system().random.below(1_000_000));
    println!("{kills} kills, BRAID_SEED={seed}");
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("data");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut lives: Vec<Acknowledged> = Vec::new();
    for life in 0..kills {
        lives.push(live_and_die(&directory, seed, life, random.u64(1..ACKNOWLEDGEMENTS_MAX)));
        let store = EmbeddedStore::open(&directory, Options::default(), Env::system()).await.unwrap();
        // Every life is checked right after its death and again two deaths later, all of them at the end.
        let from = if life + 1 == kills { 0 } else { life.saturating_sub(2) };
        for (checked, acknowledged) in (0..).zip(&lives).skip(usize::try_from(from).unwrap()) {
            check_writes(&store, seed, checked, acknowledged).await;
        }
        check_tables(&store, &lives).await;
        check_counter(&store, &lives).await;
        store.close().await;
    }
    let acknowledged: u64 = lives.iter().map(|life| life.lines).sum();
    println!("{acknowledged} acknowledgements over {kills} kills, none lost");
    assert!(acknowledged > 20 * kills, "the writers hardly wrote: {acknowledged}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_buffered_write_has_left_the_process_when_it_is_acknowledged() {
    const BATCHES: u64 = 7;
    let scratch = tempfile::tempdir().unwrap();
    for life in 0..5 {
        let mut command = writer_command(scratch.path(), 1, life);
        command.arg(BATCHES.to_string());
        let acknowledged = die_after(Writer::start(command), BATCHES);
        let store = EmbeddedStore::open(scratch.path(), Options::default(), Env::system()).await.unwrap();
        check_writes(&store, 1, life, &acknowledged).await;
        store.close().await;
    }
}

fn live_and_die(directory: &std::path::Path, seed: u64, life: u64, acknowledgements: u64) -> Acknowledged {
    die_after(Writer::start(writer_command(directory, seed, life)), acknowledgements)
}

fn die_after(mut writer: Writer, acknowledgements: u64) -> Acknowledged {
    let mut acknowledged = Acknowledged::default();
    while acknowledged.lines < acknowledgements {
        let line = writer.lines.next().expect("the writer ended before it was killed");
        acknowledged.take(&line.unwrap());
    }
    writer.child.kill().unwrap();
    writer.child.wait().unwrap();
    // What it said before it died counts too. A line is one write to the pipe, so none is cut short.
    writer.lines.map_while(Result::ok).for_each(|line| acknowledged.take(&line));
    acknowledged
}

async fn check_counter(store: &EmbeddedStore, lives: &[Acknowledged]) {
    let promised = lives.iter().filter_map(|life| life.swap).max().unwrap_or(0);
    let record = store.meta_get(&workload::counter_key()).await.unwrap();
    let value = record.map_or(0, |record| String::from_utf8(record.value.to_vec()).unwrap().parse().unwrap());
    // Each death may hide one swap that was done and not said.
    let hidden = lives.len() as u64;
    assert!(
        (promised..=promised + hidden).contains(&value),
        "counter is {value}, {promised} was acknowledged"
    );
}

async fn check_tables(store: &EmbeddedStore, lives: &[Acknowledged]) {
    let tables = store.list_tables().await.unwrap();
    for (life, acknowledged) in (0..).zip(lives) {
        for step in 0..=acknowledged.made.unwrap_or(0) {
            let table = workload::made_table(life, step);
            let kept = step.is_multiple_of(10);
            if kept && acknowledged.made.is_some_and(|made| step <= made) {
                let rows = support::read_all(store, &table, &workload::partition(life, 0)).await.unwrap();
                assert_eq!(rows.len(), workload::batch(1, life, 0, step).rows.len(), "{table}");
            }
            if !kept && acknowledged.dropped.is_some_and(|dropped| step <= dropped) {
                assert!(!tables.contains(&table), "{table} was dropped and is back");
            }
        }
    }
}
