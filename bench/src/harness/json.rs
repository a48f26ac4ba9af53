//! An answer as a program reads it: one JSON object on one line. Pure.
//!
//! Written by hand, because it is one small object of text and finite numbers.

use super::answer::Answer;
use super::beside::{Beside, Line};
use super::goal::Judged;
use super::machine::Machine;
use super::rounds::Runs;
use super::setting::Setting;

/// One object with everything that the report shows, and each round by itself.
pub(crate) fn json(answer: &Answer, setting: &Setting, machine: &Machine) -> String {
    let mut members = vec![
        ("question", text(answer.question)),
        ("quick", setting.quick.to_string()),
        ("rounds", setting.rounds.to_string()),
        ("cores", machine.cores.to_string()),
        ("load", number(machine.load)),
        ("sync_seconds", number(machine.sync.as_secs_f64())),
        ("unit", text(answer.unit.name())),
        ("sides", array(answer.runs.iter().map(side))),
        ("goals", array(answer.judged.iter().map(goal))),
        ("notes", array(answer.notes.iter().map(|note| text(note)))),
    ];
    if let Some(shown) = &answer.beside {
        members.push(("beside", beside(shown)));
    }
    object(&members)
}

fn beside(shown: &Beside) -> String {
    let line = |line: &Line| {
        let figures = line.rounds.iter().map(|rounds| array(rounds.iter().copied().map(number)));
        let ways: Vec<(&str, String)> = shown.ways.iter().copied().zip(figures).collect();
        object(&[("what", text(&line.what)), ("ways", object(&ways))])
    };
    array(shown.lines.iter().map(line))
}

fn side(runs: &Runs) -> String {
    object(&[
        ("name", text(runs.side)),
        ("units_per_second", array(runs.rates().into_iter().map(number))),
        ("cpu_seconds", array(runs.cpu_seconds().into_iter().map(number))),
        ("client_cpu_seconds", array(runs.client_cpu_seconds().into_iter().map(number))),
        ("p50_seconds", array(runs.latencies().map(|latency| number(latency.p50.as_secs_f64())))),
        ("p99_seconds", array(runs.latencies().map(|latency| number(latency.p99.as_secs_f64())))),
        ("memory_growth_bytes", array(runs.samples.iter().map(|sample| sample.growth().to_string()))),
        ("memory_peak_bytes", runs.memory_peak().to_string()),
    ])
}

fn goal(judged: &Judged) -> String {
    object(&[
        ("what", text(&judged.what)),
        ("measured", number(judged.measured)),
        ("min", number(judged.spread.min)),
        ("max", number(judged.spread.max)),
        ("wanted", text(&judged.wanted)),
        ("verdict", text(judged.verdict())),
    ])
}

fn object(members: &[(&str, String)]) -> String {
    let members: Vec<String> =
        members.iter().map(|(name, value)| format!("{}:{value}", text(name))).collect();
    format!("{{{}}}", members.join(","))
}

fn array(values: impl Iterator<Item = String>) -> String {
    format!("[{}]", values.collect::<Vec<_>>().join(","))
}

/// JSON knows no infinity; what is not finite was not measured.
fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { "null".to_owned() }
}

fn text(value: &str) -> String {
    let mut quoted = String::from('"');
    for letter in value.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            control if control < ' ' => quoted.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::report::tests::example;
    use super::*;

    #[test]
    fn an_answer_is_one_line_of_json() {
        let setting = Setting::for_test(3);
        let machine = Machine { cores: 2, load: 0.5, sync: Duration::from_millis(2) };
        let expect = include_str!("../../golden/report.json").trim_end();
        assert_eq!(json(&example(), &setting, &machine), expect);
    }

    #[test]
    fn ways_are_shown_with_all_their_rounds() {
        let line = Line { what: "drain, ms".to_owned(), rounds: vec![vec![1.0, 2.5], Vec::new()] };
        let shown = Beside { ways: vec!["off", "on"], lines: vec![line] };
        assert_eq!(beside(&shown), r#"[{"what":"drain, ms","ways":{"off":[1,2.5],"on":[]}}]"#);
    }

    #[test]
    fn text_is_escaped_and_numbers_are_finite() {
        assert_eq!(text("a\"b\\c\n\u{1}ä"), r#""a\"b\\c\u000a\u0001ä""#);
        assert_eq!(number(f64::INFINITY), "null");
    }
}
