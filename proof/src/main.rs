//! `proof`: runs the models of the protocol. What they are is in the library; what was typed is in `cli`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks to its user")]

mod cli;

use std::process::ExitCode;

use cli::Command;
use proof::{Case, Expect, Want, select};

const NOT_AS_EXPECTED: u8 = 1;
const NOTHING_CHECKED: u8 = 2;

fn main() -> ExitCode {
    let ended = match cli::parse(std::env::args().skip(1)) {
        Ok(Command::Help) => {
            print!("{}", cli::HELP);
            Ok(ExitCode::SUCCESS)
        }
        Ok(Command::Model(model)) => run(&model),
        Err(problem) => Err(problem),
    };
    ended.unwrap_or_else(|problem| {
        eprintln!("proof: {problem}");
        ExitCode::from(NOTHING_CHECKED)
    })
}

/// Runs every case, whatever became of the ones before.
fn run(model: &cli::Model) -> Result<ExitCode, String> {
    let cases = select(&model.names, model.large)?;
    let width = cases.iter().map(|case| case.name.len()).max().unwrap_or(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut expected = true;
    for case in &cases {
        if model.list {
            println!("{:<width$}  {}", case.name, about(case));
            continue;
        }
        let (explored, verdict) = case.run(threads, Want::Shortest);
        let seconds = explored.took.as_secs_f64();
        println!(
            "{:<width$} {:>9} states, depth {:>2}, {seconds:>6.1} s  {verdict}",
            case.name, explored.states, explored.depth
        );
        expected &= verdict.is_expected();
        if let Some(violation) = explored.violation.filter(|_| model.trace || !verdict.is_expected()) {
            println!("  {}", violation.property);
            violation.steps.iter().enumerate().for_each(|(at, step)| println!("  {:>3}  {step}", at + 1));
        }
    }
    Ok(if expected { ExitCode::SUCCESS } else { ExitCode::from(NOT_AS_EXPECTED) })
}

fn about(case: &Case) -> String {
    let without =
        if case.without.is_empty() { String::new() } else { format!(" without {:?}", case.without) };
    match case.expect {
        Expect::Holds(marks) => format!("holds{without}, reaches {marks:?}"),
        Expect::Breaks(property) => format!("breaks{without}: {property}"),
    }
}
