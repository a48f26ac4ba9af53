//! `braid get`.

use super::read::PageWriter;
use super::series::OneSeries;
use crate::failure::{Failure, talk};
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  braid get -n plays user:7                the last 24 hours, newest first
  braid get -n plays user:7 --since 1h --where device=ios
  braid get -n plays user:7 --from 2026-05-11 --to 2026-05-12 --oldest-first
  braid get -n plays user:7 --limit 5 -o json | jq .records
  braid get -n plays user:7 --since 7d -o ndjson > events.ndjson

Times are UTC unless they carry an offset: 2026-05-11T23:42Z, 2026-05-11,
2026-05-11T23:42:00.5+02:00, now-90m, or seconds since 1970. With -o json all
pages become one message, whose context sums up what they cost.";

/// What `get` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    series: OneSeries,
    /// Show values as text in JSON and CSV too; what is no text stays base64
    #[arg(long)]
    text: bool,
    /// Read one page only, and say how to get the next
    #[arg(long)]
    page: bool,
}

/// Reads and writes pages as they come.
pub(crate) async fn run(mut session: Session, args: Args) -> Result<(), Failure> {
    let started = session.env.clock.boot();
    let one_page = args.page || args.series.is_one_page();
    let read = args.series.resolve(&session).await?;
    let mut writer = PageWriter::new(session.stdout.format(), session.stdout.width(), args.text)?;
    if one_page {
        let page = session.client.read(read.request.clone()).await?;
        writer.write(&mut session.stdout, &page)?;
    } else {
        let mut pages = session.client.stream(read.request.clone()).await?;
        while let Some(page) = pages.next().await? {
            writer.write(&mut session.stdout, &page)?;
        }
    }
    session.stdout.write(&writer.end()?)?;
    session.stdout.flush()?;
    writer.talk(session.env.clock.boot().since(started));
    if !writer.next_page_token().is_empty() {
        talk(&read.next_page("get", writer.next_page_token()));
    }
    Ok(())
}
