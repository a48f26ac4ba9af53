//! Rounds: every side once per round, in an order that alternates.

use anyhow::{Context, Result};

use super::latency::{Latency, Percentile, micros};
use super::measure::Sample;

/// One way to do the work of a question.
pub(crate) struct Side<'a> {
    /// Short, for the report.
    pub(crate) name: &'static str,
    /// Prepares, measures with [`super::measure()`], and cleans up.
    pub(crate) run: Box<dyn FnMut() -> Result<Sample> + 'a>,
}

impl<'a> Side<'a> {
    /// A side.
    pub(crate) fn new(name: &'static str, run: impl FnMut() -> Result<Sample> + 'a) -> Self {
        Self { name, run: Box::new(run) }
    }
}

/// What the rounds of one side took, in the order of the rounds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Runs {
    /// Which side.
    pub(crate) side: &'static str,
    /// One sample per round.
    pub(crate) samples: Vec<Sample>,
}

impl Runs {
    /// The rate of each round.
    pub(crate) fn rates(&self) -> Vec<f64> {
        self.samples.iter().map(Sample::rate).collect()
    }

    /// CPU seconds of each round.
    pub(crate) fn cpu_seconds(&self) -> Vec<f64> {
        self.samples.iter().map(|sample| sample.cpu.as_secs_f64()).collect()
    }

    /// CPU seconds of the client in each round; zeros where there is none.
    pub(crate) fn client_cpu_seconds(&self) -> Vec<f64> {
        self.samples.iter().map(|sample| sample.client_cpu.as_secs_f64()).collect()
    }

    /// How long single calls took in each round where that was looked at.
    pub(crate) fn latencies(&self) -> impl Iterator<Item = Latency> {
        self.samples.iter().filter_map(|sample| sample.latency)
    }

    /// CPU seconds for one unit of work in each round.
    pub(crate) fn cpu_per_unit(&self) -> Vec<f64> {
        self.samples.iter().map(|sample| sample.cpu.as_secs_f64() / sample.units as f64).collect()
    }

    /// Growth of anonymous memory in each round, in bytes.
    pub(crate) fn growths(&self) -> Vec<f64> {
        self.samples.iter().map(|sample| sample.growth() as f64).collect()
    }

    /// The highest anonymous memory of all rounds, in bytes.
    pub(crate) fn memory_peak(&self) -> u64 {
        self.samples.iter().map(|sample| sample.memory_peak).max().unwrap_or(0)
    }
}

/// This percentile of the calls of a side in each round, in microseconds; none where no such side timed any.
pub(crate) fn micros_of(all: &[Runs], side: &str, percentile: Percentile) -> Vec<f64> {
    let runs = all.iter().filter(|runs| runs.side == side);
    runs.flat_map(Runs::latencies).map(|latency| micros(percentile.of(latency))).collect()
}

/// Runs every side once per round, and tells `progress` about each run.
pub(crate) fn interleave(
    rounds: usize,
    mut sides: Vec<Side<'_>>,
    mut progress: impl FnMut(usize, &str, &Sample),
) -> Result<Vec<Runs>> {
    let mut all: Vec<Runs> =
        sides.iter().map(|side| Runs { side: side.name, samples: Vec::with_capacity(rounds) }).collect();
    for round in 0..rounds {
        let mut pairs: Vec<_> = sides.iter_mut().zip(&mut all).collect();
        if backwards(round) {
            pairs.reverse();
        }
        for (side, runs) in pairs {
            let sample =
                (side.run)().with_context(|| format!("side `{}`, round {}", side.name, round + 1))?;
            progress(round + 1, side.name, &sample);
            runs.samples.push(sample);
        }
    }
    Ok(all)
}

/// Every second round goes backwards, so that no side always runs on what another left in caches and on disk.
const fn backwards(round: usize) -> bool {
    round % 2 == 1
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::time::Duration;

    use anyhow::anyhow;

    use super::*;

    fn sample(units: u64) -> Sample {
        let (wall, cpu) = (Duration::from_secs(2), Duration::from_secs(1));
        Sample { units, wall, cpu, memory_start: 1, memory_peak: units, ..Sample::default() }
    }

    #[test]
    fn sides_alternate_and_keep_their_samples_apart() {
        let seen = RefCell::new(Vec::new());
        let side = |name, units| {
            let seen = &seen;
            Side::new(name, move || {
                seen.borrow_mut().push(name);
                Ok(sample(units))
            })
        };
        let sides = vec![side("a", 2), side("b", 4), side("c", 6)];
        let runs = interleave(3, sides, |_, _, _| {}).unwrap();
        assert_eq!(seen.take(), ["a", "b", "c", "c", "b", "a", "a", "b", "c"]);
        let middle = runs.get(1).unwrap();
        assert_eq!((middle.side, middle.rates()), ("b", vec![2.0; 3]));
        assert_eq!((middle.growths(), middle.memory_peak()), (vec![3.0; 3], 4));
    }

    #[test]
    fn a_failure_names_side_and_round() {
        let mut left = 1;
        let side = Side::new("a", || {
            left -= 1;
            if left < 0 { Err(anyhow!("disk full")) } else { Ok(sample(1)) }
        });
        let error = interleave(3, vec![side], |_, _, _| {}).unwrap_err();
        assert_eq!(format!("{error:#}"), "side `a`, round 2: disk full");
    }
}
