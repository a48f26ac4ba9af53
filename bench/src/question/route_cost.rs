//! What do reads pay for splits where nothing of what they read was split?
//!
//! Small pages, from the same series in three namespaces: reads are off; reads are on and nothing was ever split; reads are on and
//! partitions of other series of the same slice were, so that a filter is asked. The engine is called in this process, so there is no
//! wire that could hide the difference. CPU of the process, as in question `checks`.

use anyhow::{Context, Result};

use super::Question;
use super::checks::within;
use crate::harness::{Answer, Goal, Runs, Sample, Setting, Side, Spread, Unit, interleave};
use crate::place::Place;
use crate::routed::{Asks, Page, Routed, SERIES};
use crate::{progress, small};

pub(crate) const QUESTION: Question = Question {
    name: "route-cost",
    asks: "small reads of what is not split with reads on, against the same with reads off",
    answer,
};

/// At least so many, whatever other questions make do with.
const ROUNDS: usize = 30;
const COST_MAX_PERCENT: f64 = 5.0;
const WIDE_SERIES: u64 = 25;
const WIDE_SERIES_QUICK: u64 = 5;
const READS: u64 = 6_000;
const READS_QUICK: u64 = 1_000;
const PAGE: Page = Page { hours: 1, records: 10 };
const CONTROL: &str = "off";
const UNASKED: &str = "on, nothing split";
const ASKED: &str = "on, others split";

fn answer(setting: &Setting) -> Result<Answer> {
    let rounds = if setting.quick { setting.rounds } else { setting.rounds.max(ROUNDS) };
    let disk = rounds_over(setting, Place::Disk, rounds)?;
    let memory = rounds_over(setting, Place::Memory, rounds)?;
    let goals = [
        Goal::Figures {
            what: "on, nothing split, % CPU more than off",
            values: percents(&disk, UNASKED)?,
            at_most: COST_MAX_PERCENT,
        },
        Goal::Figures {
            what: "on, others split, % CPU more than off",
            values: percents(&disk, ASKED)?,
            at_most: COST_MAX_PERCENT,
        },
    ];
    let notes = [notes("embedded store", &disk)?, notes("memory", &memory)?].concat();
    let answer = Answer::new(QUESTION.name, Unit::Events, disk, &goals)?
        .note(format!("{rounds} rounds over the embedded store, then as many over memory; goals as the embedded store has it"))
        .note(format!("pages of {} events from four partitions of one hour; CPU of the process", PAGE.records));
    Ok(notes.into_iter().fold(answer, Answer::note))
}

fn rounds_over(setting: &Setting, place: Place, rounds: usize) -> Result<Vec<Runs>> {
    let routed = Routed::open(setting, place, setting.size(WIDE_SERIES, WIDE_SERIES_QUICK))?;
    let series = small::asked(SERIES, setting.size(READS, READS_QUICK))?;
    let read = |asks| {
        let done = routed.read(asks, &series, PAGE)?;
        Ok(Sample { units: done.events, ..done.sample })
    };
    for asks in [Asks::Nothing, Asks::Whether, Asks::Filter] {
        read(asks).context("warming up")?;
    }
    let sides = vec![
        Side::new(CONTROL, || read(Asks::Nothing)),
        Side::new(UNASKED, || read(Asks::Whether)),
        Side::new(ASKED, || read(Asks::Filter)),
    ];
    let runs = interleave(rounds, sides, progress::run(QUESTION.name, Unit::Events))?;
    routed.close();
    Ok(runs)
}

/// What a side takes beyond its control, in one round.
pub(super) struct More {
    /// Of the control's.
    pub(super) percent: f64,
    /// CPU time for one unit.
    pub(super) seconds: f64,
}

/// The same in each round.
pub(super) fn beyond(runs: &[Runs], subject: &str, control: &str) -> Result<Vec<More>> {
    let of = |name: &str| {
        let found = runs.iter().find(|runs| runs.side == name).context("a side did not run")?;
        Ok::<_, anyhow::Error>(found.cpu_per_unit())
    };
    let (subject, control) = (of(subject)?, of(control)?);
    let more =
        |(more, less): (&f64, &f64)| More { percent: (more / less - 1.0) * 100.0, seconds: more - less };
    Ok(subject.iter().zip(&control).map(more).collect())
}

fn percents(runs: &[Runs], subject: &str) -> Result<Vec<f64>> {
    Ok(beyond(runs, subject, CONTROL)?.iter().map(|more| more.percent).collect())
}

/// A line for each side that asks: how much more it takes, and how sure that is.
fn notes(place: &str, runs: &[Runs]) -> Result<Vec<String>> {
    let note = |side: &&str| {
        let more = beyond(runs, side, CONTROL)?;
        let page = more.iter().map(|more| more.seconds * PAGE.records as f64 * 1e9);
        let page = Spread::of(page).context("no round was run")?.median;
        Ok(format!("{place}, {side}: {}, {page:.0} ns a page", within(&percents(runs, side)?)?))
    };
    [UNASKED, ASKED].iter().map(note).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_a_side_takes_beyond_its_control_is_formed_inside_a_round() {
        let runs = |side, cpu_ms: [u64; 2]| {
            let sample = |ms| Sample { units: 1_000, cpu: Duration::from_millis(ms), ..Sample::default() };
            Runs { side, samples: cpu_ms.into_iter().map(sample).collect() }
        };
        let all = [runs(CONTROL, [100, 200]), runs(ASKED, [104, 190])];
        let more = beyond(&all, ASKED, CONTROL).unwrap();
        let rounded: Vec<(f64, f64)> =
            more.iter().map(|more| (more.percent.round(), (more.seconds * 1e9).round())).collect();
        assert_eq!(rounded, [(4.0, 4_000.0), (-5.0, -10_000.0)]);
        assert!(beyond(&all, UNASKED, CONTROL).is_err());
    }
}
