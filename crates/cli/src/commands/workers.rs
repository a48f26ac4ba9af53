//! `braid workers`.

use crate::failure::{Failure, talk};
use crate::output::{Format, WorkerRecord, queue_line};
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  braid workers
  braid workers -o json | jq -r '.workers[] | select(.leased | not) | .address'

EPOCH is the last change of configuration that a server has reported to know; one
that stays behind has lost touch. LEASE is yes while it may act on what it knows;
without one its reads may be partial (VIEW_STALE). SILENT is for how long nothing
was heard of it; servers report every five seconds. One that died is listed for an
hour. The server that answered is marked as here. stderr gets a line about the queue
by which split workers hear of wide partitions.";

/// What `workers` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

/// Lists them.
pub(crate) async fn run(mut session: Session, _args: Args) -> Result<(), Failure> {
    let answer = session.client.list_workers().await?;
    let records: Vec<WorkerRecord<'_>> = answer.workers.iter().map(WorkerRecord).collect();
    session.stdout.list(&records, &answer)?;
    if let (Format::Table, Some(queue)) = (session.stdout.format(), &answer.queue) {
        talk(&queue_line(queue));
    }
    Ok(())
}
