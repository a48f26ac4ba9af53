//! `braid slices`.

use crate::failure::Failure;
use crate::output::SliceRecord;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  braid slices list -n plays
  braid slices list -n plays -o csv

A slice is a table. It is OPEN while it takes writes, CLOSED when it is only
read, EXPIRED when it is about to go.";

/// What `slices` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// List the slices that exist, with the shape each was made with
    #[command(after_help = EXAMPLES)]
    List,
}

/// Does what was asked.
pub(crate) async fn run(mut session: Session, args: Args) -> Result<(), Failure> {
    let Verb::List = args.verb;
    let answer = session.client.list_slices(&session.namespace()?).await?;
    let records: Vec<SliceRecord<'_>> = answer.slices.iter().map(SliceRecord).collect();
    session.stdout.list(&records, &answer)
}
