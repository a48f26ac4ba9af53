//! `braid agg`.

mod merge;
mod sum;

use std::time::Duration;

use api::v1;
use api::v1::aggregation_query::Aggregation;

use self::merge::Merged;
use super::cost::is_stale;
use super::scope::{Scope, terms_help};
use crate::failure::{Failure, talk};
use crate::input::parse_duration;
use crate::output::{CountRecord, Format, StatsRecord, StretchRecord, ValueRecord, value};
use crate::session::Session;

/// Buckets in one answer: as many as the server gives, because all answers are merged anyway.
const PAGE_SIZE: i32 = 10_000;

const COUNT: &str = concat!(
    "\
Examples:
  braid agg count -n plays user:7 --since 1h
  braid agg count -n plays --where device=ios          all series of the namespace
  braid agg count -n plays user:7 user:8 --where 'bytes>=1000' -o json

",
    terms_help!(),
    "

Answers are asked for and added up until the end of the time. With -o json they become one
message, whose context sums up what they cost."
);

const DISTINCT: &str = concat!(
    "\
Examples:
  braid agg distinct -n plays device                   all series, the most frequent value first
  braid agg distinct -n plays device user:7 --since 7d -o csv --text

",
    terms_help!(),
    "

Answers are merged until the end of the time: each value comes once, with the number of all
its events."
);

const STATS: &str = concat!(
    "\
Examples:
  braid agg stats -n plays bytes user:7 --since 1h
  braid agg stats -n plays bytes --where device=ios -o json | jq .stats

",
    terms_help!(),
    "

Values that are not written as numbers are left out. Each answer of the server has the exact
sum of its events, rounded once to a double; where it takes several answers, their sums are
added with the rounding errors carried along and rounded once more. A sum beyond the largest
double is Infinity."
);

const HISTOGRAM: &str = concat!(
    "\
Examples:
  braid agg histogram -n plays 5m user:7 --since 1h --oldest-first
  braid agg histogram -n plays 1d --since 30d -o csv

",
    terms_help!(),
    "

Stretches are counted from 1970 on, so 1h means full hours. Those without events do not
come."
);

/// What `agg` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// How many events there are
    #[command(after_help = COUNT)]
    Count {
        #[command(flatten)]
        of: Of,
    },
    /// Each value of an item, with the number of its events
    #[command(after_help = DISTINCT)]
    Distinct {
        /// The item's key
        key: String,
        #[command(flatten)]
        of: Of,
        /// Show values as text in JSON and CSV too; what is no text stays base64
        #[arg(long)]
        text: bool,
    },
    /// Number, least, greatest and sum of the values of an item that are written as numbers
    #[command(after_help = STATS)]
    Stats {
        /// The item's key
        key: String,
        #[command(flatten)]
        of: Of,
    },
    /// How many events each stretch of time has
    #[command(after_help = HISTOGRAM)]
    Histogram {
        /// How long a stretch is, such as 5m or 1h
        #[arg(value_name = "DURATION", value_parser = parse_duration)]
        width: Duration,
        #[command(flatten)]
        of: Of,
    },
}

/// The events, and how much of them.
#[derive(Debug, clap::Args)]
struct Of {
    #[command(flatten)]
    scope: Scope,
    /// Take one answer of the server only, and say which time it covers
    #[arg(long)]
    page: bool,
}

/// Asks until the end, and writes what all answers make together.
pub(crate) async fn run(mut session: Session, args: Args) -> Result<(), Failure> {
    let started = session.env.clock.boot();
    let (aggregation, of, text) = asked(args.verb);
    let (oldest_first, whole) = sum_up(&session, &aggregation, of).await?;
    let took = session.env.clock.boot().since(started);
    let said = whole.talk(took, session.stdout.format() == Format::Table);
    write(&mut session, &aggregation, text, whole.message(oldest_first))?;
    talk(&said);
    Ok(())
}

fn asked(verb: Verb) -> (Aggregation, Of, bool) {
    match verb {
        Verb::Count { of } => (Aggregation::Count(v1::CountAggregation {}), of, false),
        Verb::Distinct { key, of, text } => {
            let distinct = v1::DistinctAggregation { event_item_key: key, page_size: 0 };
            (Aggregation::Distinct(distinct), of, text)
        }
        Verb::Stats { key, of } => {
            (Aggregation::Stats(v1::StatsAggregation { event_item_key: key }), of, false)
        }
        Verb::Histogram { width, of } => {
            let interval = Some(api::convert::duration_to_wire(width));
            (Aggregation::TimeHistogram(v1::TimeHistogramAggregation { interval }), of, false)
        }
    }
}

