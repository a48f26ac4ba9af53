//! What do reads of a wide partition gain by its split, and what do they lose?
//!
//! The same rows lie in two namespaces, split by the hash of the event id in one and by time in the other. They are read from the
//! origin (off) and from the targets, in every way in which a client can: the newest page, a narrow range, all of it, a search
//! that hardly anything matches, a count; and small series are read while somebody drains the wide one. Whoever wants all of a
//! wide partition can also read disjoint ranges of it at once, without any split: that is the second control. The engine is
//! called in this process.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use engine::{ReadMode, SplitLayout, SplitStrategy};
use model::SeriesId;
use store::Store;
use tokio::runtime::Runtime;

use super::Question;
use super::split::opened;
use crate::divided::{Data, Divided};
use crate::harness::{
    Answer, Beside, Goal, Latency, Line, Percentile, Process, Runs, Sample, Setting, Side, Unit, interleave,
    measure, micros_of,
};
use crate::kind::Kind;
use crate::meanwhile::meanwhile;
use crate::series::{All, DRAIN_PAGE};
use crate::splitting::{open, without_throttle};
use crate::{progress, small};

pub(crate) const QUESTION: Question = Question {
    name: "split-read",
    asks: "reads of a wide partition of the embedded store from the targets of its split, against its origin",
    answer,
};

const BYTES: u64 = 64_000_000;
const BYTES_QUICK: u64 = 20_000_000;
const SMALL_SERIES: u64 = 200;
const FIRST_PAGE: usize = 100;
const NARROW: usize = 1_000;
/// Readers of the second control.
const READERS: u64 = 4;

/// The columns of the table, the control first.
pub(super) const WAYS: [&str; 4] = ["off", "event_bucket", "time_range", "off, 4 readers"];
/// Namespaces of the strategies.
pub(super) const NAMES: [&str; 2] = ["by_hash", "by_time"];
const OFF: usize = 0;
const TIME_RANGE: usize = 2;
const AT_ONCE: usize = 3;

/// How many reads a run has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reads {
    pub(super) first_pages: u64,
    pub(super) narrow: u64,
    pub(super) small: u64,
}

const READS: Reads = Reads { first_pages: 2_000, narrow: 400, small: 5_000 };
const READS_QUICK: Reads = Reads { first_pages: 200, narrow: 50, small: 500 };

/// What is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    FirstPage,
    Narrow,
    All(All),
    Others,
}

/// A way of reading, what its lines and its sides begin with, and how many of the ways there are.
struct Reading {
    work: Work,
    what: &'static str,
    side: &'static str,
    ways: usize,
}

const READINGS: [Reading; 6] = [
    Reading { work: Work::FirstPage, what: "newest page of 100", side: "newest", ways: 3 },
    Reading { work: Work::Narrow, what: "1,000 of a narrow range", side: "narrow", ways: 3 },
    Reading { work: Work::All(All::Events), what: "drain", side: "drain", ways: 4 },
    Reading { work: Work::All(All::Marked), what: "search", side: "search", ways: 4 },
    Reading { work: Work::All(All::Count), what: "count", side: "count", ways: 4 },
    Reading { work: Work::Others, what: "others while it is drained", side: "others", ways: 3 },
];

/// What the columns are called, the control first, and what tells sides from those of another run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ways {
    pub(super) columns: [&'static str; 4],
    pub(super) suffix: &'static str,
}

impl Ways {
    /// What a side is called.
    pub(super) fn side(&self, reading: &str, way: usize) -> &'static str {
        let column = self.columns.get(way).copied().unwrap_or_default();
        format!("{reading}, {column}{}", self.suffix).leak()
    }
}

/// What was found out, in parts of an answer.
#[derive(Default)]
pub(super) struct Found {
    pub(super) runs: Vec<Runs>,
    pub(super) goals: Vec<Goal>,
    pub(super) lines: Vec<Line>,
    pub(super) notes: Vec<String>,
}

impl Found {
    pub(super) fn concluded(self, question: &'static str, ways: [&'static str; 4]) -> Result<Answer> {
        let beside = Beside { ways: ways.to_vec(), lines: self.lines };
        let answer = Answer::new(question, Unit::Events, self.runs, &self.goals)?.beside(beside);
        Ok(self.notes.into_iter().fold(answer, Answer::note))
    }
}

