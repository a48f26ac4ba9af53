//! `braid block`.

mod ids;

use api::admin::v1::{
    AddBlockRequest, AddBlockResponse, Block, ListBlocksRequest, ListBlocksResponse, RemoveBlockRequest,
    RemoveBlockResponse,
};

use crate::failure::{Failure, talk};
use crate::input::{Moment, parse_duration, parse_moment};
use crate::output::BlockRecord;
use crate::session::{Session, wire_time};

/// Ids that one request may name.
const IDS_MAX: usize = 1_000;

const ADD: &str = "\
Examples:
  braid block add -n plays user:7 --reason 'floods us' --expires 1h
  braid block add -n plays user:7 user:8 --writes
  braid block add -n plays --file hot.txt --reads --expires 2026-05-12
  braid block add -n plays --file config.properties

Without --reads and --writes both are refused. Clients get PERMISSION_DENIED
with the reason ID_BLOCKED, and are told the text of --reason. A block replaces
the one that the id had. Every server knows within two seconds.

A file has one id a line, or lines such as
  dgwts.config.plays.block.Ids: \"user:7, user:8\"
whose ids are blocked in the namespace of -n. Blank lines and lines that begin
with # are passed over; where a line is wrong, nothing is blocked.";

const RM: &str = "\
Examples:
  braid block rm -n plays user:7
  braid block rm -n plays --file hot.txt

Ids that are not blocked are passed over.";

const LIST: &str = "\
Examples:
  braid block list -n plays
  braid block list -n plays -o csv
  braid block list -n plays -o ndjson | jq -r .time_series_id > hot.txt

Shows what the server refuses now; what has expired is not in it.";

/// What `block` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Refuse reads, writes or both of some series
    #[command(after_help = ADD)]
    Add {
        #[command(flatten)]
        which: Which,
        /// Refuse reads
        #[arg(long)]
        reads: bool,
        /// Refuse writes
        #[arg(long)]
        writes: bool,
        /// Until when: 1h for so long, or a time such as 2026-05-11T23:42Z [default: for ever]
        #[arg(long, value_name = "TIME", value_parser = parse_expiry)]
        expires: Option<Moment>,
        /// Why; refused clients are told
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        reason: String,
        /// Check it and change nothing
        #[arg(long)]
        validate_only: bool,
    },
    /// Refuse them no longer
    #[command(after_help = RM)]
    Rm {
        #[command(flatten)]
        which: Which,
        /// Why, for the audit log
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        reason: String,
        /// Show what would be removed and change nothing
        #[arg(long)]
        validate_only: bool,
    },
    /// List the series that are blocked
    #[command(after_help = LIST)]
    List,
}

/// The series that are meant.
#[derive(Debug, clap::Args)]
struct Which {
    /// The series
    #[arg(value_name = "ID", required_unless_present = "file")]
    ids: Vec<String>,
    /// Also those of this file; - for stdin
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
}

/// Does what was asked.
pub(crate) async fn run(session: Session, args: Args) -> Result<(), Failure> {
    match args.verb {
        Verb::Add { which, reads, writes, expires, reason, validate_only } => {
            let like = Block {
                reads,
                writes,
                author: session.author.clone(),
                expire_time: expires.map(|expires| wire_time(expires.resolve(session.now()))),
                reason: reason.clone(),
                ..Block::default()
            };
            let ids = ids::gather(which.ids, which.file.as_deref())?;
            let request = AddBlockRequest { validate_only, reason, ..AddBlockRequest::default() };
            add(session, &ids, &like, request).await
        }
        Verb::Rm { which, reason, validate_only } => {
            let ids = ids::gather(which.ids, which.file.as_deref())?;
            let request = RemoveBlockRequest { validate_only, reason, ..RemoveBlockRequest::default() };
            remove(session, &ids, request).await
        }
        Verb::List => list(session).await,
    }
}

