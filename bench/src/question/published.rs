//! Is a partition of 500 MB read as well as the published figures say, once it is split?
//!
//! Published is that wide reads went from seconds to low double-digit milliseconds on average and to about 200 ms at the tail, and that a
//! partition of 500 MB is paged through where it used to time out. Here eight clients page through disjoint parts of such a
//! partition at the same time, 1,000 events a page, through a server: from the targets, and from the origin as control. The
//! strategy is the one that Braid chooses by itself.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use api::v1;
use engine::{ReadMode, SplitLayout, SplitStrategy};
use env::{Clock, SystemClock};
use model::{Interval, NamespaceName, Order, SeriesId};
use rpc::client::Client;
use store::Store;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::Question;
use super::split_read::{Found, WAYS};
use crate::divided::{Data, Divided, go};
use crate::embedded::Embedded;
use crate::harness::{
    Answer, Beside, Goal, Latency, Line, Percentile, Sample, Setting, Side, Unit, interleave, measure_in,
    micros_of,
};
use crate::kind::Kind;
use crate::remote::{Remote, Threads};
use crate::splitting::{open, without_throttle};
use crate::{crowd, progress, raw, wire, workload};

pub(crate) const QUESTION: Question = Question {
    name: "published",
    asks: "8 readers of a split partition of 500 MB by pages of 1,000 through gRPC, against its origin",
    answer,
};

const BYTES: u64 = 500_000_000;
const BYTES_QUICK: u64 = 40_000_000;
/// As requests name it.
pub(super) const NAMESPACE: &str = "bench";
const READERS: u64 = 8;
const PAGE_EVENTS: i32 = 1_000;
const PAGES: u64 = 60;
const PAGES_QUICK: u64 = 15;
const WARM_PAGES: u64 = 3;
const OFF: &str = "8 readers, off";
const ON: &str = "8 readers, on";
const MEAN_MAX_MS: f64 = 30.0;
const P99_MAX_MS: f64 = 200.0;

/// Where the partition lies: how to have the store in this process, and how to serve it. Never both at once.
pub(super) trait Kept {
    /// Does `work` with the store.
    fn with_store<T>(&self, work: impl FnOnce(Arc<dyn Store>, &Runtime) -> Result<T>) -> Result<T>;
    /// Brings what was written into the form that it has for long; what a reader of figures has to know of that.
    fn settle(&self) -> Result<String>;
    /// Starts a server over it.
    fn serve(&self) -> Result<Remote>;
}

/// In a directory of its own.
struct InDirectory(TempDir);

impl Kept for InDirectory {
    fn with_store<T>(&self, work: impl FnOnce(Arc<dyn Store>, &Runtime) -> Result<T>) -> Result<T> {
        let embedded = Embedded::open(self.0.path())?;
        let store: Arc<dyn Store> = Arc::new(embedded.run(async |store| Ok(store))?);
        let done = work(store, embedded.runtime());
        embedded.close();
        done
    }

    fn settle(&self) -> Result<String> {
        let embedded = Embedded::open(self.0.path())?;
        embedded.run(async |store| Ok(store.flush().await?))?;
        embedded.close();
        raw::settle(&raw::open(&self.0.path().join(raw::ENGINE_DIRECTORY))?);
        Ok("8 readers: everything was flushed, and compaction had settled".to_owned())
    }

    fn serve(&self) -> Result<Remote> {
        Remote::serve(self.0.path(), Threads::Two)
    }
}

fn answer(setting: &Setting) -> Result<Answer> {
    let found = measured(setting, &InDirectory(setting.directory()?), QUESTION.name)?;
    // There is one strategy here, so two columns are enough.
    let two = |line: Line| Line {
        rounds: line.rounds.into_iter().filter(|rounds| !rounds.is_empty()).collect(),
        ..line
    };
    let beside = Beside { ways: vec!["off", "on"], lines: found.lines.into_iter().map(two).collect() };
    let answer = Answer::new(QUESTION.name, Unit::Events, found.runs, &found.goals)?.beside(beside);
    Ok(found.notes.into_iter().fold(answer, Answer::note))
}

