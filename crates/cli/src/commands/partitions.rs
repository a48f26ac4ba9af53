//! `braid partitions`.

use api::admin::v1::GetPartitionHistogramRequest;

use crate::failure::Failure;
use crate::output::HistogramRecord;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  braid partitions hist -n plays
  braid partitions hist -n plays data_20260511 --measure
  braid partitions hist -n plays -o csv

QUALITY says how good the sizes are: EXACT where every partition was read,
PER_FILE where a partition counts in every file that has a part of it, ESTIMATED
where they come from counters that may be too high, or from means. In a table
sizes are rounded; -o json and -o csv have bytes, -o json all steps too.";

/// What `partitions` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Show how large the partitions of slices are
    #[command(after_help = EXAMPLES)]
    Hist(Hist),
}

#[derive(Debug, clap::Args)]
struct Hist {
    /// One slice, by its table; all of them where none is named
    #[arg(value_name = "TABLE")]
    table: Option<String>,
    /// Read every partition once: exact, and as slow as the slices are large
    #[arg(long)]
    measure: bool,
}

/// Does what was asked.
pub(crate) async fn run(mut session: Session, args: Args) -> Result<(), Failure> {
    let Verb::Hist(Hist { table, measure }) = args.verb;
    let request = GetPartitionHistogramRequest {
        namespace: session.namespace()?,
        table: table.unwrap_or_default(),
        measure,
    };
    let answer = session.client.partition_histogram(request).await?;
    let records: Vec<HistogramRecord<'_>> = answer.histograms.iter().map(HistogramRecord).collect();
    session.stdout.list(&records, &answer)
}
