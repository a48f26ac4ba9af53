//! What do the checks of lease, closed time and window cost, on writes and on reads?
//!
//! Nothing turns them off, so the subject does them all twice, the control once, and the difference is what they cost.
//! On a busy machine that is lost in what CPU time does by itself, so a third side does them eleven times, for a tenth of
//! the noise. Its tenth is no goal: what is asked ten times in a row runs from warm caches, which may make it look cheap.
//! Requests are made before anything is measured and the engine is called in this process, so there is nothing in
//! the control that could make the checks look cheap.

use anyhow::{Context, Result};

use super::Question;
use crate::harness::{Answer, Goal, Runs, Setting, Side, Spread, Unit, interleave, median_range};
use crate::local::{Local, Writes};
use crate::place::Place;
use crate::{progress, small};

pub(crate) const QUESTION: Question = Question {
    name: "checks",
    asks: "what the checks of lease, closed time and window cost: every check done twice, against once",
    answer,
};

/// At least so many, whatever other questions make do with.
const ROUNDS: usize = 30;
const COST_MAX_PERCENT: f64 = 5.0;
/// How often the sides ask beyond what they have to.
const ASKS: [u32; 3] = [0, 1, 10];
const BATCH_EVENTS: u64 = 100;
const PAGE_EVENTS: usize = 10;
/// What is read: a request of a hundred events for each series.
const FILL: Writes = Writes { writers: 64, requests: 16, events: BATCH_EVENTS };
const SERIES: u64 = 1_024;
const QUICK_PART: u64 = 8;

/// What a side does.
#[derive(Clone, Copy)]
enum Work {
    Write(Writes),
    Read { pages: u64 },
}

