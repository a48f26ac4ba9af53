//! `braid get`.

use api::v1;
use jiff::Timestamp;

use super::read::{PageWriter, Span};
use crate::failure::{Failure, talk};
use crate::input::{Item, parse_item};
use crate::output::quoted;
use crate::session::{Session, wire_time};

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
    /// The series to read
    id: String,
    #[command(flatten)]
    span: Span,
    /// Oldest first instead of newest first
    #[arg(long)]
    oldest_first: bool,
    /// At most so many events in all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    limit: Option<i64>,
    /// Events per page, at most 10000
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=10_000))]
    page_size: Option<i32>,
    /// Only events that have this item; may be given more than once, then all must match
    #[arg(long = "where", value_name = "KEY=VALUE", value_parser = parse_item)]
    filters: Vec<Item>,
    /// Show values as text in JSON and CSV too; what is no text stays base64
    #[arg(long)]
    text: bool,
    /// Read one page only, and say how to get the next
    #[arg(long)]
    page: bool,
    /// Read the one page that this token leads to; everything else must be as it was
    #[arg(long, value_name = "TOKEN", requires = "from", requires = "to")]
    page_token: Option<String>,
}

/// Reads and writes pages as they come.
pub(crate) async fn run(mut session: Session, args: Args) -> Result<(), Failure> {
    let started = session.env.clock.boot();
    let namespace = session.namespace()?;
    let (start, end) = args.span.resolve(&session, &namespace).await?;
    let request = request(&args, namespace, start, end);
    let mut writer = PageWriter::new(session.stdout.format(), session.stdout.width(), args.text)?;
    if args.page || args.page_token.is_some() {
        let page = session.client.read(request.clone()).await?;
        writer.write(&mut session.stdout, &page)?;
    } else {
        let mut pages = session.client.stream(request.clone()).await?;
        while let Some(page) = pages.next().await? {
            writer.write(&mut session.stdout, &page)?;
        }
    }
    session.stdout.write(&writer.end()?)?;
    session.stdout.flush()?;
    writer.talk(session.env.clock.boot().since(started));
    if !writer.next_page_token().is_empty() {
        talk(&next_page(&args, &request, start, end, writer.next_page_token()));
    }
    Ok(())
}

fn request(args: &Args, namespace: String, start: Timestamp, end: Timestamp) -> v1::ReadEventRecordsRequest {
    let filter = |item: &Item| v1::EventFilter {
        match_event_item_key: item.key.clone(),
        match_event_item_value: item.value.clone().into(),
    };
    v1::ReadEventRecordsRequest {
        namespace,
        time_series_id: args.id.clone(),
        time_interval: Some(v1::TimeInterval { start: Some(wire_time(start)), end: Some(wire_time(end)) }),
        event_filters: args.filters.iter().map(filter).collect(),
        page_size: args.page_size.unwrap_or(0),
        page_token: args.page_token.clone().unwrap_or_default(),
        total_record_limit: args.limit.unwrap_or(0),
        order: if args.oldest_first { v1::Order::OldestFirst } else { v1::Order::NewestFirst }.into(),
        max_latency: None,
    }
}

/// The command for the next page: with the times as they were resolved, because the token holds only for those.
fn next_page(
    args: &Args,
    request: &v1::ReadEventRecordsRequest,
    start: Timestamp,
    end: Timestamp,
    token: &str,
) -> String {
    let mut words = vec!["-n".to_owned(), request.namespace.clone(), args.id.clone()];
    words.extend(["--from".to_owned(), start.to_string(), "--to".to_owned(), end.to_string()]);
    if args.oldest_first {
        words.push("--oldest-first".to_owned());
    }
    if let Some(limit) = args.limit {
        words.extend(["--limit".to_owned(), limit.to_string()]);
    }
    if let Some(size) = args.page_size {
        words.extend(["--page-size".to_owned(), size.to_string()]);
    }
    for Item { key, value } in &args.filters {
        words.extend(["--where".to_owned(), format!("{key}={value}")]);
    }
    words.extend(["--page-token".to_owned(), token.to_owned()]);
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("next page: braid get {}\n", words.join(" "))
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
        Typed::try_parse_from(["get"].iter().chain(words))
            .map(|typed| typed.args)
            .map_err(|error| error.to_string())
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::new(seconds, 1).unwrap()
    }

    #[test]
    fn everything_typed_is_sent() {
        let args =
            typed(&["s", "--limit", "7", "--page-size", "9", "--where", "k=v", "--oldest-first"]).unwrap();
        let sent = request(&args, "plays".to_owned(), at(1), at(2));
        assert_eq!((sent.namespace.as_str(), sent.time_series_id.as_str()), ("plays", "s"));
        assert_eq!((sent.page_size, sent.total_record_limit), (9, 7));
        assert_eq!(sent.order(), v1::Order::OldestFirst);
        assert_eq!(sent.event_filters[0].match_event_item_value.as_ref(), b"v");
        let start = sent.time_interval.unwrap().start.unwrap();
        assert_eq!((start.seconds, start.nanos), (1, 1));
        let sent = request(&typed(&["s", "--page"]).unwrap(), String::new(), at(1), at(2));
        assert_eq!((sent.page_size, sent.order()), (0, v1::Order::NewestFirst));
    }

    #[test]
    fn the_next_page_can_be_pasted() {
        let args = typed(&["it's", "--limit", "7", "--where", "k=a b", "--page"]).unwrap();
        let sent = request(&args, "plays".to_owned(), at(1), at(2));
        assert_eq!(
            next_page(&args, &sent, at(1), at(2), "t0k-_"),
            "next page: braid get -n plays 'it'\\''s' --from 1970-01-01T00:00:01.000000001Z \
             --to 1970-01-01T00:00:02.000000001Z --limit 7 --where 'k=a b' --page-token t0k-_\n"
        );
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let cases: [&[&str]; 6] = [
            &["s", "--since", "1h", "--from", "now"],
            &["s", "--page-token", "t", "--to", "now"],
            &["s", "--page-token", "t", "--from", "now"],
            &["s", "--limit", "0"],
            &["s", "--page-size", "10001"],
            &["s", "--from", "yesterday"],
        ];
        for words in cases {
            assert!(typed(words).is_err(), "{words:?}");
        }
        assert!(typed(&["s", "--page-token", "t", "--from", "5", "--to", "6"]).is_ok());
        let said = typed(&["s", "--from", "yesterday"]).unwrap_err();
        assert!(said.contains("is not a time; write one such as"), "{said}");
    }
}
