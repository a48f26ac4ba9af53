//! `braid audit`.

use api::admin::v1::{ListAuditRequest, ListAuditResponse};

use crate::failure::Failure;
use crate::output::AuditRecord;
use crate::session::Session;

/// Entries on a page, as the server gives them.
const PAGE_MAX: u32 = 200;

const EXAMPLES: &str = "\
Examples:
  braid audit
  braid audit --limit 1000 -o ndjson | jq 'select(.name == \"plays\")'
  braid audit --limit 1 -o json | jq -r '.entries[0] | .before, .after'

Newest first: every change of namespaces, blocked ids and backfills that somebody
asked for. WHO is the --author of the command, $BRAID_AUTHOR or $USER, and the header
braid-author of other clients; nobody checks it. WHY is their --reason. The formats
json, ndjson and csv also have what was kept before and after. Nothing is ever taken
out of it.";

/// What `audit` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// How many changes to show at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

/// Lists them.
pub(crate) async fn run(mut session: Session, args: Args) -> Result<(), Failure> {
    let (mut whole, mut left) = (ListAuditResponse::default(), args.limit);
    loop {
        let page_size = i32::try_from(left.min(PAGE_MAX)).unwrap_or(i32::MAX);
        let page_token = std::mem::take(&mut whole.next_page_token);
        let page = session.client.list_audit(ListAuditRequest { page_size, page_token }).await?;
        left = left.saturating_sub(u32::try_from(page.entries.len()).unwrap_or(u32::MAX));
        whole.entries.extend(page.entries);
        whole.next_page_token = page.next_page_token;
        if left == 0 || whole.next_page_token.is_empty() {
            break;
        }
    }
    let records: Vec<AuditRecord<'_>> = whole.entries.iter().map(AuditRecord).collect();
    session.stdout.list(&records, &whole)
}
