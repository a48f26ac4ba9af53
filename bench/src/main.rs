//! `bench`: measures Braid against what it is built on. One file a question in `question`, everything that questions
//! share in `harness`. Rivals live here and in no crate's dependencies; timed figures live here and in no test.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks to its user")]

mod arrivals;
mod braid;
mod buckets;
mod cassandra;
mod cli;
mod counted;
mod crowd;
mod divided;
mod embedded;
mod filled;
mod fleet;
mod harness;
mod kind;
mod local;
mod meanwhile;
mod packed;
mod place;
mod progress;
mod question;
mod raw;
mod remote;
mod routed;
mod series;
mod served;
mod small;
mod splitting;
mod wide;
mod wire;
mod workload;

/// What the product's binaries use, so that figures here are figures there.
#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

use std::process::ExitCode;

use anyhow::Result;

use cli::Command;
use harness::{Machine, Setting, json, report};
use question::Question;

const MISSED: u8 = 1;
const NOT_MEASURED: u8 = 2;

fn main() -> ExitCode {
    let command = match cli::parse(std::env::args().skip(1)) {
        Ok(command) => command,
        Err(problem) => {
            eprintln!("bench: {problem}");
            return ExitCode::from(NOT_MEASURED);
        }
    };
    let ended = match command {
        Command::Help => {
            print!("{}", cli::HELP);
            Ok(ExitCode::SUCCESS)
        }
        Command::List => {
            print!("{}", cli::list());
            Ok(ExitCode::SUCCESS)
        }
        Command::Run { questions, json } => run(&questions, json),
    };
    ended.unwrap_or_else(|error| {
        eprintln!("bench: {error:#}");
        ExitCode::from(NOT_MEASURED)
    })
}

/// Asks every question, whatever became of the ones before.
fn run(questions: &[&Question], as_json: bool) -> Result<ExitCode> {
    let setting = Setting::from_env()?;
    let machine = Machine::look(&setting)?;
    println!("{}", machine.line(&setting));
    let mut worst = 0;
    for question in questions {
        println!("\n{}: {}", question.name, question.asks);
        match (question.answer)(&setting) {
            Ok(answer) => {
                print!("{}", report(&answer));
                if as_json {
                    println!("{}", json(&answer, &setting, &machine));
                }
                worst = worst.max(if answer.missed() { MISSED } else { 0 });
            }
            Err(error) => {
                eprintln!("bench: {}: {error:#}", question.name);
                worst = NOT_MEASURED;
            }
        }
    }
    Ok(ExitCode::from(worst))
}
