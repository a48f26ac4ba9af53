//! `braid demo`.

use crate::demo::{self, Backend, Options, Queue, Scale};
use crate::failure::Failure;
use crate::output::Format;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  braid demo
  braid demo --scale m --keep
  braid demo --json | jq .shadow.seen
  braid demo --backend cassandra
  braid demo --backend cassandra --queue kafka

Starts a server of its own on a free port with its data in a temporary directory, writes
a skewed workload (one whale with half of the events, small series whose sizes fall off
as 1/n) into hours that are over, and reads it. Those reads find the whale's partitions
wide; the server splits them and proves the copies equal. Reads then move over through the
gates: shadow, where both sides are compared, canary, on. At the end the same reads again,
what changed for better and for worse, and a comparison of every event of every series with
what was written. Exit code 8 says that something read is not what was written.

With --backend cassandra the events go to the cluster that [store.cassandra] in the
settings or BRAID__STORE__CASSANDRA__* name, under a keyspace prefix of the demo's own,
and its keyspaces are dropped at the end. With --queue kafka, detections of wide partitions
travel through the brokers of [queue.kafka], in a topic of the demo's own.

The workload is the same in every run; the figures are those of this run on this machine.";

/// What `demo` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// How much to write
    #[arg(long, value_enum, default_value_t)]
    scale: Scale,
    /// One JSON object with all figures on stdout, as with -o json
    #[arg(long)]
    json: bool,
    /// Leave the data where it is, and say how to look at it
    #[arg(long)]
    keep: bool,
    /// Which store the demo's server keeps the events in
    #[arg(long, value_enum, default_value_t, conflicts_with = "use_server")]
    backend: Backend,
    /// How the demo's server hears of what its reads have found wide
    #[arg(long, value_enum, default_value_t, conflicts_with = "use_server")]
    queue: Queue,
    /// Use the server of -s or BRAID_SERVER; the namespace `demo` must not exist there
    #[arg(long)]
    use_server: bool,
}

/// Runs the demo. Looks after Ctrl-C itself, to remove what it has made.
pub(crate) async fn run(session: Session, args: Args) -> Result<(), Failure> {
    let json = args.json || session.stdout.format() == Format::Json;
    let Args { scale, keep, backend, queue, use_server, .. } = args;
    let options = Options { scale, json, keep, backend, queue, use_server };
    demo::run(session, options).await
}