fn answer(setting: &Setting) -> Result<Answer> {
    let reads = if setting.quick { READS_QUICK } else { READS };
    opened(setting, |store, runtime| {
        let both = write(setting, store, runtime)?;
        let ways = Ways { columns: WAYS, suffix: "" };
        let both = Both { runtime, both: &both, reads, ways };
        both.measured(setting, QUESTION.name)?.concluded(QUESTION.name, WAYS)
    })
}

/// Writes the series twice, and splits it by either strategy.
pub(super) fn write(
    setting: &Setting,
    store: Arc<dyn Store>,
    runtime: &Runtime,
) -> Result<[Arc<Divided>; 2]> {
    let bytes = setting.size(BYTES, BYTES_QUICK);
    runtime.block_on(async {
        let engine = open(&store, without_throttle()).await?;
        let [hash, time] = NAMES;
        let at = || (engine.clone(), Arc::clone(&store));
        // What cutting alone gives: no other layout.
        let how = |strategy| (strategy, SplitLayout::Rows);
        let data = Data { kind: Kind::Marked, bytes, small_series: SMALL_SERIES };
        let by_hash = Divided::write(at(), hash, how(SplitStrategy::EventBucket), data).await?;
        let by_time = Divided::write(at(), time, how(SplitStrategy::TimeRange), data).await?;
        ensure!(by_hash.events == by_time.events, "the namespaces do not hold the same");
        Ok([Arc::new(by_hash), Arc::new(by_time)])
    })
}

/// The series, split by either strategy, and who reads it.
pub(super) struct Both<'a> {
    pub(super) runtime: &'a Runtime,
    pub(super) both: &'a [Arc<Divided>; 2],
    pub(super) reads: Reads,
    pub(super) ways: Ways,
}

impl Both<'_> {
    /// Reads in every way, in turns.
    pub(super) fn measured(&self, setting: &Setting, question: &str) -> Result<Found> {
        let asked = &small::asked(SMALL_SERIES, self.reads.small)?;
        let sides = || {
            READINGS.iter().flat_map(move |reading| {
                (0..reading.ways).map(move |way| {
                    let side = self.ways.side(reading.side, way);
                    let run = move || {
                        self.run(reading.work, way, asked).with_context(|| format!("reading `{side}`"))
                    };
                    Side::new(side, run)
                })
            })
        };
        for mut side in sides() {
            (side.run)().context("warming up")?;
        }
        let runs = interleave(setting.rounds, sides().collect(), progress::run(question, Unit::Events))?;
        let lines = READINGS.iter().flat_map(|reading| lines(reading, self.ways, &runs)).collect();
        Ok(Found { lines, notes: self.notes(), goals: Vec::new(), runs })
    }

    fn notes(&self) -> Vec<String> {
        let [first, second] = self.both;
        let [off, one, other, at_once] = self.ways.columns;
        vec![
            format!(
                "{} events of {} in one partition: {} targets {one}, {} targets {other}; all were read before",
                first.events,
                first.kind.name(),
                first.targets,
                second.targets
            ),
            format!(
                "{off}: mode off, the origin; {one} and {other}: mode on, the targets; in brackets how fast that is where {off} is 1"
            ),
            format!(
                "{at_once}: as many at once over disjoint ranges of the origin, unordered; {DRAIN_PAGE} events a page"
            ),
            format!("search: finds {} events", first.marked()),
            format!(
                "newest: {} reads a run; narrow: {} ranges at random places; others: {} reads of 100 events of small series",
                self.reads.first_pages, self.reads.narrow, self.reads.small
            ),
        ]
    }

    fn run(&self, work: Work, way: usize, asked: &[SeriesId]) -> Result<Sample> {
        let [hash, time] = self.both;
        // The rows are the same in both; off reads one of the origins.
        let divided = if way == OFF || way == TIME_RANGE || way == AT_ONCE { time } else { hash };
        let mode = if way == OFF || way == AT_ONCE { ReadMode::Off } else { ReadMode::On };
        self.runtime.block_on(divided.go(mode))?;
        let sample = match work {
            Work::FirstPage => {
                let whole = vec![divided.whole()?; usize::try_from(self.reads.first_pages)?];
                self.pages(divided, &whole, FIRST_PAGE, mode)
            }
            Work::Narrow => {
                let stretches = divided.stretches(self.reads.narrow, NARROW as u64)?;
                self.pages(divided, &stretches, NARROW, mode)
            }
            Work::All(what) => self.all(divided, what, way, mode),
            Work::Others => self.others(divided, asked, mode),
        };
        divided.leased()?;
        sample
    }

    fn pages(
        &self,
        divided: &Divided,
        intervals: &[model::Interval],
        records: usize,
        mode: ReadMode,
    ) -> Result<Sample> {
        let mut calls = Vec::new();
        let sample = measure(|| {
            let given = self.runtime.block_on(divided.series.pages(intervals, records))?.routed(mode)?;
            calls = given.calls;
            Ok(given.events)
        })?;
        Ok(Sample { latency: Latency::of(calls), ..sample })
    }

    /// Reads all of it; units are the events that were looked at.
    fn all(&self, divided: &Divided, what: All, way: usize, mode: ReadMode) -> Result<Sample> {
        let parts = divided.parts(if way == AT_ONCE { READERS } else { 1 })?;
        let expect = match what {
            All::Marked => divided.marked(),
            All::Events | All::Count => divided.events,
        };
        measure(|| {
            let found = self.runtime.block_on(divided.series.all_at_once(what, parts, mode))?;
            ensure!(found == expect, "found {found} events instead of {expect}");
            Ok(divided.events)
        })
    }

    /// Reads of small series while the wide one is drained over and over.
    fn others(&self, divided: &Arc<Divided>, asked: &[SeriesId], mode: ReadMode) -> Result<Sample> {
        let (whole, wide) = (divided.whole()?, Arc::clone(divided));
        let drain = move || {
            let wide = Arc::clone(&wide);
            async move { Ok(wide.series.all(All::Events, whole).await?.routed(mode)?.events) }
        };
        let read = || small::timed(Process::This, || self.runtime.block_on(divided.read_small(asked)));
        Ok(meanwhile(self.runtime, drain, read)?.0)
    }
}

