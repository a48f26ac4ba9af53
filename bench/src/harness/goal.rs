//! What is wanted, and whether it was reached. Pure.

use std::time::Duration;

use anyhow::{Context, Result};

use super::latency::{Percentile, micros};
use super::rounds::Runs;
use super::stats::Spread;

const MIB: f64 = (1 << 20) as f64;
const NO_ROUND: &str = "no round was run";
const NO_CALL: &str = "a goal wants latencies, and no call was timed";

/// What a question wants of its sides.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Goal {
    /// The subject's rate is at least so much of the control's, as the median of the rounds' ratios.
    Rate { subject: &'static str, control: &'static str, at_least: f64 },
    /// No run of this side takes more anonymous memory than this beyond what it began with. The largest counts, not
    /// the median: later rounds reuse what the allocator kept from earlier ones.
    Growth { side: &'static str, at_most_mib: f64 },
    /// Half of the subject's calls take at most `times` what half of the control's take, and `plus` more, as the median
    /// of the rounds.
    Latency { subject: &'static str, control: &'static str, times: f64, plus: Duration },
    /// This percentile of the subject's calls takes at most `times` the control's, or the control's and `plus` where there is one
    /// and that is more, as the median of the rounds' parts of what is allowed.
    Slowdown {
        subject: &'static str,
        control: &'static str,
        percentile: Percentile,
        times: f64,
        plus: Duration,
    },
    /// Nothing is wanted: how long the calls of this side took is shown.
    Calls { side: &'static str },
    /// The median of these figures, which belong to no side, is at most this.
    Figures { what: &'static str, values: Vec<f64>, at_most: f64 },
    /// Nothing is wanted: these figures, which belong to no side, are shown.
    Shown { what: String, values: Vec<f64> },
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

impl Judged {
    /// A figure that is only shown.
    fn shown(what: String, spread: Spread) -> Self {
        Self { what, measured: spread.median, spread, wanted: "-".to_owned(), met: None }
    }

    /// A figure that is not to be larger than this.
    fn at_most(what: String, measured: f64, spread: Spread, most: f64) -> Self {
        Self { what, measured, spread, wanted: format!("<= {most:.2}"), met: Some(measured <= most) }
    }
}

/// Holds a goal against the rounds. A goal for rates also shows CPU time for the same work, which a busy machine
/// disturbs less than rates; a goal for latencies also shows those that it compares.
pub(crate) fn judge(goal: &Goal, all: &[Runs]) -> Result<Vec<Judged>> {
    let runs = |name: &str| {
        all.iter()
            .find(|runs| runs.side == name)
            .with_context(|| format!("a goal names `{name}`, which is no side"))
    };
    match goal {
        Goal::Rate { subject, control, at_least } => judge_rate(runs(subject)?, runs(control)?, *at_least),
        Goal::Growth { side, at_most_mib } => {
            let growths = runs(side)?.growths().into_iter().map(|bytes| bytes / MIB);
            let spread = Spread::of(growths).context(NO_ROUND)?;
            let what = format!("memory growth, {side}, MiB");
            Ok(vec![Judged::at_most(what, spread.max, spread, *at_most_mib)])
        }
        Goal::Latency { subject, control, times, plus } => {
            judge_latency(runs(subject)?, runs(control)?, *times, *plus)
        }
        Goal::Slowdown { subject, control, percentile, times, plus } => {
            judge_slowdown(runs(subject)?, runs(control)?, *percentile, *times, *plus)
        }
        Goal::Calls { side } => show_calls(runs(side)?),
        Goal::Figures { what, values, at_most } => {
            let spread = Spread::of(values.iter().copied()).context(NO_ROUND)?;
            Ok(vec![Judged::at_most((*what).to_owned(), spread.median, spread, *at_most)])
        }
        Goal::Shown { what, values } => {
            let spread = Spread::of(values.iter().copied()).context(NO_ROUND)?;
            Ok(vec![Judged::shown(what.clone(), spread)])
        }
    }
}

fn judge_rate(subject: &Runs, control: &Runs, at_least: f64) -> Result<Vec<Judged>> {
    let rates = Spread::of_ratios(&subject.rates(), &control.rates()).context(NO_ROUND)?;
    let cpu = Spread::of_ratios(&subject.cpu_per_unit(), &control.cpu_per_unit()).context(NO_ROUND)?;
    let both = format!("{} / {}", subject.side, control.side);
    let rate = Judged {
        what: format!("rate, {both}"),
        measured: rates.median,
        spread: rates,
        wanted: format!(">= {at_least:.2}"),
        met: Some(rates.median >= at_least),
    };
    Ok(vec![rate, Judged::shown(format!("CPU, {both}"), cpu)])
}

fn judge_latency(subject: &Runs, control: &Runs, times: f64, plus: Duration) -> Result<Vec<Judged>> {
    let mut judged = [show_calls(control)?, show_calls(subject)?].concat();
    let beyond = subject.latencies().zip(control.latencies());
    let beyond = beyond.map(|(above, below)| micros(above.p50) - times * micros(below.p50));
    let spread = Spread::of(beyond).context(NO_CALL)?;
    let what = format!("p50, {} - {times} x {}, us", subject.side, control.side);
    judged.push(Judged::at_most(what, spread.median, spread, micros(plus)));
    Ok(judged)
}

fn show_calls(runs: &Runs) -> Result<Vec<Judged>> {
    let show = |percentile: Percentile| {
        let times = runs.latencies().map(|latency| micros(percentile.of(latency)));
        let what = format!("{}, {}, us", percentile.name(), runs.side);
        Ok(Judged::shown(what, Spread::of(times).context(NO_CALL)?))
    };
    [Percentile::P50, Percentile::P99].into_iter().map(show).collect()
}

fn judge_slowdown(
    subject: &Runs,
    control: &Runs,
    percentile: Percentile,
    times: f64,
    plus: Duration,
) -> Result<Vec<Judged>> {
    let part = |(above, below)| {
        let (above, below) = (micros(percentile.of(above)), micros(percentile.of(below)));
        let allowed = match plus {
            Duration::ZERO => times * below,
            plus => (times * below).max(below + micros(plus)),
        };
        above / allowed
    };
    let parts = subject.latencies().zip(control.latencies()).map(part);
    let spread = Spread::of(parts).context(NO_CALL)?;
    let side = control.side;
    let allowed = match plus {
        Duration::ZERO => format!("({times} x {side})"),
        plus => format!("max({times} x {side}, {side} + {} ms)", plus.as_secs_f64() * 1e3),
    };
    let what = format!("{}, {} / {allowed}", percentile.name(), subject.side);
    Ok(vec![Judged::at_most(what, spread.median, spread, 1.0)])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::latency::Latency;
    use super::super::measure::Sample;
    use super::*;

    fn runs(side: &'static str, rounds: &[(u64, u64)]) -> Runs {
        let sample = |(units, growth_mib): &(u64, u64)| Sample {
            units: *units,
            wall: Duration::from_secs(1),
            cpu: Duration::from_secs(1),
            memory_start: 1 << 20,
            memory_peak: (growth_mib + 1) << 20,
            ..Sample::default()
        };
        Runs { side, samples: rounds.iter().map(sample).collect() }
    }

    /// Rounds whose calls take so many microseconds at p50, and three times that at p99.
    fn timed(side: &'static str, rounds: &[u64]) -> Runs {
        let sample = |us: &u64| {
            let latency = Latency { p50: Duration::from_micros(*us), p99: Duration::from_micros(us * 3) };
            Sample { latency: Some(latency), ..Sample::default() }
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
    fn latencies_are_compared_inside_a_round() {
        let all = [timed("raw", &[10, 20, 100]), timed("grpc", &[90, 150, 500])];
        let goal = |plus| Goal::Latency {
            subject: "grpc",
            control: "raw",
            times: 5.0,
            plus: Duration::from_micros(plus),
        };
        check(&goal(40), &all, &["20 ", "60 ", "150 ", "450 ", "40 ok"]);
        check(&goal(39), &all, &["20 ", "60 ", "150 ", "450 ", "40 MISSED"]);
        let names: Vec<String> = judge(&goal(1), &all).unwrap().into_iter().map(|j| j.what).collect();
        assert_eq!(
            names,
            ["p50, raw, us", "p99, raw, us", "p50, grpc, us", "p99, grpc, us", "p50, grpc - 5 x raw, us"]
        );
        assert!(judge(&goal(1), &[runs("raw", &[(1, 1)]), runs("grpc", &[(1, 1)])]).is_err());
    }

    #[test]
    fn a_slowdown_is_judged_by_the_larger_of_what_is_allowed() {
        let all = [timed("idle", &[100, 200, 400]), timed("busy", &[200, 300, 1_000])];
        let check = |percentile, times, plus_us, expect: &str| {
            let plus = Duration::from_micros(plus_us);
            let goal = Goal::Slowdown { subject: "busy", control: "idle", percentile, times, plus };
            check(&goal, &all, &[expect]);
            judge(&goal, &all).unwrap().remove(0).what
        };
        let what = check(Percentile::P50, 2.0, 0, "1 ok");
        assert_eq!(what, "p50, busy / (2 x idle)");
        check(Percentile::P50, 1.6, 0, "1.25 MISSED");
        // Half of the control's time is less than that time, and nothing is added to it.
        check(Percentile::P50, 0.5, 0, "4 MISSED");
        // Allowed are 1,200, 1,500 and 2,100 of 600, 900 and 3,000 us.
        let what = check(Percentile::P99, 1.5, 900, "0.6 ok");
        assert_eq!(what, "p99, busy / max(1.5 x idle, idle + 0.9 ms)");
    }

    #[test]
    fn calls_are_shown_and_nothing_is_wanted_of_them() {
        let all = [timed("idle", &[10, 20, 30]), runs("none", &[(1, 1)])];
        check(&Goal::Calls { side: "idle" }, &all, &["20 ", "60 "]);
        assert!(judge(&Goal::Calls { side: "none" }, &all).is_err());
    }

    #[test]
    fn figures_are_judged_by_their_median() {
        let goal = |at_most| Goal::Figures { what: "start, ms", values: vec![9.0, 1.0, 2.0], at_most };
        check(&goal(2.0), &[], &["2 ok"]);
        check(&goal(1.9), &[], &["2 MISSED"]);
        let shown = |values| Goal::Shown { what: "reads/s".to_owned(), values };
        check(&shown(vec![9.0, 1.0, 2.0]), &[], &["2 "]);
        assert!(judge(&shown(Vec::new()), &[]).is_err());
    }

    #[test]
    fn a_goal_for_no_side_is_a_mistake() {
        let error = judge(&Goal::Growth { side: "nobody", at_most_mib: 1.0 }, &[]).unwrap_err();
        assert_eq!(error.to_string(), "a goal names `nobody`, which is no side");
    }
}
