//! How long does it take to plan a namespace?
//!
//! The workload is one whose every number is uncertain, so that no world is like another. The control is one world: what
//! is left of it when there is nothing to weigh. In this process; a call adds what any call adds.

use std::time::Duration;

use anyhow::{Context, Result};
use env::{Clock, SystemClock};
use provision::{Guess, WORLDS_DEFAULT, WORLDS_MAX, Workload, plan};

use super::Question;
use crate::harness::{Answer, Goal, Latency, Setting, Unit};

pub(crate) const QUESTION: Question = Question {
    name: "plan",
    asks: "a plan for a namespace from 128 worlds, from the most that can be asked for, and from one",
    answer,
};

/// In each round; their median counts.
const PLANS: usize = 5;
const PLAN_MAX_MS: f64 = 2_000.0;

fn answer(setting: &Setting) -> Result<Answer> {
    let (mut one_ms, mut usual_ms, mut most_ms) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..setting.rounds {
        one_ms.push(median_ms(round, 1)?);
        usual_ms.push(median_ms(round, WORLDS_DEFAULT)?);
        most_ms.push(median_ms(round, WORLDS_MAX)?);
    }
    let goals = [
        Goal::Shown { what: "1 world, ms".to_owned(), values: one_ms },
        Goal::Figures { what: "128 worlds, ms", values: usual_ms, at_most: PLAN_MAX_MS },
        Goal::Shown { what: format!("{WORLDS_MAX} worlds, ms"), values: most_ms },
    ];
    Ok(Answer::new(QUESTION.name, Unit::Calls, Vec::new(), &goals)?
        .note(format!("the median of {PLANS} plans in each round, each with a seed of its own; one core")))
}

/// The median of some plans.
fn median_ms(round: usize, worlds: u32) -> Result<f64> {
    let first = u64::try_from(round * PLANS)?;
    let times = (first..).take(PLANS).map(|seed| timed(seed, worlds)).collect::<Result<Vec<_>>>()?;
    Ok(Latency::of(times).context("nothing was timed")?.p50.as_secs_f64() * 1e3)
}

fn timed(seed: u64, worlds: u32) -> Result<Duration> {
    let workload = workload(seed, worlds);
    let start = SystemClock.boot();
    let made = plan(&workload)?;
    let time = SystemClock.boot().since(start);
    std::hint::black_box(made);
    Ok(time)
}

/// Sensors that report about every minute, read by the hour, kept for a month.
fn workload(seed: u64, worlds: u32) -> Workload {
    Workload {
        events_per_second_per_id: Guess { low: 0.005, mid: 0.02, high: 0.1 },
        ids: Guess { low: 1_000.0, mid: 10_000.0, high: 1e6 },
        skew: Guess { low: 0.5, mid: 0.8, high: 1.1 },
        event_bytes: Guess { low: 200.0, mid: 400.0, high: 1_000.0 },
        reads_per_second: Guess { low: 10.0, mid: 100.0, high: 500.0 },
        read_interval: Duration::from_secs(3_600),
        retention: Duration::from_secs(30 * 86_400),
        read_slo: Duration::from_millis(100),
        replicas: 3,
        seed,
        worlds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workload_can_be_planned_for() {
        let made = plan(&workload(0, 2)).unwrap();
        assert_eq!(made.runners_up.len(), 6);
    }
}
