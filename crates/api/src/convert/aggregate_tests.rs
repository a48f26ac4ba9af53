//! Aggregations on the wire: what is asked, what is refused with which path, and an answer there and back.

use std::time::Duration;

use bytes::Bytes;
use engine::{Cost, Partial, Reason, Resume};
use model::{EventId, ItemKey, Order, Position, SeriesId, Timestamp};
use prost::Message;
use prost_types::{Duration as WireDuration, Timestamp as WireTime};

use super::*;
use crate::convert::search_request;
use crate::json::Codec;
use crate::token::TokenKey;

const NOW: i64 = 1_774_700_000_000_000_000;

fn keys() -> TokenKeys {
    TokenKeys { current: TokenKey { id: 1, secret: [9; 32] }, previous: None }
}

type Change = fn(&mut v1::AggregateEventRecordsRequest);

fn interval(start: i64, end: i64) -> Option<v1::TimeInterval> {
    let time = |seconds| Some(WireTime { seconds, nanos: 0 });
    Some(v1::TimeInterval { start: time(start), end: time(end) })
}

fn of(kind: Kind) -> Option<v1::AggregationQuery> {
    Some(v1::AggregationQuery { aggregation: Some(kind) })
}

fn distinct(key: &str, page_size: i32) -> Option<v1::AggregationQuery> {
    of(Kind::Distinct(v1::DistinctAggregation { event_item_key: key.to_owned(), page_size }))
}

fn stats(key: &str) -> Option<v1::AggregationQuery> {
    of(Kind::Stats(v1::StatsAggregation { event_item_key: key.to_owned() }))
}

fn histogram(interval: Option<WireDuration>) -> Option<v1::AggregationQuery> {
    of(Kind::TimeHistogram(v1::TimeHistogramAggregation { interval }))
}

fn seconds(seconds: i64, nanos: i32) -> Option<WireDuration> {
    Some(WireDuration { seconds, nanos })
}

/// A count of one series, changed.
fn aggregate(change: impl FnOnce(&mut v1::AggregateEventRecordsRequest)) -> Result<Aggregate> {
    let mut wire = v1::AggregateEventRecordsRequest {
        namespace: "orders".to_owned(),
        time_series_id: "s".to_owned(),
        time_interval: interval(10, 20),
        aggregation_query: of(Kind::Count(v1::CountAggregation {})),
        ..v1::AggregateEventRecordsRequest::default()
    };
    change(&mut wire);
    aggregate_request(wire, &keys(), NOW)
}

fn kind(query: Option<v1::AggregationQuery>) -> Aggregation {
    aggregate(|wire| wire.aggregation_query = query).unwrap().request.aggregation
}

#[test]
fn what_is_asked_is_kept() {
    let read = aggregate(|_| ()).unwrap().request.read;
    assert_eq!((read.namespace.as_str(), read.series.len()), ("orders", 1));
    assert_eq!((read.page_records, read.order, read.total_limit), (1_000, Order::NewestFirst, None));
    assert_eq!((read.query, read.resume, read.max_latency), (None, None, None));
    let read = aggregate(|wire| {
        wire.time_series_ids = vec!["u".to_owned(), "t".to_owned()];
        wire.search_query = Some(v1::SearchQuery {
            query: Some(v1::search_query::Query::Exists(v1::ExistsQuery { event_item_key: "k".to_owned() })),
        });
        wire.page_size = 7;
        wire.total_record_limit = 8;
        wire.order = v1::Order::OldestFirst.into();
        wire.max_latency = seconds(9, 0);
    });
    let read = read.unwrap().request.read;
    let series: Vec<&str> = read.series.iter().map(SeriesId::as_str).collect();
    assert_eq!((series, read.page_records), (vec!["s", "t", "u"], 7));
    assert_eq!((read.total_limit, read.order), (Some(8), Order::OldestFirst));
    assert_eq!(read.max_latency, Some(Duration::from_secs(9)));
    assert_eq!(read.query, Some(engine::SearchQuery::Exists { key: "k".to_owned() }));
    assert_eq!(aggregate(|wire| wire.time_series_id.clear()).unwrap().request.read.series, []);
}

#[test]
fn each_kind_has_its_meaning() {
    let key = || "k".to_owned();
    assert_eq!(aggregate(|_| ()).unwrap().request.aggregation, Aggregation::Count);
    assert_eq!(kind(distinct("k", 0)), Aggregation::Distinct { key: key() });
    assert_eq!(kind(stats("k")), Aggregation::Stats { key: key() });
    let width = |interval| match kind(histogram(interval)) {
        Aggregation::TimeHistogram { width } => width,
        other => panic!("{other:?}"),
    };
    assert_eq!(width(seconds(60, 1)), 60_000_000_001);
    assert_eq!(width(seconds(0, 1)), 1);
    // Longer than all time: one stretch that holds everything.
    assert_eq!(width(seconds(9_183_110_401, 0)), Interval::ALL.end());
    assert_eq!(width(seconds(i64::MAX, 999_999_999)), Interval::ALL.end());
}

