//! What do many servers ask of the metadata, only to agree?
//!
//! Servers are engines of this process over one store in memory, and a second has passed when each has done what a server
//! does in one. Calls are counted, not timed, so the figures are the same on every machine.

use anyhow::{Context, Result};
use tokio::runtime::Builder;

use super::Question;
use crate::counted::Tally;
use crate::fleet::{Fleet, Second};
use crate::harness::{Answer, Goal, Process, Setting, Unit};

pub(crate) const QUESTION: Question = Question {
    name: "metadata-load",
    asks: "reads and writes of the metadata by 1,000 servers with 5,000 namespaces, idle and with a change a second",
    answer,
};

const SERVERS: u64 = 1_000;
const SERVERS_QUICK: u64 = 50;
const NAMESPACES: u64 = 5_000;
const NAMESPACES_QUICK: u64 = 200;
const SECONDS: u64 = 60;
const SECONDS_QUICK: u64 = 20;
const MIB: u64 = 1 << 20;

/// A part of something, and what a report calls it.
type Part<Of, Is> = (&'static str, fn(&Of) -> Is);

/// What servers do every second.
const STEPS: [Part<Second, Tally>; 4] = [
    ("refresh and report", |second| second.refresh),
    ("settle", |second| second.settle),
    ("keep", |second| second.keep),
    ("change", |second| second.change),
];

/// What is counted of it.
const COUNTS: [Part<Tally, f64>; 5] = [
    ("meta_get/s", |tally| tally.gets as f64),
    ("meta_range/s", |tally| tally.ranges as f64),
    ("meta_cas/s", |tally| tally.changes as f64),
    ("kB read/s", |tally| tally.read_bytes as f64 / 1e3),
    ("kB written/s", |tally| tally.written_bytes as f64 / 1e3),
];

fn answer(setting: &Setting) -> Result<Answer> {
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let servers = setting.size(SERVERS, SERVERS_QUICK);
    let namespaces = setting.size(NAMESPACES, NAMESPACES_QUICK);
    let seconds = setting.size(SECONDS, SECONDS_QUICK);
    runtime.block_on(async {
        eprintln!("{}: starting {servers} servers with {namespaces} namespaces", QUESTION.name);
        let mut fleet = Fleet::start(usize::try_from(servers)?, usize::try_from(namespaces)?).await?;
        // Idle first: a change makes all servers report in step.
        let idle = pass(&mut fleet, seconds, false).await?;
        let busy = pass(&mut fleet, seconds, true).await?;
        let loads = [("idle", idle), ("a change a second", busy)];
        let goals: Vec<Goal> = loads.iter().flat_map(|(load, seconds)| figures(load, seconds)).collect();
        let mut answer = Answer::new(QUESTION.name, Unit::Calls, Vec::new(), &goals)?.note(format!(
            "{servers} servers, {namespaces} namespaces, {seconds} simulated seconds each; every server refreshes and settles \
             every second, reports every five or when something is new, and keeps slices every ten"
        ));
        for (load, seconds) in &loads {
            answer = answer.note(per_server(load, seconds, servers).context("no second has passed")?);
        }
        let Tally { read_bytes, .. } = fleet.start;
        Ok(answer
            .note(format!(
                "a server that starts: {} reads of {:.1} MB and {} writes",
                fleet.start.reads(),
                read_bytes as f64 / 1e6,
                fleet.start.changes
            ))
            .note(format!("all of them have {} MiB of memory here", Process::This.anonymous_bytes()? / MIB)))
    })
}

async fn pass(fleet: &mut Fleet, seconds: u64, with_change: bool) -> Result<Vec<Second>> {
    let mut passed = Vec::new();
    for _ in 0..seconds {
        passed.push(fleet.second(with_change).await?);
    }
    Ok(passed)
}

/// What all servers together ask in a second, as far as they ask it at all.
fn figures(load: &str, seconds: &[Second]) -> Vec<Goal> {
    let mut figures = Vec::new();
    for (step, of_step) in STEPS {
        for (count, counted) in COUNTS {
            let values: Vec<f64> = seconds.iter().map(|second| counted(&of_step(second))).collect();
            if values.iter().any(|value| *value > 0.0) {
                figures.push(Goal::Shown { what: format!("{load}, {step}, {count}"), values });
            }
        }
    }
    figures
}

/// What one server asks in a second, and how much a refresh carries; none where no second has passed.
fn per_server(load: &str, seconds: &[Second], servers: u64) -> Option<String> {
    let turns = Some(seconds.len() as u64 * servers).filter(|turns| *turns > 0)? as f64;
    let mean = |of: fn(&Tally) -> u64| {
        let all = seconds.iter().flat_map(|second| STEPS.map(|(_, of_step)| of(&of_step(second))));
        all.sum::<u64>() as f64 / turns
    };
    let refresh = seconds.iter().map(|second| second.refresh.read_bytes).sum::<u64>() as f64 / turns;
    Some(format!(
        "{load}: a server reads {:.2} times a second ({:.1} kB) and writes {:.2} times; a refresh reads {:.1} kB",
        mean(Tally::reads),
        mean(|tally| tally.read_bytes) / 1e3,
        mean(|tally| tally.changes),
        refresh / 1e3
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(gets: u64) -> Second {
        let refresh = Tally { gets, changes: 5, read_bytes: 4_000, ..Tally::default() };
        Second { refresh, settle: Tally { gets, ..Tally::default() }, ..Second::default() }
    }

    #[test]
    fn what_is_never_asked_is_not_shown() {
        let names: Vec<String> = figures("idle", &[second(0), second(10)])
            .into_iter()
            .filter_map(|goal| if let Goal::Shown { what, .. } = goal { Some(what) } else { None })
            .collect();
        let expect = [
            "idle, refresh and report, meta_get/s",
            "idle, refresh and report, meta_cas/s",
            "idle, refresh and report, kB read/s",
            "idle, settle, meta_get/s",
        ];
        assert_eq!(names, expect);
    }

    #[test]
    fn a_server_has_its_part_of_all() {
        let expect =
            "idle: a server reads 2.00 times a second (0.4 kB) and writes 0.50 times; a refresh reads 0.4 kB";
        assert_eq!(per_server("idle", &[second(10), second(10)], 10).unwrap(), expect);
        assert_eq!(per_server("idle", &[], 10), None);
    }
}
