//! What does a look into the filter of a slice cost, where reads find that nothing they want was split?
//!
//! Pages that visit many partitions, over memory, so that little else is done: in a namespace whose reads ask a filter for each
//! of them, and in one where nothing was ever split. The difference is shared out over the partitions. Beside it stands what the
//! engine measures itself, a look in 64, clock included; what the clock alone takes is shown too.

use std::cell::RefCell;
use std::time::Duration;

use anyhow::{Context, Result};
use env::{Clock, SystemClock};

use super::Question;
use super::route_cost::beyond;
use crate::buckets::Buckets;
use crate::harness::{Answer, Goal, Latency, Setting, Side, Spread, Unit, interleave};
use crate::place::Place;
use crate::routed::{Asks, Page, Routed, SERIES};
use crate::{progress, small};

pub(crate) const QUESTION: Question = Question {
    name: "filter",
    asks: "a look into the filter of a slice with many splits, against reads that need none",
    answer,
};

const ROUNDS: usize = 30;
const WIDE_SERIES: u64 = 125;
const WIDE_SERIES_QUICK: u64 = 10;
const PAGES: u64 = 1_000;
const PAGES_QUICK: u64 = 300;
/// All hours of the slice, so that a page visits every partition that a series can have.
const PAGE: Page = Page { hours: 24, records: 100 };
const CONTROL: &str = "nothing split";
const SUBJECT: &str = "others split";
const HISTOGRAM: &str = "braid_filter_check_duration_seconds";
const LOOK_MAX_NS: f64 = 200.0;
const NANOS: f64 = 1e9;
const CLOCK_LOOKS: usize = 100_000;

fn answer(setting: &Setting) -> Result<Answer> {
    let rounds = if setting.quick { setting.rounds } else { setting.rounds.max(ROUNDS) };
    let routed = Routed::open(setting, Place::Memory, setting.size(WIDE_SERIES, WIDE_SERIES_QUICK))?;
    let series = small::asked(SERIES, setting.size(PAGES, PAGES_QUICK))?;
    let looks = RefCell::new(Looks::default());
    let read = |asks| Ok(routed.read(asks, &series, PAGE)?.sample);
    read(Asks::Whether).and_then(|_| read(Asks::Filter)).context("warming up")?;
    let subject = || {
        let before = Buckets::parse(&routed.metrics()?, HISTOGRAM);
        let sample = read(Asks::Filter)?;
        looks.borrow_mut().keep(&Buckets::parse(&routed.metrics()?, HISTOGRAM).since(&before))?;
        Ok(sample)
    };
    let sides = vec![Side::new(CONTROL, || read(Asks::Whether)), Side::new(SUBJECT, subject)];
    let runs = interleave(rounds, sides, progress::run(QUESTION.name, Unit::Calls))?;
    let (looks, splits) = (looks.take(), routed.splits);
    routed.close();
    let by_cpu: Vec<f64> = beyond(&runs, SUBJECT, CONTROL)?.iter().map(|more| more.seconds * NANOS).collect();
    let median = Spread::of(by_cpu.iter().copied()).context("no round was run")?.median;
    let goals = [
        Goal::Figures { what: "a look, by CPU beyond the control, ns", values: by_cpu, at_most: LOOK_MAX_NS },
        Goal::Figures {
            what: "half of the looks, by the engine, ns",
            values: looks.half,
            at_most: LOOK_MAX_NS,
        },
        Goal::Shown { what: "99 in 100 looks, by the engine, ns".to_owned(), values: looks.most },
        Goal::Shown { what: "the clock alone, twice, ns".to_owned(), values: vec![clock_alone()?] },
    ];
    Ok(Answer::new(QUESTION.name, Unit::Calls, runs, &goals)?
        .note(format!("calls are partitions visited: {} pages over 24 hours of a series, memory, nothing of it split", series.len()))
        .note(format!("{SUBJECT}: {splits} partitions of other series of the slice were, so each partition is looked for in its filter"))
        .note(format!("by the engine: one look in 64, {} in all, timed with the clock; the upper edge of a bucket twice as wide as the one before", looks.count))
        .note(format!("{rounds} rounds; the median by CPU is {median:.0} ns")))
}

/// What the engine's histogram said in each round, in nanoseconds.
#[derive(Default)]
struct Looks {
    half: Vec<f64>,
    most: Vec<f64>,
    count: u64,
}

impl Looks {
    fn keep(&mut self, buckets: &Buckets) -> Result<()> {
        self.half.push(buckets.within(0.5)? * NANOS);
        self.most.push(buckets.within(0.99)? * NANOS);
        self.count += buckets.count();
        Ok(())
    }
}

/// What a timed look takes without the look: the median.
fn clock_alone() -> Result<f64> {
    let took = |_| {
        let start = SystemClock.boot();
        SystemClock.boot().since(start)
    };
    let times: Vec<Duration> = (0..CLOCK_LOOKS).map(took).collect();
    Ok(Latency::of(times).context("nothing was timed")?.p50.as_secs_f64() * NANOS)
}