#[test]
fn the_page_size_of_distinct_wins() {
    let buckets = |page_size, query| {
        let asked = aggregate(|wire| (wire.page_size, wire.aggregation_query) = (page_size, query));
        asked.unwrap().request.read.page_records
    };
    assert_eq!(buckets(0, distinct("k", 0)), 1_000);
    assert_eq!(buckets(5, distinct("k", 0)), 5);
    assert_eq!(buckets(5, distinct("k", 6)), 6);
    assert_eq!(buckets(10_000, distinct("k", 10_000)), 10_000);
    assert_eq!(buckets(5, stats("k")), 5);
}

#[test]
fn bad_input_is_named_by_its_path_and_says_what_to_send() {
    let missing = "aggregation_query: is missing; send one of distinct{event_item_key}, count{}, \
                   stats{event_item_key}, time_histogram{interval}";
    let no_key = "event_item_key: has 0 bytes, no item has such a key; send 1 to 256";
    let time = "aggregation_query.time_histogram.interval";
    let such = "send how long each stretch of time is, such as 60s";
    let cases: [(Change, String); 14] = [
        (|wire| wire.aggregation_query = None, missing.to_owned()),
        (|wire| wire.aggregation_query = Some(v1::AggregationQuery::default()), missing.to_owned()),
        (|wire| wire.aggregation_query = distinct("", 0), format!("aggregation_query.distinct.{no_key}")),
        (|wire| wire.aggregation_query = stats(""), format!("aggregation_query.stats.{no_key}")),
        (
            |wire| wire.aggregation_query = stats(&"k".repeat(257)),
            "aggregation_query.stats.event_item_key: has 257 bytes, no item has such a key; send 1 to 256"
                .to_owned(),
        ),
        (|wire| wire.aggregation_query = histogram(None), format!("{time}: is missing; {such}")),
        (|wire| wire.aggregation_query = histogram(seconds(0, 0)), format!("{time}: is not over 0; {such}")),
        (|wire| wire.aggregation_query = histogram(seconds(-1, 0)), format!("{time}: is not over 0; {such}")),
        (|wire| wire.aggregation_query = histogram(seconds(0, -1)), format!("{time}: is not over 0; {such}")),
        (
            |wire| wire.aggregation_query = histogram(seconds(1, 1_000_000_000)),
            format!("{time}: has nanos outside 0 to 999999999; put whole seconds into seconds"),
        ),
        (
            |wire| wire.aggregation_query = distinct("k", 10_001),
            "aggregation_query.distinct.page_size: is 10001; send 1 to 10000, or 0 for 1000".to_owned(),
        ),
        (
            |wire| (wire.page_size, wire.aggregation_query) = (5, distinct("k", -1)),
            "aggregation_query.distinct.page_size: is -1; send 1 to 10000, or 0 for 5".to_owned(),
        ),
        (|wire| wire.page_size = -1, "page_size: is -1; send 1 to 10000, or 0 for 1000".to_owned()),
        (|wire| wire.time_interval = None, "time_interval: is missing; send start and end".to_owned()),
    ];
    for (change, expect) in cases {
        let error = aggregate(change).unwrap_err();
        assert_eq!((error.reason(), error.to_string()), (Reason::FieldInvalid, expect));
    }
}

fn resume() -> Resume {
    let after = Position {
        event_time: Timestamp::from_nanos(15_000_000_007).unwrap(),
        event_id: EventId::new("e").unwrap(),
        series: SeriesId::new("s").unwrap(),
        item_key: ItemKey::new("k").unwrap(),
    };
    Resume { after, remaining: None, scanned_bytes: Vec::new(), event_bucket: None }
}

fn page(next: Option<Resume>) -> AggregatePage {
    AggregatePage {
        buckets: Vec::new(),
        count: 0,
        stats: None,
        next,
        partial: None,
        retention_truncated: false,
        complete: Interval::new(10_000_000_000, 20_000_000_000).unwrap(),
        cost: Cost { time_taken: Duration::from_secs(1), partitions: 4, origins: 4, ..Cost::default() },
    }
}

fn answer(page: AggregatePage) -> v1::AggregateEventRecordsResponse {
    aggregate_response(&aggregate(|_| ()).unwrap(), page, &keys(), NOW)
}

