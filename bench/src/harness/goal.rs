//! What is wanted, and whether it was reached. Pure.

use anyhow::{Context, Result};

use super::rounds::Runs;
use super::stats::Spread;

const MIB: f64 = (1 << 20) as f64;
const NO_ROUND: &str = "no round was run";

/// What a question wants of its sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    /// The subject's rate is at least so much of the control's, as the median of the rounds' ratios.
    Rate { subject: &'static str, control: &'static str, at_least: f64 },
    /// No run of this side takes more anonymous memory than this beyond what it began with. The largest counts, not
    /// the median: later rounds reuse what the allocator kept from earlier ones.
    Growth { side: &'static str, at_most_mib: f64 },
}

/// A goal beside what was measured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Judged {
    /// What was compared.
    pub(crate) what: String,
    /// What counts against the goal.
    pub(crate) measured: f64,
    /// All rounds.
    pub(crate) spread: Spread,
    /// The goal, as it is written: `>= 0.70`.
    pub(crate) wanted: String,
    /// Whether it was reached; none where nothing is wanted.
    pub(crate) met: Option<bool>,
}

impl Judged {
    /// One word; empty where nothing is wanted.
    pub(crate) const fn verdict(&self) -> &'static str {
        match self.met {
            Some(true) => "ok",
            Some(false) => "MISSED",
            None => "",
        }
    }
}

/// Holds a goal against the rounds. A goal for rates also shows CPU time for the same work, which a busy machine
/// disturbs less than rates.
pub(crate) fn judge(goal: &Goal, all: &[Runs]) -> Result<Vec<Judged>> {
    let runs = |name: &str| {
        all.iter()
            .find(|runs| runs.side == name)
            .with_context(|| format!("a goal names `{name}`, which is no side"))
    };
    match goal {
        Goal::Rate { subject, control, at_least } => {
            let (above, below) = (runs(subject)?, runs(control)?);
            let rates = Spread::of_ratios(&above.rates(), &below.rates()).context(NO_ROUND)?;
            let cpu = Spread::of_ratios(&above.cpu_per_unit(), &below.cpu_per_unit()).context(NO_ROUND)?;
            Ok(vec![
                Judged {
                    what: format!("rate, {subject} / {control}"),
                    measured: rates.median,
                    spread: rates,
                    wanted: format!(">= {at_least:.2}"),
                    met: Some(rates.median >= *at_least),
                },
                Judged {
                    what: format!("CPU, {subject} / {control}"),
                    measured: cpu.median,
                    spread: cpu,
                    wanted: "-".to_owned(),
                    met: None,
                },
            ])
        }
        Goal::Growth { side, at_most_mib } => {
            let growths = runs(side)?.growths().into_iter().map(|bytes| bytes / MIB);
            let spread = Spread::of(growths).context(NO_ROUND)?;
            Ok(vec![Judged {
                what: format!("memory growth, {side}, MiB"),
                measured: spread.max,
                spread,
                wanted: format!("<= {at_most_mib:.2}"),
                met: Some(spread.max <= *at_most_mib),
            }])
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::measure::Sample;
    use super::*;

    fn runs(side: &'static str, rounds: &[(u64, u64)]) -> Runs {
        let sample = |(units, growth_mib): &(u64, u64)| Sample {
            units: *units,
            wall: Duration::from_secs(1),
            cpu: Duration::from_secs(1),
            memory_start: 1 << 20,
            memory_peak: (growth_mib + 1) << 20,
        };
        Runs { side, samples: rounds.iter().map(sample).collect() }
    }

    /// Each judgement as `measured verdict`.
    fn check(goal: &Goal, all: &[Runs], expect: &[&str]) {
        let judged = judge(goal, all).unwrap();
        let words: Vec<String> = judged.iter().map(|j| format!("{} {}", j.measured, j.verdict())).collect();
        assert_eq!(words, expect);
    }

    #[test]
    fn a_rate_is_judged_by_the_median_of_ratios() {
        let all = [runs("raw", &[(100, 0), (10, 0), (100, 0)]), runs("store", &[(50, 0), (9, 0), (40, 0)])];
        let goal = |at_least| Goal::Rate { subject: "store", control: "raw", at_least };
        check(&goal(0.5), &all, &["0.5 ok", "2 "]);
        check(&goal(0.51), &all, &["0.5 MISSED", "2 "]);
        let judged = judge(&goal(0.5), &all).unwrap();
        let spread = judged.first().unwrap().spread;
        assert_eq!((spread.min, spread.max), (0.4, 0.9));
    }

    #[test]
    fn memory_is_judged_by_the_worst_round() {
        let all = [runs("store", &[(1, 64), (1, 2), (1, 3)])];
        let goal = |at_most_mib| Goal::Growth { side: "store", at_most_mib };
        check(&goal(64.0), &all, &["64 ok"]);
        check(&goal(63.5), &all, &["64 MISSED"]);
    }

    #[test]
    fn a_goal_for_no_side_is_a_mistake() {
        let error = judge(&Goal::Growth { side: "nobody", at_most_mib: 1.0 }, &[]).unwrap_err();
        assert_eq!(error.to_string(), "a goal names `nobody`, which is no side");
    }
}