/// Writes the partition, splits it, and reads it both ways in turns.
pub(super) fn measured(setting: &Setting, kept: &impl Kept, question: &str) -> Result<Found> {
    let bytes = setting.size(BYTES, BYTES_QUICK);
    let partition = kept.with_store(|store, runtime| {
        runtime.block_on(async {
            let engine = open(&store, without_throttle()).await?;
            let at = (engine.clone(), store);
            let data = Data { kind: Kind::Marked, bytes, small_series: 0 };
            let how = (SplitStrategy::Auto, SplitLayout::Rows);
            let divided = Divided::write(at, NAMESPACE, how, data).await?;
            let parts = divided.parts(READERS)?;
            let series = divided.series.series.clone();
            let (events, targets) = (divided.events, divided.targets);
            drop(divided);
            engine.leave().await?;
            Ok(Partition { series, parts, events, targets })
        })
    })?;
    let (settled, pages) = (kept.settle()?, setting.size(PAGES, PAGES_QUICK));
    let seen = [RefCell::new(Rounds::default()), RefCell::new(Rounds::default())];
    let [off, on] = &seen;
    let run = |mode, kind: &RefCell<Rounds>| {
        let (sample, seen) = partition.read(kept, mode, pages)?;
        kind.borrow_mut().keep(&seen);
        Ok(sample)
    };
    let sides = vec![Side::new(OFF, || run(ReadMode::Off, off)), Side::new(ON, || run(ReadMode::On, on))];
    let runs = interleave(setting.rounds, sides, progress::run(question, Unit::Events))?;
    let [off, on] = seen.map(RefCell::into_inner);
    let line = |what: &str, off: Vec<f64>, on: Vec<f64>| {
        let mut rounds = vec![Vec::new(); WAYS.len()];
        // The strategy that is chosen by itself is time_range.
        for (way, figures) in [(0, off), (2, on)] {
            if let Some(cell) = rounds.get_mut(way) {
                *cell = figures;
            }
        }
        Line { what: format!("8 readers, pages of 1,000, {what}"), rounds }
    };
    let micros = |side, percentile| micros_of(&runs, side, percentile);
    let lines = vec![
        line("mean us", thousand(&off.mean_ms), thousand(&on.mean_ms)),
        line("p50 us", micros(OFF, Percentile::P50), micros(ON, Percentile::P50)),
        line("p99 us", micros(OFF, Percentile::P99), micros(ON, Percentile::P99)),
    ];
    Ok(Found {
        lines,
        goals: goals(&off, on),
        notes: [partition.notes(setting, pages), vec![settled]].concat(),
        runs,
    })
}

fn goals(off: &Rounds, on: Rounds) -> Vec<Goal> {
    vec![
        Goal::Figures { what: "split, mean of a page, ms", values: on.mean_ms, at_most: MEAN_MAX_MS },
        Goal::Figures { what: "split, p99 of a page, ms", values: on.p99_ms, at_most: P99_MAX_MS },
        Goal::Figures { what: "split, pages that ran out of time", values: on.late, at_most: 0.0 },
        Goal::Shown { what: "origin, mean of a page, ms".to_owned(), values: off.mean_ms.clone() },
        Goal::Shown { what: "origin, p99 of a page, ms".to_owned(), values: off.p99_ms.clone() },
        Goal::Shown { what: "origin, pages that ran out of time".to_owned(), values: off.late.clone() },
    ]
}

fn thousand(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value * 1e3).collect()
}

/// What is kept of the rounds of a side.
#[derive(Default)]
struct Rounds {
    mean_ms: Vec<f64>,
    p99_ms: Vec<f64>,
    late: Vec<f64>,
}

impl Rounds {
    fn keep(&mut self, seen: &Seen) {
        let sum: Duration = seen.calls.iter().sum();
        self.mean_ms.push(sum.as_secs_f64() * 1e3 / seen.calls.len() as f64);
        self.p99_ms.extend(Latency::of(seen.calls.clone()).map(|latency| latency.p99.as_secs_f64() * 1e3));
        self.late.push(seen.late as f64);
    }
}