/// A kind of request, and what its sides are called: asked once, twice, eleven times.
struct Kind {
    work: Work,
    sides: [&'static str; 3],
    goal: &'static str,
}

const KINDS: [Kind; 3] = [
    Kind {
        work: Work::Write(Writes { writers: 8, requests: 125, events: BATCH_EVENTS }),
        sides: ["writes of 100", "writes of 100, twice", "writes of 100, x 11"],
        goal: "checks of writes of 100, % CPU",
    },
    Kind {
        work: Work::Write(Writes { writers: 64, requests: 250, events: 1 }),
        sides: ["writes of 1", "writes of 1, twice", "writes of 1, x 11"],
        goal: "checks of writes of 1, % CPU",
    },
    Kind {
        work: Work::Read { pages: 20_000 },
        sides: ["pages of 10", "pages of 10, twice", "pages of 10, x 11"],
        goal: "checks of pages of 10, % CPU",
    },
];

fn answer(setting: &Setting) -> Result<Answer> {
    let rounds = if setting.quick { setting.rounds } else { setting.rounds.max(ROUNDS) };
    let disk = rounds_over(setting, Place::Disk, rounds)?;
    let memory = rounds_over(setting, Place::Memory, rounds)?;
    let goal = |kind: &Kind| {
        let values = Costs::of(&disk, kind, 1)?.percent;
        Ok(Goal::Figures { what: kind.goal, values, at_most: COST_MAX_PERCENT })
    };
    let goals = KINDS.iter().map(goal).collect::<Result<Vec<_>>>()?;
    let notes = [notes("embedded store", &disk)?, notes("memory", &memory)?].concat();
    let answer = Answer::new(QUESTION.name, Unit::Events, disk, &goals)?
        .note(format!(
            "{rounds} rounds over the embedded store, then as many over memory; CPU of the process"
        ))
        .note("goals: the median of (asked twice / asked once - 1), as the embedded store has it");
    Ok(notes.into_iter().fold(answer, Answer::note))
}

/// All sides of all kinds over one store.
fn rounds_over(setting: &Setting, place: Place, rounds: usize) -> Result<Vec<Runs>> {
    let read = Local::open(setting, place)?;
    read.write(FILL, 0).context("cannot write what is to be read")?;
    let read_ref = &read;
    let side = |work: Work, name, asks| {
        Side::new(name, move || match work {
            Work::Write(writes) => {
                let local = Local::open(setting, place)?;
                let requests = setting.size(writes.requests, writes.requests / QUICK_PART);
                let sample = local.write(Writes { requests, ..writes }, asks)?;
                local.close();
                Ok(sample)
            }
            Work::Read { pages } => {
                let series = small::asked(SERIES, setting.size(pages, pages / QUICK_PART))?;
                read_ref.read(&series, PAGE_EVENTS, asks)
            }
        })
    };
    let sides = KINDS.iter().flat_map(|kind| {
        let work = kind.work;
        kind.sides.into_iter().zip(ASKS).map(move |(name, asks)| (work, name, asks))
    });
    let sides = sides.map(|(work, name, asks)| side(work, name, asks)).collect();
    let runs = interleave(rounds, sides, progress::run(QUESTION.name, Unit::Events))?;
    read.close();
    Ok(runs)
}

/// What the checks cost in each round, by one of the sides that ask more often.
struct Costs {
    /// Beside all that the control does.
    percent: Vec<f64>,
    /// CPU time for one event.
    nanos: Vec<f64>,
}

impl Costs {
    fn of(runs: &[Runs], kind: &Kind, side: usize) -> Result<Self> {
        let per_event = |side: usize| {
            let name = kind.sides.get(side).context("no such side")?;
            let found = runs.iter().find(|runs| runs.side == *name).context("a side did not run")?;
            Ok::<_, anyhow::Error>(found.cpu_per_unit())
        };
        let asks = f64::from(*ASKS.get(side).context("no such side")?);
        let (control, subject) = (per_event(0)?, per_event(side)?);
        let beyond = || control.iter().zip(&subject);
        Ok(Self {
            percent: beyond().map(|(once, more)| (more / once - 1.0) * 100.0 / asks).collect(),
            nanos: beyond().map(|(once, more)| (more - once) * 1e9 / asks).collect(),
        })
    }
}

/// A line for each kind: what its checks cost by either side.
fn notes(place: &str, runs: &[Runs]) -> Result<Vec<String>> {
    let note = |kind: &Kind| {
        let (twice, often) = (Costs::of(runs, kind, 1)?, Costs::of(runs, kind, 2)?);
        let nanos = Spread::of(often.nanos.iter().copied()).context("no round was run")?.median;
        let name = kind.sides.first().context("no such side")?;
        let (twice, often) = (within(&twice.percent)?, within(&often.percent)?);
        Ok(format!(
            "{place}, {name}: {twice} by asking twice; {often}, {nanos:.0} ns an event, by asking eleven times"
        ))
    };
    KINDS.iter().map(note).collect()
}

/// A median with the range in which it lies, and whether that says more than that there is noise.
pub(super) fn within(percent: &[f64]) -> Result<String> {
    let median = Spread::of(percent.iter().copied()).context("no round was run")?.median;
    Ok(match median_range(percent.iter().copied()) {
        None => format!("{median:.2} % (too few rounds to say how sure)"),
        Some((low, high)) if low <= 0.0 && high >= 0.0 => {
            format!("{median:.2} % (95 %: {low:.2} to {high:.2}, lost in the noise)")
        }
        Some((low, high)) => format!("{median:.2} % (95 %: {low:.2} to {high:.2})"),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::harness::Sample;

    fn runs(side: &'static str, cpu_ms: [u64; 3]) -> Runs {
        let sample = |ms| Sample { units: 1_000, cpu: Duration::from_millis(ms), ..Sample::default() };
        Runs { side, samples: cpu_ms.into_iter().map(sample).collect() }
    }

    #[test]
    fn a_cost_is_what_one_asking_adds() {
        let kind = KINDS.first().unwrap();
        let [once, twice, often] = kind.sides;
        let all = [runs(once, [100, 200, 100]), runs(twice, [104, 200, 99]), runs(often, [140, 300, 100])];
        let rounded = |values: Vec<f64>| values.into_iter().map(f64::round).collect::<Vec<_>>();
        assert_eq!(rounded(Costs::of(&all, kind, 1).unwrap().percent), [4.0, 0.0, -1.0]);
        let tenth = Costs::of(&all, kind, 2).unwrap();
        assert_eq!(rounded(tenth.percent), [4.0, 5.0, 0.0]);
        assert_eq!(rounded(tenth.nanos), [4_000.0, 10_000.0, 0.0]);
        assert!(Costs::of(&all[..1], kind, 1).is_err());
    }

    #[test]
    fn what_is_lost_in_the_noise_is_said_to_be() {
        let check = |values: &[f64], expect: &str| assert_eq!(within(values).unwrap(), expect);
        check(&[1.0, 3.0], "2.00 % (too few rounds to say how sure)");
        check(&[1.0, 1.5, 2.0, 2.5, 3.0, 4.0], "2.25 % (95 %: 1.00 to 4.00)");
        check(&[-1.0, 1.5, 2.0, 2.5, 3.0, 4.0], "2.25 % (95 %: -1.00 to 4.00, lost in the noise)");
    }
}
