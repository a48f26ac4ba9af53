//! An answer as a person reads it. Pure: text out, nothing printed.

use super::answer::{Answer, Unit};
use super::goal::Judged;
use super::rounds::Runs;
use super::stats::Spread;
use super::table::table;

const MIB: f64 = (1 << 20) as f64;

/// Tables: what each side did, how that stands against the goals, ways beside each other where there are any; then the notes.
pub(crate) fn report(answer: &Answer) -> String {
    let mut text = String::new();
    if !answer.runs.is_empty() {
        let header =
            ["side", answer.unit.label(), "min..max", "CPU s", "client CPU s", "memory +MiB", "peak MiB"];
        let sides: Vec<Vec<String>> = answer.runs.iter().map(|runs| side(runs, answer.unit)).collect();
        text.push_str(&table(&header, &sides));
    }
    if !answer.judged.is_empty() {
        let goals: Vec<Vec<String>> = answer.judged.iter().map(goal).collect();
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&table(&["goal", "measured", "min..max", "wanted", ""], &goals));
    }
    if let Some(beside) = &answer.beside {
        text.push('\n');
        text.push_str(&beside.text());
    }
    for note in &answer.notes {
        text.push_str(&format!("  note: {note}\n"));
    }
    text
}

fn side(runs: &Runs, unit: Unit) -> Vec<String> {
    let mut cells = vec![runs.side.to_owned()];
    if let Some(rate) = Spread::of(runs.rates()) {
        cells.push(unit.shown(rate.median));
        cells.push(format!("{}..{}", unit.shown(rate.min), unit.shown(rate.max)));
    }
    if let Some(cpu) = Spread::of(runs.cpu_seconds()) {
        cells.push(format!("{:.2}", cpu.median));
    }
    if let Some(cpu) = Spread::of(runs.client_cpu_seconds()) {
        // Zero: the side has no client in a process of its own.
        cells.push(if cpu.max > 0.0 { format!("{:.2}", cpu.median) } else { "-".to_owned() });
    }
    // The largest: later rounds reuse what the allocator kept.
    if let Some(growth) = Spread::of(runs.growths()) {
        cells.push(format!("{:.0}", growth.max / MIB));
    }
    cells.push(format!("{:.0}", runs.memory_peak() as f64 / MIB));
    cells
}

fn goal(judged: &Judged) -> Vec<String> {
    vec![
        judged.what.clone(),
        format!("{:.2}", judged.measured),
        format!("{:.2}..{:.2}", judged.spread.min, judged.spread.max),
        judged.wanted.clone(),
        judged.verdict().to_owned(),
    ]
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use super::super::goal::Goal;
    use super::super::latency::Latency;
    use super::super::measure::Sample;
    use super::*;

    fn runs(side: &'static str, seconds: &[u64]) -> Runs {
        let sample = |seconds: &u64| Sample {
            units: 600_000,
            wall: Duration::from_secs(*seconds),
            cpu: Duration::from_millis(seconds * 1_500),
            memory_start: 10 << 20,
            memory_peak: (10 << 20) + (seconds << 20),
            ..Sample::default()
        };
        Runs { side, samples: seconds.iter().map(sample).collect() }
    }

    /// Three rounds of two sides, one of them with a client: one goal reached, one missed.
    pub(crate) fn example() -> Answer {
        let goals = [
            Goal::Rate { subject: "store", control: "fjall", at_least: 0.7 },
            Goal::Growth { side: "store", at_most_mib: 4.0 },
        ];
        let mut subject = runs("store", &[5, 8, 2]);
        for sample in &mut subject.samples {
            sample.client_cpu = sample.cpu / 3;
            sample.latency = Latency::of(vec![sample.wall / 2, sample.wall]);
        }
        let runs = vec![runs("fjall", &[4, 4, 2]), subject];
        Answer::new("ingest", Unit::Events, runs, &goals).unwrap().note("both sides make their \"values\"")
    }

    #[test]
    fn a_report_shows_sides_goals_and_notes() {
        let expect = include_str!("../../golden/report.txt");
        assert_eq!(report(&example()), expect);
        assert!(example().missed());
    }

    #[test]
    fn a_question_without_goals_is_never_missed() {
        let answer = Answer::new("ingest", Unit::Bytes, vec![runs("fjall", &[1])], &[]).unwrap();
        let expect = concat!(
            "  side   MB/s  min..max  CPU s  client CPU s  memory +MiB  peak MiB\n",
            "  fjall   0.6  0.6..0.6   1.50             -            1        11\n",
        );
        assert_eq!(report(&answer), expect);
        assert!(!answer.missed());
    }

    #[test]
    fn figures_without_sides_are_one_table() {
        let goal = Goal::Figures { what: "start, ms", values: vec![2.0], at_most: 3.0 };
        let answer = Answer::new("start", Unit::Starts, Vec::new(), &[goal]).unwrap();
        let expect = concat!(
            "  goal       measured    min..max   wanted\n",
            "  start, ms      2.00  2.00..2.00  <= 3.00  ok\n",
        );
        assert_eq!(report(&answer), expect);
    }
}
