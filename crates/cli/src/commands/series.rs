//! A read of one series, as it was typed, and the command that goes on behind its page.

use api::v1;
use jiff::Timestamp;

use super::read::Span;
use crate::failure::Failure;
use crate::input::{Item, parse_item};
use crate::output::quoted;
use crate::session::{Session, wire_time};

/// The read that is meant.
#[derive(Debug, clap::Args)]
pub(super) struct OneSeries {
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
    /// Read the one page that this token leads to; everything else must be as it was
    #[arg(long, value_name = "TOKEN", requires = "from", requires = "to")]
    page_token: Option<String>,
}

/// A read with its times as they are meant now.
#[derive(Debug)]
pub(super) struct ResolvedRead {
    typed: OneSeries,
    start: Timestamp,
    end: Timestamp,
    pub(super) request: v1::ReadEventRecordsRequest,
}

impl OneSeries {
    /// Whether one page is meant, wherever it is.
    pub(super) fn is_one_page(&self) -> bool {
        self.page_token.is_some()
    }

    /// Finds out which times are meant.
    pub(super) async fn resolve(self, session: &Session) -> Result<ResolvedRead, Failure> {
        let namespace = session.namespace()?;
        let (start, end) = self.span.resolve(session, &namespace).await?;
        Ok(self.between(namespace, start, end))
    }

    fn between(self, namespace: String, start: Timestamp, end: Timestamp) -> ResolvedRead {
        let filter = |item: &Item| v1::EventFilter {
            match_event_item_key: item.key.clone(),
            match_event_item_value: item.value.clone().into(),
        };
        let interval = v1::TimeInterval { start: Some(wire_time(start)), end: Some(wire_time(end)) };
        let request = v1::ReadEventRecordsRequest {
            namespace,
            time_series_id: self.id.clone(),
            time_interval: Some(interval),
            event_filters: self.filters.iter().map(filter).collect(),
            page_size: self.page_size.unwrap_or(0),
            page_token: self.page_token.clone().unwrap_or_default(),
            total_record_limit: self.limit.unwrap_or(0),
            order: if self.oldest_first { v1::Order::OldestFirst } else { v1::Order::NewestFirst }.into(),
            max_latency: None,
        };
        ResolvedRead { typed: self, start, end, request }
    }
}

impl ResolvedRead {
    /// The command for the next page: with the times as they were resolved, because the token holds only for those.
    pub(super) fn next_page(&self, verb: &str, token: &str) -> String {
        let OneSeries { id, oldest_first, limit, page_size, filters, .. } = &self.typed;
        let mut words = vec!["-n".to_owned(), self.request.namespace.clone(), id.clone()];
        words.extend(["--from".to_owned(), self.start.to_string(), "--to".to_owned(), self.end.to_string()]);
        if *oldest_first {
            words.push("--oldest-first".to_owned());
        }
        if let Some(limit) = limit {
            words.extend(["--limit".to_owned(), limit.to_string()]);
        }
        if let Some(size) = page_size {
            words.extend(["--page-size".to_owned(), size.to_string()]);
        }
        for Item { key, value } in filters {
            words.extend(["--where".to_owned(), format!("{key}={value}")]);
        }
        words.extend(["--page-token".to_owned(), token.to_owned()]);
        let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        format!("next page: braid {verb} {}\n", words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        series: OneSeries,
    }

    fn typed(words: &[&str]) -> Result<OneSeries, String> {
        Typed::try_parse_from(["get"].iter().chain(words))
            .map(|typed| typed.series)
            .map_err(|error| error.to_string())
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::new(seconds, 1).unwrap()
    }

    fn resolved(words: &[&str]) -> ResolvedRead {
        typed(words).unwrap().between("plays".to_owned(), at(1), at(2))
    }

    #[test]
    fn everything_typed_is_sent() {
        let words = ["s", "--limit", "7", "--page-size", "9", "--where", "k=v", "--oldest-first"];
        let sent = resolved(&words).request;
        assert_eq!((sent.namespace.as_str(), sent.time_series_id.as_str()), ("plays", "s"));
        assert_eq!((sent.page_size, sent.total_record_limit), (9, 7));
        assert_eq!(sent.order(), v1::Order::OldestFirst);
        assert_eq!(sent.event_filters[0].match_event_item_value.as_ref(), b"v");
        let start = sent.time_interval.unwrap().start.unwrap();
        assert_eq!((start.seconds, start.nanos), (1, 1));
        let sent = resolved(&["s"]).request;
        assert_eq!((sent.page_size, sent.order()), (0, v1::Order::NewestFirst));
        let sent = resolved(&["s", "--page-token", "t", "--from", "5", "--to", "6"]);
        assert_eq!((sent.request.page_token.as_str(), sent.typed.is_one_page()), ("t", true));
    }

    #[test]
    fn the_next_page_can_be_pasted() {
        let read = resolved(&["it's", "--limit", "7", "--where", "k=a b"]);
        assert_eq!(
            read.next_page("get", "t0k-_"),
            "next page: braid get -n plays 'it'\\''s' --from 1970-01-01T00:00:01.000000001Z \
             --to 1970-01-01T00:00:02.000000001Z --limit 7 --where 'k=a b' --page-token t0k-_\n"
        );
        let read = resolved(&["s", "--oldest-first", "--page-size", "3"]);
        assert!(read.next_page("explain", "t").starts_with("next page: braid explain -n plays s --from "));
        assert!(read.next_page("get", "t").ends_with("Z --oldest-first --page-size 3 --page-token t\n"));
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