/// What the table says about a way of reading.
fn lines(reading: &Reading, ways: Ways, runs: &[Runs]) -> Vec<Line> {
    let line = |what: &str, of: &dyn Fn(&str) -> Vec<f64>| Line {
        what: format!("{}{}, {what}", reading.what, ways.suffix),
        rounds: (0..ways.columns.len()).map(|way| of(ways.side(reading.side, way))).collect(),
    };
    let samples = |side: &str, of: fn(&Sample) -> f64| -> Vec<f64> {
        runs.iter().filter(|runs| runs.side == side).flat_map(|runs| runs.samples.iter().map(of)).collect()
    };
    match reading.work {
        Work::All(what) => {
            let wall = line("ms", &|side| samples(side, |sample| sample.wall.as_secs_f64() * 1e3));
            let cpu = line("CPU ms", &|side| samples(side, |sample| sample.cpu.as_secs_f64() * 1e3));
            if what == All::Events { vec![wall, cpu] } else { vec![wall] }
        }
        Work::FirstPage | Work::Narrow | Work::Others => vec![
            line("p50 us", &|side| micros_of(runs, side, Percentile::P50)),
            line("p99 us", &|side| micros_of(runs, side, Percentile::P99)),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_side_has_a_name_of_its_own_and_every_line_its_ways() {
        let ways = Ways { columns: WAYS, suffix: "" };
        let names =
            READINGS.iter().flat_map(|reading| (0..reading.ways).map(|way| ways.side(reading.side, way)));
        let mut names: Vec<&str> = names.collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        let all: Vec<Line> = READINGS.iter().flat_map(|reading| lines(reading, ways, &[])).collect();
        assert!(all.iter().all(|line| line.rounds.len() == WAYS.len()));
        assert_eq!(all.iter().filter(|line| line.what.starts_with("drain, ")).count(), 2);
        assert_eq!(ways.side("drain", AT_ONCE), "drain, off, 4 readers");
    }
}