/// All answers, merged, and whether the oldest events come first.
async fn sum_up(session: &Session, aggregation: &Aggregation, of: Of) -> Result<(bool, Merged), Failure> {
    let search = of.scope.search(session).await?;
    let oldest_first = search.order() == v1::Order::OldestFirst;
    let mut request = v1::AggregateEventRecordsRequest {
        namespace: search.namespace,
        time_series_id: search.time_series_id,
        time_series_ids: search.time_series_ids,
        time_interval: search.time_interval,
        search_query: search.search_query,
        page_size: PAGE_SIZE,
        page_token: String::new(),
        total_record_limit: search.total_record_limit,
        order: search.order,
        max_latency: None,
        aggregation_query: Some(v1::AggregationQuery { aggregation: Some(aggregation.clone()) }),
    };
    let mut whole = Merged::default();
    loop {
        let answer = session.client.aggregate(request.clone()).await?;
        request.page_token.clone_from(&answer.next_page_token);
        let stale = is_stale(answer.partial.as_ref());
        whole.add(answer)?;
        if of.page || stale || request.page_token.is_empty() {
            return Ok((oldest_first, whole));
        }
    }
}

fn write(
    session: &mut Session,
    aggregation: &Aggregation,
    text: bool,
    message: v1::AggregateEventRecordsResponse,
) -> Result<(), Failure> {
    let stdout = &mut session.stdout;
    match aggregation {
        Aggregation::Count(_) => stdout.list(&[CountRecord(message.count)], &message),
        Aggregation::Stats(_) => {
            let stats = message.stats.unwrap_or_default();
            stdout.list(&[StatsRecord(&stats)], &message)
        }
        Aggregation::TimeHistogram(_) => {
            let records: Vec<StretchRecord<'_>> = message.buckets.iter().map(StretchRecord).collect();
            stdout.list(&records, &message)
        }
        Aggregation::Distinct(_) => {
            let record = |bucket| ValueRecord { bucket, text };
            let records: Vec<ValueRecord<'_>> = message.buckets.iter().map(record).collect();
            if !text {
                return stdout.list(&records, &message);
            }
            let rest = v1::AggregateEventRecordsResponse { buckets: Vec::new(), ..message.clone() };
            stdout.list_in("buckets", &records, &rest)
        }
    }
}

impl Merged {
    /// What people are told beside the result: what it cost, where it is a table, and what is missing from it.
    fn talk(&self, took: Duration, table: bool) -> String {
        let mut text = if table { self.cost.summary(self.events(), took) } else { String::new() };
        if self.is_truncated() {
            let covered = value::interval(self.covered());
            text += &format!("this is not all: it covers {covered}; leave out --page for the rest\n");
        }
        text + &self.cost.gaps(self.partial(), self.is_retention_truncated())
    }
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

    fn typed(words: &[&str]) -> Result<(Aggregation, Of, bool), String> {
        let typed = Typed::try_parse_from(["agg"].iter().chain(words));
        typed.map(|typed| asked(typed.args.verb)).map_err(|error| error.to_string())
    }

    #[test]
    fn each_verb_asks_for_its_aggregation() {
        let kind = |words: &[&str]| typed(words).unwrap().0;
        assert_eq!(kind(&["count"]), Aggregation::Count(v1::CountAggregation {}));
        let stats = v1::StatsAggregation { event_item_key: "bytes".to_owned() };
        assert_eq!(kind(&["stats", "bytes", "user:7"]), Aggregation::Stats(stats));
        let distinct = v1::DistinctAggregation { event_item_key: "device".to_owned(), page_size: 0 };
        let (asked, of, text) = typed(&["distinct", "device", "a", "--text", "--page"]).unwrap();
        assert_eq!((asked, of.page, text), (Aggregation::Distinct(distinct), true, true));
        let interval = Some(prost_types::Duration { seconds: 300, nanos: 0 });
        let histogram = v1::TimeHistogramAggregation { interval };
        assert_eq!(kind(&["histogram", "5m"]), Aggregation::TimeHistogram(histogram));
    }

    #[test]
    fn what_is_missing_is_asked_for() {
        for words in [&[][..], &["distinct"], &["stats"], &["histogram"], &["histogram", "user:7"]] {
            assert!(typed(words).is_err(), "{words:?}");
        }
        let said = typed(&["histogram", "user:7"]).unwrap_err();
        assert!(said.contains("`user:7` is not a duration; write one such as"), "{said}");
    }

    #[test]
    fn one_answer_of_several_says_what_it_covers() {
        let at = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
        let mut merged = Merged::default();
        let answer = v1::AggregateEventRecordsResponse {
            count: 7,
            truncated: true,
            next_page_token: "t".to_owned(),
            complete_interval: Some(v1::TimeInterval { start: at(60), end: at(120) }),
            ..v1::AggregateEventRecordsResponse::default()
        };
        merged.add(answer).unwrap();
        assert_eq!(
            merged.talk(Duration::from_millis(3), true),
            "7 events, 0 B read from 0 partitions in 3.0 ms\n\
             this is not all: it covers 1970-01-01T00:01:00Z to 1970-01-01T00:02:00Z; leave out --page for the rest\n"
        );
        merged.add(v1::AggregateEventRecordsResponse::default()).unwrap();
        assert_eq!(merged.talk(Duration::ZERO, false), "");
    }
}
