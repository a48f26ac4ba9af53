//! `braid search`.

use api::v1;

use super::cost::is_stale;
use super::read::PageWriter;
use super::scope::{Scope, terms_help};
use crate::failure::{Failure, talk};
use crate::session::Session;

/// Events of a page.
const PAGE_SIZE: i32 = 1_000;

const EXAMPLES: &str = concat!(
    "\
Examples:
  braid search -n plays user:7 user:8                  both, merged in one order
  braid search -n plays --where device=ios             all series of the namespace
  braid search -n plays user:7 --where device=ios --where 'bytes>=1000'
  braid search -n plays user:7 --where 'title^=Sta' --where '!error'
  braid search -n plays user:7 --any --where a=1 --where b=1
  braid search -n plays user:7 --query '{\"range\":{\"event_item_key\":\"n\",\"lower_bound\":{\"value\":\"MTA=\"}}}'

",
    terms_help!(),
    "

Without an ID every partition of the time is looked at: events come slice by slice and
partition by partition, in order of time only inside of each. Blocked series are passed over."
);

/// What `search` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    scope: Scope,
    /// Show values as text in JSON and CSV too; what is no text stays base64
    #[arg(long)]
    text: bool,
}

/// Searches and writes pages as they come.
pub(crate) async fn run(mut session: Session, args: Args) -> Result<(), Failure> {
    let started = session.env.clock.boot();
    let mut writer =
        PageWriter::new(session.stdout.format(), session.stdout.width(), args.text)?.of_several_series();
    let mut request = args.scope.search(&session).await?;
    request.page_size = PAGE_SIZE;
    loop {
        let page = session.client.search(request.clone()).await?;
        if request.page_token.is_empty() && page.record_order() == v1::RecordOrder::ByPartition {
            talk("no series is named: events come partition by partition, not in one order of time\n");
        }
        writer.write(&mut session.stdout, &page)?;
        if page.next_page_token.is_empty() || is_stale(page.partial.as_ref()) {
            break;
        }
        request.page_token = page.next_page_token;
    }
    session.stdout.write(&writer.end()?)?;
    session.stdout.flush()?;
    writer.talk(session.env.clock.boot().since(started));
    Ok(())
}