/// What the readers of a run saw.
#[derive(Clone, Debug, Default)]
struct Seen {
    calls: Vec<Duration>,
    /// Answers that were partial, because their time was over.
    late: u64,
}

/// The partition.
struct Partition {
    series: SeriesId,
    parts: Vec<Interval>,
    events: u64,
    targets: usize,
}

impl Partition {
    fn notes(&self, setting: &Setting, pages: u64) -> Vec<String> {
        let megabytes = self.events * workload::ROW_LOGICAL_BYTES / 1_000_000;
        let size = if setting.quick { ", less than the 500 MB of the goal" } else { "" };
        vec![
            format!(
                "8 readers: {megabytes} MB{size}, {} events in {} targets; {pages} pages each, following tokens through disjoint parts, newest first",
                self.events, self.targets
            ),
            "8 readers: clients share the server's cores; a page is timed as its client has it; the server is just started and each has read 3 pages"
                .to_owned(),
        ]
    }

    /// Serves the partition in a mode and reads it.
    fn read(&self, kept: &impl Kept, mode: ReadMode, pages: u64) -> Result<(Sample, Seen)> {
        kept.with_store(|store, runtime| {
            runtime.block_on(async {
                let engine = open(&store, without_throttle()).await?;
                go(&engine, &NamespaceName::new(NAMESPACE)?, mode).await?;
                Ok(engine.leave().await?)
            })
        })?;
        let remote = kept.serve()?;
        let clients = (0..READERS).map(|_| remote.client()).collect::<Result<Arc<[Client]>>>()?;
        self.pass(&remote, &clients, mode, WARM_PAGES).context("warming up")?;
        let mut seen = Seen::default();
        let sample = measure_in(remote.process(), || {
            seen = self.pass(&remote, &clients, mode, pages)?;
            Ok(seen.calls.len() as u64 * PAGE_EVENTS.unsigned_abs() as u64)
        })?;
        drop(clients);
        remote.stop()?;
        Ok((Sample { latency: Latency::of(seen.calls.clone()), ..sample }, seen))
    }

    fn pass(&self, remote: &Remote, clients: &Arc<[Client]>, mode: ReadMode, pages: u64) -> Result<Seen> {
        let all = Arc::new(Mutex::new(Seen::default()));
        let reader = |number: u64| {
            let (clients, all) = (Arc::clone(clients), Arc::clone(&all));
            let request = self.request(number);
            async move {
                let client = clients.get(usize::try_from(number)?).context("no such client")?;
                let seen = follow(client, request?, mode, pages).await?;
                let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                all.calls.extend(&seen.calls);
                all.late += seen.late;
                Ok(seen.calls.len() as u64)
            }
        };
        remote.run(crowd::work(READERS, reader))?;
        let seen = all.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(seen)
    }

    fn request(&self, reader: u64) -> Result<v1::ReadEventRecordsRequest> {
        let part = self.parts.get(usize::try_from(reader)?).context("no such part")?;
        let time_interval = Some(wire::time_interval(*part)?);
        Ok(v1::ReadEventRecordsRequest {
            time_interval,
            ..wire::read(&self.series, Order::NewestFirst, PAGE_EVENTS)?
        })
    }
}

/// Follows the tokens over so many pages, from the start again at the end.
async fn follow(
    client: &Client,
    mut request: v1::ReadEventRecordsRequest,
    mode: ReadMode,
    pages: u64,
) -> Result<Seen> {
    let mut seen = Seen::default();
    for _ in 0..pages {
        let start = SystemClock.boot();
        let page = client.read(request.clone()).await?;
        seen.calls.push(SystemClock.boot().since(start));
        seen.late += u64::from(page.partial.is_some());
        let routes = page.response_context.iter().filter_map(|context| context.routes);
        let targets: i64 = routes.map(|routes| routes.target).sum();
        ensure!((targets > 0) == (mode == ReadMode::On), "a page was read from elsewhere: {targets} targets");
        request.page_token = page.next_page_token;
    }
    Ok(seen)
}
