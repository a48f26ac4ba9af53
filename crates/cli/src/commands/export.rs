//! `braid export`.

use std::path::PathBuf;
use std::time::Duration;

use export::{Asked, Format, Manifest};

use crate::export::{self as work, Order, PART_BYTES_DEFAULT, PART_BYTES_MIN, SERIES_MAX, SPLITS_MAX};
use crate::failure::Failure;
use crate::import::grouped;
use crate::input::{Moment, parse_duration, parse_moment, parse_size};
use crate::output::Format as Shown;
use crate::output::value::{count, size};
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  braid export -n plays --out plays
  braid export -n plays --since 7d --format ndjson --out week
  braid export -n plays --slice data_20260328 --with-splits --out proof
  braid export -n plays --split data_20260328/7/2/user:7 --out proof
  braid export -n plays user:7 user:8 --format csv --out two

Writes DIR/data/table=TABLE/part-00000.parquet and so on, and DIR/manifest.json with the rows and
the SHA-256 of every file. Rows are taken below closed time: nothing of what is exported can change
any more, and what is younger is left out and told. An export that was killed goes on when the same
command is run again. `braid import` reads NDJSON and CSV back.

--with-splits adds the targets of splits and their records, splits.ndjson, so that another program
can prove that both hold the same.";

/// What `export` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The series, at most 100; without any, all of the namespace
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Where to write: a new directory, or that of an export that was ended early
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// How rows are written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = FileFormat::Parquet)]
    format: FileFormat,
    /// Only the slice with this table; may be given more than once
    #[arg(long, value_name = "TABLE")]
    slice: Vec<String>,
    /// From so long ago, such as 1h or 7d
    #[arg(long, value_name = "DURATION", conflicts_with = "from", value_parser = parse_duration)]
    since: Option<Duration>,
    /// From this time on
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    from: Option<Moment>,
    /// Up to this time, without it [default: closed time]
    #[arg(long, value_name = "TIME", visible_alias = "until", value_parser = parse_moment)]
    to: Option<Moment>,
    /// Also the targets of splits, and the records of those that are completed
    #[arg(long)]
    with_splits: bool,
    /// Only the origin, the targets and the record of this split; may be given more than once
    #[arg(long = "split", value_name = "SPLIT", conflicts_with_all = ["ids", "slice"])]
    splits: Vec<String>,
    /// Also events of a time that is not closed, as they are now: an export that nobody can repeat
    #[arg(long, conflicts_with_all = ["with_splits", "splits"])]
    include_open: bool,
    /// A file ends once its rows have so many bytes
    #[arg(long, value_name = "SIZE", value_parser = parse_part, default_value_t = PART_BYTES_DEFAULT, hide_default_value = true)]
    part_size: u64,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum FileFormat {
    /// Stored rows as columns, for DuckDB, Spark, pandas
    Parquet,
    /// Events as JSON, one a line
    Ndjson,
    /// Items, one a record
    Csv,
}

fn parse_part(text: &str) -> Result<u64, String> {
    let bytes = parse_size(text)?.unsigned_abs();
    if bytes < PART_BYTES_MIN {
        return Err(format!("is too small; write at least {}", size(PART_BYTES_MIN)));
    }
    Ok(bytes)
}

/// Does what was asked.
pub(crate) async fn run(mut session: Session, args: Args) -> Result<(), Failure> {
    let order = order(session.namespace()?, args)?;
    let out = order.out.display().to_string();
    let manifest = Box::pin(work::export(&session.client, &session.env, order)).await?;
    if session.stdout.format() == Shown::Table {
        crate::failure::talk(&format!("{}\n", summary(&manifest, &out)));
        return Ok(());
    }
    session.stdout.write(&manifest.to_json())?;
    session.stdout.flush()
}

fn order(namespace: String, args: Args) -> Result<Order, Failure> {
    let format = match args.format {
        FileFormat::Parquet => Format::Parquet,
        FileFormat::Ndjson => Format::Ndjson,
        FileFormat::Csv => Format::Csv,
    };
    let with_splits = args.with_splits || !args.splits.is_empty();
    if with_splits && format != Format::Parquet {
        let message =
            "splits are exported as Parquet only; leave --format away, or --with-splits and --split";
        return Err(Failure::Usage(message.to_owned()));
    }
    for (what, found, max) in
        [("series", args.ids.len(), SERIES_MAX), ("splits", args.splits.len(), SPLITS_MAX)]
    {
        if found > max {
            return Err(Failure::Usage(format!(
                "{found} {what} are too many; name at most {max}, or export all"
            )));
        }
    }
    Ok(Order {
        namespace,
        format,
        out: args.out,
        asked: Asked {
            slices: args.slice,
            series: args.ids,
            splits: args.splits,
            since: None,
            until: None,
            with_splits,
            include_open: args.include_open,
        },
        since: args.from.or_else(|| args.since.map(Moment::Before)),
        until: args.to,
        part_bytes: args.part_size,
    })
}

fn summary(manifest: &Manifest, out: &str) -> String {
    let files = manifest.tables.iter().map(|table| table.files.len() as u64).sum();
    let what = if manifest.format == Format::Ndjson { "event" } else { "row" };
    let plural = if manifest.rows == 1 { "" } else { "s" };
    let rows = grouped(manifest.rows);
    let splits = manifest.splits.as_ref().map(|splits| format!(", {}", count(splits.count, "split")));
    format!(
        "{rows} {what}{plural} in {} of {}{} to {out}, {}",
        count(files, "file"),
        count(manifest.tables.len() as u64, "table"),
        splits.unwrap_or_default(),
        size(manifest.bytes)
    )
}
