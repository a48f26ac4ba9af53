//! `braid explain`.

use super::cost::CostSum;
use super::series::OneSeries;
use crate::failure::{Failure, talk};
use crate::output::{ExplainedRecord, Format, Tree, value};
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  braid explain -n plays user:7                what the first page of `braid get` reads
  braid explain -n plays user:7 --since 7d --page-size 1000 --where device=ios
  braid explain -n plays user:7 -o json | jq '.slices[].time_buckets[]'
  braid explain -n plays user:7 -o csv         one line a partition

Reads one page as `get` would and shows, instead of its events, the slices that it went
through, their time buckets, and the event buckets of those, each with what it gave and
took; then the parts of the time that were not visited, and why. Empty buckets that
follow each other share a line. Of a partition it says what the filter of split ones and
the cache of their records answered, and whether it was read itself (route ORIGIN) or the
targets of its split (route TARGET, with their event buckets).";

/// What `explain` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    series: OneSeries,
}

/// Reads a page and shows what that took.
pub(crate) async fn run(mut session: Session, args: Args) -> Result<(), Failure> {
    let started = session.env.clock.boot();
    let read = args.series.resolve(&session).await?;
    let answer = session.client.explain(read.request.clone()).await?;
    let took = session.env.clock.boot().since(started);
    let mut cost = CostSum::default();
    cost.add(&answer.response_context);
    if session.stdout.format() == Format::Table {
        let tree = Tree::of(&answer);
        session.stdout.write(tree.text.as_bytes())?;
        session.stdout.flush()?;
        if tree.left_out > 0 {
            let buckets = value::count(tree.left_out, "event bucket");
            talk(&format!("{buckets} left out; -o json and -o csv show all of them\n"));
        }
        talk(&cost.summary(u64::try_from(answer.records).unwrap_or(0), took));
    } else {
        let records: Vec<ExplainedRecord<'_>> = answer.slices.iter().map(ExplainedRecord).collect();
        session.stdout.list(&records, &answer)?;
    }
    talk(&cost.gaps(answer.partial.as_ref(), answer.retention_truncated));
    if !answer.next_page_token.is_empty() {
        talk(&read.next_page("explain", &answer.next_page_token));
    }
    Ok(())
}
