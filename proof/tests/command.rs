//! `proof` as it is typed: what it prints, and the status that it ends with.

use std::process::{Command, Output};

fn proof(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_proof")).args(arguments).output().expect("the binary runs")
}

#[track_caller]
fn check(arguments: &[&str], status: i32, says: &[&str]) {
    let output = proof(arguments);
    let text =
        String::from_utf8_lossy(if status == 2 { &output.stderr } else { &output.stdout }).into_owned();
    assert_eq!(output.status.code(), Some(status), "{text}");
    for part in says {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

#[test]
fn one_line_a_case() {
    check(&["model", "slice-announce"], 0, &["slice-announce ", " states, depth ", "holds\n"]);
    check(&["model", "slice-stale-retention"], 0, &["caught in 9 steps\n"]);
}

#[test]
fn a_trace_has_a_line_a_step() {
    let says = ["caught in 7 steps\n", "\n  S3 an answer", "\n    1  ", "\n    7  Reader(ByView("];
    check(&["model", "--trace", "slice-ack-before-barrier"], 0, &says);
}

#[test]
fn the_list_says_what_is_expected() {
    check(
        &["model", "--list", "clock"],
        0,
        &["clock-no-margin ", "breaks without [Margin]: I2", "holds, reaches ["],
    );
}

#[test]
fn mistakes_are_told() {
    check(&["model", "slices"], 2, &["proof: there is no case `slices`; `proof model --list` names them\n"]);
    check(&["simulate"], 2, &["`simulate` is not a command; there is `model`; try --help\n"]);
    check(&[], 0, &["usage: proof model [option...] [name...]\n"]);
}