/// Blocks ids as `like` says. Each request is done whole or not at all; where one fails, those before it hold.
async fn add(
    mut session: Session,
    ids: &[String],
    like: &Block,
    request: AddBlockRequest,
) -> Result<(), Failure> {
    let (namespace, validate_only) = (session.namespace()?, request.validate_only);
    let mut whole = AddBlockResponse::default();
    for ids in ids.chunks(IDS_MAX) {
        let block = |id: &String| Block { time_series_id: id.clone(), ..like.clone() };
        let blocks = ids.iter().map(block).collect();
        let request = AddBlockRequest { namespace: namespace.clone(), blocks, ..request.clone() };
        match session.client.add_blocks(request).await {
            Ok(answer) => whole.blocks.extend(answer.blocks),
            Err(error) => return Err(stopped(error.into(), "blocked", whole.blocks.len(), validate_only)),
        }
    }
    told("blocked", whole.blocks.len(), validate_only);
    let records: Vec<BlockRecord<'_>> = whole.blocks.iter().map(BlockRecord).collect();
    session.stdout.list(&records, &whole)
}

async fn remove(mut session: Session, ids: &[String], request: RemoveBlockRequest) -> Result<(), Failure> {
    let (namespace, validate_only) = (session.namespace()?, request.validate_only);
    let mut whole = RemoveBlockResponse::default();
    for ids in ids.chunks(IDS_MAX) {
        let (namespace, time_series_ids) = (namespace.clone(), ids.to_vec());
        let request = RemoveBlockRequest { namespace, time_series_ids, ..request.clone() };
        match session.client.remove_blocks(request).await {
            Ok(answer) => whole.blocks.extend(answer.blocks),
            Err(error) => return Err(stopped(error.into(), "unblocked", whole.blocks.len(), validate_only)),
        }
    }
    told("unblocked", whole.blocks.len(), validate_only);
    let records: Vec<BlockRecord<'_>> = whole.blocks.iter().map(BlockRecord).collect();
    session.stdout.list(&records, &whole)
}

async fn list(mut session: Session) -> Result<(), Failure> {
    let mut request = ListBlocksRequest { namespace: session.namespace()?, ..ListBlocksRequest::default() };
    let mut whole = ListBlocksResponse::default();
    loop {
        let page = session.client.list_blocks(request.clone()).await?;
        whole.blocks.extend(page.blocks);
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    let records: Vec<BlockRecord<'_>> = whole.blocks.iter().map(BlockRecord).collect();
    session.stdout.list(&records, &whole)
}

fn told(done: &str, count: usize, validate_only: bool) {
    if validate_only {
        talk("checked only; nothing was changed\n");
    } else {
        talk(&format!("{done} {count} {}\n", if count == 1 { "id" } else { "ids" }));
    }
}

/// Says how far it came before it failed.
fn stopped(failure: Failure, done: &str, count: usize, validate_only: bool) -> Failure {
    if count > 0 {
        told(done, count, validate_only);
    }
    failure
}

/// Reads a duration from now on, or a time.
fn parse_expiry(text: &str) -> Result<Moment, String> {
    let wrong =
        |_| format!("`{text}` is neither; write 1h for an hour from now, or a time such as 2026-05-11");
    parse_moment(text).or_else(|_| parse_duration(text).map(Moment::After)).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_expiry_is_a_duration_from_now_or_a_time() {
        assert_eq!(parse_expiry("1h30m"), Ok(Moment::After(Duration::from_secs(5_400))));
        assert_eq!(parse_expiry("now+1h"), Ok(Moment::After(Duration::from_secs(3_600))));
        let at = |text: &str| Ok(Moment::At(text.parse().unwrap()));
        assert_eq!(parse_expiry("2026-05-11"), at("2026-05-11T00:00:00Z"));
        assert_eq!(parse_expiry("1778542920"), at("2026-05-11T23:42:00Z"));
        assert_eq!(
            parse_expiry("soon"),
            Err("`soon` is neither; write 1h for an hour from now, or a time such as 2026-05-11".to_owned())
        );
    }
}
