//! `braid import`.

use crate::failure::Failure;
use crate::import::{self, BATCH_DEFAULT, EVENTS_MAX, InputFormat, Order, PARALLEL_DEFAULT, Settings};
use crate::session::Session;

/// Requests under way at once.
const PARALLEL_MAX: usize = 64;

const EXAMPLES: &str = "\
Examples:
  braid import -n plays events.ndjson
  braid import -n plays --backfill 2026-03-*.csv
  braid get -n plays user:7 -o ndjson | braid import -n copy --backfill

NDJSON has one event a line, in the shape that `get -o ndjson` writes; blank lines are
skipped. CSV has a header with the columns time_series_id and event_time; event_id may
follow, and every other column is an item: its name the key, the cell the value, an
empty cell no item. Without a column event_id the id is made from the content of the
record, so that importing it again changes nothing, and records that say the same are
one event. What `get -o csv` writes, one item a record, is read too.

Importing again writes nothing twice. Lines that are no events and events that are
refused are told as file:line: problem, the others are imported; then the exit code
is 2.

--backfill opens the namespace's whole past for the time of the import, so that events of
any age are taken unless retention has dropped their slice; it ends with the import, also
after an error or Ctrl-C. `braid ns backfills plays` shows what an import left behind that
was killed, and ends it.";

/// What `import` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What to read; - for stdin, as without any
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// How the events are written [default: csv where the file's name ends so, else ndjson]
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<InputFormat>,
    /// Values are plain text and not base64: in NDJSON, and in CSV with one item a record
    #[arg(long)]
    text: bool,
    /// Take events of any age
    #[arg(long)]
    backfill: bool,
    /// Events in a request, at most 1000
    #[arg(long, value_name = "N", default_value_t = BATCH_DEFAULT, value_parser = parse_batch)]
    batch: usize,
    /// Requests under way at once
    #[arg(long, value_name = "N", alias = "connections", default_value_t = PARALLEL_DEFAULT)]
    #[arg(value_parser = parse_parallel)]
    parallel: usize,
    /// Do not wait until events are durable: what the server's queue loses is lost
    #[arg(long)]
    queued: bool,
}

fn parse_batch(text: &str) -> Result<usize, String> {
    within(text, EVENTS_MAX)
}

fn parse_parallel(text: &str) -> Result<usize, String> {
    within(text, PARALLEL_MAX)
}

fn within(text: &str, most: usize) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| format!("write a number from 1 to {most}"))
}

/// Imports the files. Looks after Ctrl-C itself, so that a backfill ends as it should.
pub(crate) async fn run(mut session: Session, args: Args) -> Result<(), Failure> {
    let settings = Settings {
        namespace: session.namespace()?,
        batch: args.batch,
        parallel: args.parallel,
        queued: args.queued,
        backfill: args.backfill,
    };
    let order = Order { files: args.files, format: args.format, text: args.text, settings };
    import::run(&mut session, &order).await
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        args: Args,
    }

    fn typed(words: &[&str]) -> Result<Args, String> {
        let parsed = Typed::try_parse_from(["import"].iter().chain(words));
        parsed.map(|typed| typed.args).map_err(|error| error.to_string())
    }

    #[test]
    fn defaults_and_limits() {
        let args = typed(&[]).unwrap();
        assert_eq!((args.files.len(), args.batch, args.parallel, args.format), (0, 500, 4, None));
        assert!(!(args.text || args.backfill || args.queued));
        let args = typed(&["a", "-", "--batch", "1000", "--connections", "64", "--format", "csv"]).unwrap();
        assert_eq!((args.files.len(), args.batch, args.parallel), (2, 1_000, 64));
        assert_eq!(args.format, Some(InputFormat::Csv));
        for words in [["--batch", "1001"], ["--batch", "0"], ["--parallel", "65"], ["--format", "xml"]] {
            assert!(typed(&words).is_err(), "{words:?}");
        }
        assert!(typed(&["--batch", "0"]).unwrap_err().contains("write a number from 1 to 1000"));
    }
}
