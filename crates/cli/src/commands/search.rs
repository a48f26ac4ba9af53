//! `braid search`.

use api::v1;

use super::read::{PageWriter, Span};
use crate::failure::Failure;
use crate::input::{join, parse_term};
use crate::output::Json;
use crate::session::{Session, wire_time};

/// Events of a page.
const PAGE_SIZE: i32 = 1_000;

const EXAMPLES: &str = "\
Examples:
  braid search -n plays user:7 user:8                  both, merged in one order
  braid search -n plays user:7 --where device=ios --where 'bytes>=1000'
  braid search -n plays user:7 --where 'title^=Sta' --where '!error'
  braid search -n plays user:7 --any --where a=1 --where b=1
  braid search -n plays user:7 --query '{\"range\":{\"event_item_key\":\"n\",\"lower_bound\":{\"value\":\"MTA=\"}}}'

A term is key=value, key!=value, key>10, key>=10, key<10, key<=10, key^=prefix, key (there is
one) or !key (there is none). Values that are written as numbers compare as numbers.";

/// What `search` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The series to search, at most 100
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    span: Span,
    /// Only events that match this term; may be given more than once, then all must match
    #[arg(long = "where", value_name = "TERM", value_parser = parse_term)]
    terms: Vec<v1::SearchQuery>,
    /// One of the terms is enough
    #[arg(long)]
    any: bool,
    /// The API's own search_query as JSON, instead of terms
    #[arg(long, value_name = "JSON", conflicts_with = "terms")]
    query: Option<String>,
    /// Oldest first instead of newest first
    #[arg(long)]
    oldest_first: bool,
    /// At most so many events in all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    limit: Option<i64>,
    /// Show values as text in JSON and CSV too; what is no text stays base64
    #[arg(long)]
    text: bool,
}

/// Searches and writes pages as they come.
pub(crate) async fn run(mut session: Session, args: Args) -> Result<(), Failure> {
    let started = session.env.clock.boot();
    let namespace = session.namespace()?;
    let (start, end) = args.span.resolve(&session, &namespace).await?;
    let mut writer =
        PageWriter::new(session.stdout.format(), session.stdout.width(), args.text)?.of_several_series();
    let mut request = v1::SearchEventRecordsRequest {
        namespace,
        time_series_id: String::new(),
        time_interval: Some(v1::TimeInterval { start: Some(wire_time(start)), end: Some(wire_time(end)) }),
        search_query: query(args.query.as_deref(), args.terms, args.any)?,
        time_series_ids: args.ids,
        page_size: PAGE_SIZE,
        page_token: String::new(),
        total_record_limit: args.limit.unwrap_or(0),
        order: if args.oldest_first { v1::Order::OldestFirst } else { v1::Order::NewestFirst }.into(),
        max_latency: None,
    };
    loop {
        let page = session.client.search(request.clone()).await?;
        writer.write(&mut session.stdout, &page)?;
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    session.stdout.write(&writer.end()?)?;
    session.stdout.flush()?;
    writer.talk(session.env.clock.boot().since(started));
    Ok(())
}

fn query(
    json: Option<&str>,
    terms: Vec<v1::SearchQuery>,
    any: bool,
) -> Result<Option<v1::SearchQuery>, Failure> {
    let Some(json) = json else { return Ok(join(terms, any)) };
    Json::new()?.read(json).map(Some).map_err(|problem| Failure::Usage(format!("--query: {problem}")))
}
