//! `braid partitions`.

use api::admin::v1::{GetPartitionHistogramRequest, ListWidePartitionsRequest};

use crate::failure::Failure;
use crate::output::{HistogramRecord, WideRecord};
use crate::session::Session;

const HIST: &str = "\
Examples:
  braid partitions hist -n plays
  braid partitions hist -n plays data_20260511 --measure
  braid partitions hist -n plays -o csv

QUALITY says how good the sizes are: EXACT where every partition was read,
PER_FILE where a partition counts in every file that has a part of it, ESTIMATED
where they come from counters that may be too high, or from means. In a table
sizes are rounded; -o json and -o csv have bytes, -o json all steps too.";

const TOP: &str = "\
Examples:
  braid partitions top -n plays
  braid partitions top -n plays data_20260511 --measure --limit 5
  braid split create -n plays data_20260511/7/2/user:7     with an ID of that list

Widest first: the partitions that reads have found wide, with the bytes that were seen of
them, and those that were split. SPLIT is the state of the split, if there is one. With
--measure all partitions of a slice are read once, which finds those that nobody reads.";

/// What `partitions` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Show how large the partitions of slices are
    #[command(after_help = HIST)]
    Hist(Hist),
    /// List the widest partitions that are known
    #[command(after_help = TOP)]
    Top(Top),
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

#[derive(Debug, clap::Args)]
struct Top {
    /// Only of this slice, by its table
    #[arg(value_name = "TABLE")]
    table: Option<String>,
    /// Read every partition of the slice once: exact, and as slow as it is large
    #[arg(long, requires = "table")]
    measure: bool,
    /// How many to show at most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(i32).range(1..=1_000))]
    limit: i32,
}

/// Does what was asked.
pub(crate) async fn run(session: Session, args: Args) -> Result<(), Failure> {
    match args.verb {
        Verb::Hist(asked) => histograms(session, asked).await,
        Verb::Top(asked) => widest(session, asked).await,
    }
}

async fn histograms(mut session: Session, asked: Hist) -> Result<(), Failure> {
    let Hist { table, measure } = asked;
    let request = GetPartitionHistogramRequest {
        namespace: session.namespace()?,
        table: table.unwrap_or_default(),
        measure,
    };
    let answer = session.client.partition_histogram(request).await?;
    let records: Vec<HistogramRecord<'_>> = answer.histograms.iter().map(HistogramRecord).collect();
    session.stdout.list(&records, &answer)
}

async fn widest(mut session: Session, asked: Top) -> Result<(), Failure> {
    let request = ListWidePartitionsRequest {
        namespace: session.namespace()?,
        time_slice: asked.table.unwrap_or_default(),
        measure: asked.measure,
        page_size: asked.limit,
    };
    let answer = session.client.list_wide_partitions(request).await?;
    let records: Vec<WideRecord<'_>> = answer.partitions.iter().map(WideRecord).collect();
    session.stdout.list(&records, &answer)
}
