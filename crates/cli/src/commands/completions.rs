//! `braid completions`.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::failure::Failure;
use crate::output::{Format, Stdout};

const EXAMPLES: &str = "\
Examples:
  braid completions bash > ~/.local/share/bash-completion/completions/braid
  braid completions zsh > ~/.zfunc/_braid
  braid completions fish > ~/.config/fish/completions/braid.fish";

/// What `completions` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell to complete in
    shell: Shell,
}

/// Writes the script.
pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "braid", &mut script);
    let mut stdout = Stdout::new(Format::Table);
    stdout.write(&script)?;
    stdout.flush()
}
