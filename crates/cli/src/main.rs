//! `braid`: runs a server, or talks to one.
//!
//! Reading order: [`args`] (what was typed), this match, [`commands`] (one file a verb), [`session`] and [`run`] (what a
//! command has in its hands), [`import`] (files of events), [`mod@export`] (the other way), [`demo`], [`input`] and [`output`] (text to values and back),
//! [`failure`] (messages and exit codes).
//! Results go to stdout, talk to stderr.

mod args;
mod commands;
mod demo;
mod export;
mod failure;
mod import;
mod input;
mod output;
mod run;
mod session;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

/// Rows are made on one thread and dropped on another, which the system's allocator pays for in memory.
#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let Cli { global, command } = Cli::parse();
    let ended = match command {
        Command::Serve(args) => run::serving(|| commands::serve::run(args)),
        Command::Demo(args) => run::following(&global, |session| commands::demo::run(session, args)),
        Command::Doctor(args) => {
            run::calling(&global, |session| commands::doctor::run(session, args, &global))
        }
        Command::Config(args) => commands::config::run(args, global.output),
        Command::Put(args) => run::following(&global, |session| commands::put::run(session, args)),
        Command::Import(args) => run::following(&global, |session| commands::import::run(session, args)),
        Command::Export(args) => run::calling(&global, |session| commands::export::run(session, args)),
        Command::Get(args) => run::calling(&global, |session| commands::get::run(session, args)),
        Command::Search(args) => run::calling(&global, |session| commands::search::run(session, args)),
        Command::Agg(args) => run::calling(&global, |session| commands::agg::run(session, args)),
        Command::Explain(args) => run::calling(&global, |session| commands::explain::run(session, args)),
        Command::Tail(args) => run::following(&global, |session| commands::tail::run(session, args)),
        Command::Ns(args) => run::calling(&global, |session| commands::ns::run(session, *args)),
        Command::Slices(args) => run::calling(&global, |session| commands::slices::run(session, args)),
        Command::Partitions(args) => {
            run::calling(&global, |session| commands::partitions::run(session, args))
        }
        Command::Split(args) => run::calling(&global, |session| commands::split::run(session, args)),
        Command::Readmode(args) => run::calling(&global, |session| commands::readmode::run(session, args)),
        Command::Tune(args) => run::calling(&global, |session| commands::tune::run(session, args)),
        Command::Filters(args) => run::calling(&global, |session| commands::filters::run(session, args)),
        Command::Block(args) => run::calling(&global, |session| commands::block::run(session, args)),
        Command::Workers(args) => run::calling(&global, |session| commands::workers::run(session, args)),
        Command::Audit(args) => run::calling(&global, |session| commands::audit::run(session, args)),
        Command::Completions(args) => commands::completions::run(args),
    };
    failure::end(ended, global.output)
}
