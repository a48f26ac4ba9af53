//! Does packing relieve a replica set that is hot, because all of a wide partition is its work?
//!
//! Three nodes of their own, everything kept once, each node held to a part of a core: so the wide partition is the work of one small node.
//! What it can do is found by the driver in a closed loop. Then pages are asked for at random times, in an open loop, with more than
//! that: by the driver from the partition, and through a server from targets of rows and from packed ones. Latency counts from the
//! intended start, and whatever did not come within five seconds is lost.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use engine::ReadMode;
use env::Env;
use store::Store;
use store_cassandra::CassandraStore;
use tokio::runtime::Builder;

use super::Question;
use crate::arrivals::arrivals;
use crate::cassandra::{Elsewhere, Home, Trio, beside};
use crate::divided::{Data, Divided};
use crate::harness::{Answer, Goal, Percentile, Process, Setting, Side, Unit, interleave, micros_of};
use crate::kind::Kind;
use crate::packed::{self, NAMES};
use crate::progress;
use crate::served::{PATIENCE, Page, Served, Way};
use crate::splitting::{open, without_throttle};

pub(crate) const QUESTION: Question = Question {
    name: "cassandra-hot",
    asks: "pages of a wide partition on one hot node of three, at more than it can give, from packed targets, against the partition",
    answer: |setting| beside(QUESTION.name, Unit::Calls, || answer(setting)),
};

const BYTES: u64 = 80_000_000;
const BYTES_QUICK: u64 = 20_000_000;
/// Thousandths of a core that a node has.
const CORE: u32 = 400;
/// Readers of the closed loop, and pages of each.
const READERS: u64 = 12;
const EACH: u64 = 40;
const EACH_QUICK: u64 = 10;
/// Pages of each before nodes are held: code that was never run is slow for another reason.
const WARM: u64 = 200;
const WARM_QUICK: u64 = 20;
const CLIENTS: u64 = 12;
/// How long requests come, in seconds.
const LENGTH: u64 = 10;
const LENGTH_QUICK: u64 = 3;
/// So many times what the partition can give.
const LOADS: [(f64, &str); 2] = [(1.2, "1.2x"), (2.0, "2x")];
const PAGES: [(Page, &str); 2] = [(Page::Newest, "newest 1,000"), (Page::Narrow, "narrow 1,000")];
const WAYS: [Way; 3] = [Way::Driver, Way::Rows, Way::Packed];
const P99_MAX_MS: f64 = 50.0;
const SEED: u64 = 20_261_118;
/// A node that was asked for too much goes on for a while: pages are read until so many in a row are as fast as these.
const CALM: Duration = Duration::from_millis(100);
const CALM_PAGES: u32 = 5;
const CALM_TRIES: u32 = 300;

/// Requests that were lost, in percent, and that came in time, a second; by side.
type Seen = RefCell<BTreeMap<&'static str, Vec<(f64, f64)>>>;

fn answer(setting: &Setting) -> Result<Answer> {
    let mut trio = Trio::start(setting)?;
    let elsewhere = Elsewhere {
        node: trio.first,
        directory: trio.directory().to_path_buf(),
        nodes: trio.processes.len(),
    };
    Home::with_in(setting, Some(elsewhere), |home| {
        let [rows, chunks] = write(setting, home)?;
        let served = Served::start(home, &rows, CLIENTS)?;
        warm(setting, &served).context("warming up")?;
        trio.hold(CORE)?;
        let answer = measured(setting, &served, &trio.processes)?.note(format!(
            "{}: {} events, {} MB; {} targets of rows, {} targets that are {}",
            rows.kind.name(),
            rows.events,
            rows.bytes() / 1_000_000,
            rows.targets,
            chunks.targets,
            chunks.layout
        ));
        served.stop()?;
        Ok(answer)
    })
}

/// Writes both namespaces and lets them read from targets.
fn write(setting: &Setting, home: &Home) -> Result<[Arc<Divided>; 2]> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let data = Data { kind: Kind::Small, bytes: setting.size(BYTES, BYTES_QUICK), small_series: 0 };
    let both = runtime.block_on(async {
        let store: Arc<dyn Store> = Arc::new(CassandraStore::connect(&home.options(), Env::system()).await?);
        let engine = open(&store, without_throttle()).await?;
        let both = packed::write(&engine, &store, data).await?;
        for divided in &both {
            divided.go(ReadMode::On).await?;
        }
        engine.leave().await?;
        Ok::<_, anyhow::Error>(both)
    })?;
    home.compact(&NAMES)?;
    Ok(both)
}

