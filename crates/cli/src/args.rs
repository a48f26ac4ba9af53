//! What was typed: the verbs in the order of the help, and the flags that every verb knows. What a verb takes is in its
//! own file under `commands`.

use clap::{Parser, Subcommand};

use crate::commands::{
    agg, audit, block, completions, config, demo, doctor, explain, export, filters, get, import, ns,
    partitions, put, readmode, search, serve, slices, split, tail, tune, workers,
};
use crate::output::Format;

const EXAMPLES: &str = "\
First steps:
  braid serve                                  start a server here
  braid ns create plays                        make a namespace
  braid put -n plays --id user:7 device=ios    write an event
  braid get -n plays user:7                    read the last 24 hours

Exit codes: 0 done, 1 other, 2 wrong input, 3 not found, 4 not allowed, 5 conflict,
6 try again, 8 damage or findings, 130 interrupted.";

/// A time-series event store: namespaces hold series, series hold events.
#[derive(Debug, Parser)]
#[command(name = "braid", version, after_help = EXAMPLES, disable_help_subcommand = true, max_term_width = 120)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Flags that every verb knows.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// The server to talk to
    #[arg(short, long, global = true, value_name = "URL", env = "BRAID_SERVER", hide_env_values = true, default_value = DEFAULT_SERVER)]
    pub server: String,
    /// The namespace to use
    #[arg(short, long, global = true, value_name = "NAME", env = "BRAID_NAMESPACE", hide_env_values = true)]
    pub namespace: Option<String>,
    /// How results are written to stdout
    #[arg(short, long, global = true, value_name = "FORMAT", value_enum, default_value_t)]
    pub output: Format,
    /// Who asks for a change, for the audit log [default: $USER]
    #[arg(long, global = true, value_name = "WHO", env = "BRAID_AUTHOR", hide_env_values = true)]
    pub author: Option<String>,
}

/// Where `braid serve` listens unless told otherwise.
pub(crate) const DEFAULT_SERVER: &str = "http://127.0.0.1:7420";

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a server
    Serve(serve::Args),
    /// Show the whole story on real parts, with what it measured
    Demo(demo::Args),
    /// Find out what is wrong with this installation
    Doctor(doctor::Args),
    /// Show or check the settings of a server
    Config(config::Args),
    /// Write one event, or those of a file
    Put(put::Args),
    /// Write the events of files
    Import(import::Args),
    /// Read the events of a series
    Get(get::Args),
    /// Read the events of some or all series that match a query
    Search(search::Args),
    /// Count or sum up events without reading them
    Agg(agg::Args),
    /// Show what a read does and costs
    Explain(explain::Args),
    /// Print the events of a series as they arrive
    Tail(tail::Args),
    /// Write events or stored rows to files for other tools
    Export(export::Args),
    /// List, show, plan, make, change and delete namespaces
    Ns(Box<ns::Args>),
    /// List the slices of a namespace
    Slices(slices::Args),
    /// Show how large the partitions of a namespace are, and the widest
    Partitions(partitions::Args),
    /// Show, ask for, compare and steer the splits of wide partitions
    Split(split::Args),
    /// Show and move how far reads are served from the targets of splits
    Readmode(readmode::Args),
    /// Tune how future slices are cut: proposals, and what would be
    Tune(tune::Args),
    /// Show the filters by which reads find what was split
    Filters(filters::Args),
    /// Block, unblock and list series whose reads or writes are refused
    Block(block::Args),
    /// List the servers that run on the store, and what each knows
    Workers(workers::Args),
    /// List who changed which configuration, when and why
    Audit(audit::Args),
    /// Write a completion script for a shell
    Completions(completions::Args),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_top_level_help_is_as_published() {
        // As wide as where there is no terminal.
        let help = Cli::command().term_width(100).render_help().to_string();
        assert_eq!(help, include_str!("../golden/help.txt"));
    }

    #[test]
    fn every_verb_has_examples() {
        let mut waiting = vec![Cli::command()];
        while let Some(command) = waiting.pop() {
            let verbs: Vec<_> = command.get_subcommands().cloned().collect();
            let said = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(!verbs.is_empty() || said.contains("braid "), "{} has no examples", command.get_name());
            assert!(command.get_about().is_some(), "{} says nothing", command.get_name());
            waiting.extend(verbs);
        }
    }
}