#[test]
fn an_answer_has_its_buckets_its_count_and_its_interval() {
    let hour = Interval::new(3_600_000_000_000, 7_200_000_000_000).unwrap();
    let keys = [BucketKey::Value(Bytes::from_static(b"\xff")), BucketKey::Time(hour)];
    let buckets = keys.into_iter().zip([9, u64::MAX]).map(|(key, count)| Bucket { key, count }).collect();
    let complete = Interval::new(12_000_000_000, 20_000_000_000).unwrap();
    let wire = answer(AggregatePage {
        buckets,
        count: 11,
        partial: Some(Partial { reason: "MAX_LATENCY", complete }),
        retention_truncated: true,
        complete,
        ..page(None)
    });
    let value = v1::AggregationBucket {
        event_item_value: Bytes::from_static(b"\xff"),
        count: 9,
        ..v1::AggregationBucket::default()
    };
    let time = v1::AggregationBucket {
        time_interval: interval(3_600, 7_200),
        count: i64::MAX,
        ..v1::AggregationBucket::default()
    };
    assert_eq!(wire.buckets, [value, time]);
    assert_eq!((wire.count, wire.stats, wire.truncated, wire.retention_truncated), (11, None, false, true));
    assert_eq!(wire.complete_interval, interval(12, 20));
    let partial = v1::Partial { reason: "MAX_LATENCY".to_owned(), complete_interval: interval(12, 20) };
    assert_eq!(wire.partial, Some(partial));
    let context = &wire.response_context[0];
    assert_eq!((context.namespace.as_str(), context.partitions, context.partial), ("orders", 4, true));
    assert_eq!((wire.next_page_token.as_str(), context.routes.unwrap().origin), ("", 4));
}

#[test]
fn numbers_are_shown_as_json_has_them() {
    let codec = Codec::new(crate::DESCRIPTORS).unwrap();
    let shown = |stats: Stats| {
        let wire = answer(AggregatePage { stats: Some(stats), ..page(None) }).stats.unwrap();
        let json = codec.message_to_json("braid.v1.Stats", &wire.encode_to_vec()).unwrap();
        let back = codec.message_from_json("braid.v1.Stats", &json).unwrap();
        assert_eq!(v1::Stats::decode(back.as_slice()).unwrap(), wire);
        String::from_utf8(json).unwrap()
    };
    let some = Stats { count: 2, min: Some(-0.5), max: Some(1e300), sum: 0.1 };
    assert_eq!(shown(some), r#"{"count":"2","min":-0.5,"max":1e+300,"sum":0.1}"#);
    // The least is there though it is zero; where there is no number, nothing is.
    let zero = Stats { count: 1, min: Some(0.0), max: Some(0.0), sum: 0.0 };
    assert_eq!(shown(zero), r#"{"count":"1","min":0.0,"max":0.0}"#);
    assert_eq!(shown(Stats { count: 0, min: None, max: None, sum: 0.0 }), "{}");
    // Beyond the largest number, which proto3 JSON has a word for.
    let over = |sum| Stats { count: 2, min: Some(f64::MAX), max: Some(f64::MAX), sum };
    assert!(shown(over(f64::INFINITY)).ends_with(r#""sum":"Infinity"}"#));
    assert!(shown(over(f64::NEG_INFINITY)).ends_with(r#""sum":"-Infinity"}"#));
}

#[test]
fn the_next_answer_goes_on_where_this_one_ended_and_nowhere_else() {
    let wire = answer(page(Some(resume())));
    assert!(wire.truncated);
    let token = wire.next_page_token;
    let next = |change: Change| {
        aggregate(|wire| {
            wire.page_token = token.clone();
            change(wire);
        })
    };
    let same = next(|wire| (wire.page_size, wire.max_latency) = (7, seconds(3, 0))).unwrap();
    assert_eq!(same.request.read.resume, Some(resume()));
    let others: [Change; 5] = [
        |wire| wire.aggregation_query = distinct("k", 0),
        |wire| wire.aggregation_query = histogram(seconds(60, 0)),
        |wire| wire.time_series_id.clear(),
        |wire| wire.order = v1::Order::OldestFirst.into(),
        |wire| wire.namespace.push('x'),
    ];
    for change in others {
        assert_eq!(next(change).unwrap_err().reason(), Reason::PageTokenInvalid);
    }
    let search = v1::SearchEventRecordsRequest {
        namespace: "orders".to_owned(),
        time_series_id: "s".to_owned(),
        time_interval: interval(10, 20),
        page_token: token,
        ..v1::SearchEventRecordsRequest::default()
    };
    assert_eq!(search_request(search, &keys(), NOW).unwrap_err().reason(), Reason::PageTokenInvalid);
}

#[test]
fn a_token_of_distinct_takes_another_number_of_values() {
    let asked = aggregate(|wire| wire.aggregation_query = distinct("k", 5)).unwrap();
    let token = aggregate_response(&asked, page(Some(resume())), &keys(), NOW).next_page_token;
    let next = aggregate(|wire| {
        wire.aggregation_query = distinct("k", 9);
        wire.page_token = token;
    });
    assert_eq!(next.unwrap().request.read.page_records, 9);
}