fn warm(setting: &Setting, served: &Served) -> Result<()> {
    for (way, (page, _)) in WAYS.into_iter().flat_map(|way| PAGES.map(|page| (way, page))) {
        served.pages(way, page, READERS, setting.size(WARM, WARM_QUICK))?;
    }
    Ok(())
}

fn side(page: &str, load: &str, way: Way) -> &'static str {
    format!("{page}, {load}, {}", way.name()).leak()
}

fn measured(setting: &Setting, served: &Served, nodes: &[Process]) -> Result<Answer> {
    let each = setting.size(EACH, EACH_QUICK);
    let (mut goals, mut capacity) = (Vec::new(), Vec::new());
    for (page, name) in PAGES {
        for way in WAYS {
            let sample = served.pages(way, page, READERS, each)?;
            let per_second = (READERS * each) as f64 / sample.wall.as_secs_f64();
            let what = format!("{name}, closed loop, {}, pages/s", way.name());
            goals.push(Goal::Shown { what, values: vec![per_second] });
            if way == Way::Driver {
                capacity.push((page, name, per_second));
            }
        }
    }
    let (seen, length) = (Seen::default(), Duration::from_secs(setting.size(LENGTH, LENGTH_QUICK)));
    let mut sides = Vec::new();
    for (page, name, per_second) in &capacity {
        for ((load, word), way) in LOADS.into_iter().flat_map(|load| WAYS.map(|way| (load, way))) {
            let (side, seen, page) = (side(name, word, way), &seen, *page);
            let times = arrivals(per_second * load, length, SEED);
            sides.push(Side::new(side, move || {
                calm(served, page)?;
                let (sample, became) = served.arrive(way, page, &times)?;
                let lost = became.lost as f64 * 100.0 / became.took.len().max(1) as f64;
                let came = became.in_time as f64 / length.as_secs_f64();
                seen.borrow_mut().entry(side).or_default().push((lost, came));
                Ok(sample)
            }));
        }
    }
    let runs = interleave(setting.rounds, sides, progress::run(QUESTION.name, Unit::Calls))?;
    let seen = seen.into_inner();
    for (name, word, way) in PAGES
        .iter()
        .flat_map(|(_, name)| LOADS.map(|(_, word)| (name, word)))
        .flat_map(|(name, word)| WAYS.map(|way| (name, word, way)))
    {
        let side = side(name, word, way);
        let of = |part: fn(&(f64, f64)) -> f64| {
            seen.get(side).into_iter().flatten().map(part).collect::<Vec<f64>>()
        };
        let p99: Vec<f64> =
            micros_of(&runs, side, Percentile::P99).into_iter().map(|micros| micros / 1e3).collect();
        // The worst round counts: nothing is to be lost in any.
        let lost = of(|seen| seen.0).into_iter().fold(0.0, f64::max);
        goals.push(judged(format!("{side}, lost %"), vec![lost], (way == Way::Packed).then_some(0.0)));
        goals.push(judged(format!("{side}, p99 ms"), p99, (way == Way::Packed).then_some(P99_MAX_MS)));
        goals.push(Goal::Shown { what: format!("{side}, in time/s"), values: of(|seen| seen.1) });
    }
    let offered: Vec<String> =
        capacity.iter().map(|(_, name, per_second)| format!("{name}: 1x is {per_second:.0}/s")).collect();
    Ok(Answer::new(QUESTION.name, Unit::Calls, runs, &goals)?
        .note(format!("{} nodes with {CORE} thousandths of a core each, everything kept once; {}", nodes.len(), offered.join(", ")))
        .note(format!("1x: the driver on the partition, {READERS} readers in a closed loop; requests come for {} s, the same on all sides", length.as_secs()))
        .note(format!("lost: failed or not there after {} s, which counts as so long; CPU is that of server or driver and all nodes", PATIENCE.as_secs()))
        .note("server and client have what the nodes leave; pages are not decoded on any side"))
}

fn judged(what: String, values: Vec<f64>, at_most: Option<f64>) -> Goal {
    match at_most {
        Some(at_most) => Goal::Figures { what: what.leak(), values, at_most },
        None => Goal::Shown { what, values },
    }
}

/// Waits until the node of the partition has done what it was asked before.
fn calm(served: &Served, page: Page) -> Result<()> {
    let mut fast = 0;
    for _ in 0..CALM_TRIES {
        let took = served.pages(Way::Driver, page, 1, 1).map(|sample| sample.wall);
        fast = if took.is_ok_and(|took| took < CALM) { fast + 1 } else { 0 };
        if fast == CALM_PAGES {
            return Ok(());
        }
    }
    anyhow::bail!("the node of the partition does not become calm")
}
