//! Which events a search or an aggregation is about, as it was typed.

use api::v1;

use super::read::Span;
use crate::failure::Failure;
use crate::input::{join, parse_term};
use crate::output::Json;
use crate::session::{Session, wire_time};

/// How terms are written, for the help of each verb that takes them.
macro_rules! terms_help {
    () => {
        "A term is key=value, key!=value, key>10, key>=10, key<10, key<=10, key^=prefix, key (there is
one) or !key (there is none). Values that are written as numbers compare as numbers."
    };
}
pub(super) use terms_help;

/// The events that are meant.
#[derive(Debug, clap::Args)]
pub(super) struct Scope {
    /// The series, at most 100; without any, all of the namespace
    #[arg(value_name = "ID")]
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
}

impl Scope {
    /// The search for them, from the first page on.
    pub(super) async fn search(self, session: &Session) -> Result<v1::SearchEventRecordsRequest, Failure> {
        let namespace = session.namespace()?;
        let (start, end) = self.span.resolve(session, &namespace).await?;
        Ok(v1::SearchEventRecordsRequest {
            namespace,
            time_interval: Some(v1::TimeInterval {
                start: Some(wire_time(start)),
                end: Some(wire_time(end)),
            }),
            search_query: query(self.query.as_deref(), self.terms, self.any)?,
            time_series_ids: self.ids,
            total_record_limit: self.limit.unwrap_or(0),
            order: if self.oldest_first { v1::Order::OldestFirst } else { v1::Order::NewestFirst }.into(),
            ..v1::SearchEventRecordsRequest::default()
        })
    }
}

fn query(
    json: Option<&str>,
    terms: Vec<v1::SearchQuery>,
    any: bool,
) -> Result<Option<v1::SearchQuery>, Failure> {
    let Some(json) = json else { return Ok(join(terms, any)) };
    Json::new()?.read(json).map(Some).map_err(|problem| Failure::Usage(format!("--query: {problem}")))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        scope: Scope,
    }

    /// What would be sent for what was typed after a fixed time.
    async fn sent(words: &[&str]) -> Result<v1::SearchEventRecordsRequest, String> {
        let fixed = ["search", "--from", "5", "--to", "6"];
        let typed = Typed::try_parse_from(fixed.iter().chain(words)).map_err(|error| error.to_string())?;
        let cli = Cli::parse_from(["braid", "-n", "plays", "doctor"]);
        assert!(matches!(cli.command, Command::Doctor(_)));
        let session = Session::new(&cli.global).map_err(|failure| format!("{failure:?}"))?;
        typed.scope.search(&session).await.map_err(|failure| format!("{failure:?}"))
    }

    #[tokio::test]
    async fn everything_typed_is_sent() {
        let all = sent(&[]).await.unwrap();
        assert_eq!((all.namespace.as_str(), all.time_series_ids.len()), ("plays", 0));
        assert_eq!((all.search_query, all.total_record_limit), (None, 0));
        assert_eq!(all.order, i32::from(v1::Order::NewestFirst));
        assert_eq!(all.time_interval.unwrap().end.unwrap().seconds, 6);
        let words = ["a", "b", "--where", "k=v", "--where", "!x", "--any", "--oldest-first", "--limit", "7"];
        let some = sent(&words).await.unwrap();
        assert_eq!(some.time_series_ids, ["a", "b"]);
        assert_eq!((some.order(), some.total_record_limit), (v1::Order::OldestFirst, 7));
        let terms = vec![parse_term("k=v").unwrap(), parse_term("!x").unwrap()];
        assert_eq!(some.search_query, join(terms, true));
        let json = sent(&["--query", r#"{"exists":{"event_item_key":"k"}}"#]).await.unwrap();
        assert_eq!(json.search_query, Some(parse_term("k").unwrap()));
    }

    #[tokio::test]
    async fn what_contradicts_itself_is_refused() {
        let said = sent(&["--query", r#"{"exists":{"key":"k"}}"#]).await.unwrap_err();
        assert!(said.contains("--query: exists: unrecognized field name 'key'"), "{said}");
        for words in [&["--query", "{}", "--where", "k"][..], &["--limit", "0"], &["--where", "=v"]] {
            assert!(sent(words).await.is_err(), "{words:?}");
        }
    }
}
