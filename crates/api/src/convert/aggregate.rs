//! Aggregations: what is to be found out of the events of a search, and each answer with the token for the next.

use engine::{
    AggregatePage, AggregateRequest, Aggregation, BUCKETS_DEFAULT, Bucket, BucketKey, Error, Result, Stats,
};
use model::Interval;

use super::read::{
    item_key_from_wire, page_records, partial_to_wire, read_context, resume_from_wire, token_to_wire,
};
use super::search::events_of;
use super::time::{duration_from_wire, interval_to_wire};
use super::write::signed;
use crate::token::{Query, TokenKeys};
use crate::v1;
use crate::v1::aggregation_query::Aggregation as Kind;

const FIELD: &str = "aggregation_query";

/// An aggregation as a client asked for it.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// What the engine is asked.
    pub request: AggregateRequest,
    /// What the tokens of its answers belong to.
    pub query: Query,
}

/// The engine's request, going on where the page token says. `now` is the wall clock in nanoseconds since 1970.
pub fn aggregate_request(
    wire: v1::AggregateEventRecordsRequest,
    keys: &TokenKeys,
    now: i64,
) -> Result<Aggregate> {
    let kind = wire.aggregation_query.and_then(|query| query.aggregation).ok_or_else(|| {
        let problem = "is missing; send one of distinct{event_item_key}, count{}, stats{event_item_key}, \
                       time_histogram{interval}";
        Error::field(FIELD, problem)
    })?;
    let mut buckets = page_records("page_size", wire.page_size, BUCKETS_DEFAULT)?;
    if let Kind::Distinct(distinct) = &kind {
        // Where it says nothing, the request's own number stays.
        buckets = page_records(&format!("{FIELD}.distinct.page_size"), distinct.page_size, buckets)?;
    }
    let aggregation = aggregation_from_wire(kind)?;
    let search = v1::SearchEventRecordsRequest {
        namespace: wire.namespace,
        time_series_id: wire.time_series_id,
        time_series_ids: wire.time_series_ids,
        time_interval: wire.time_interval,
        search_query: wire.search_query,
        total_record_limit: wire.total_record_limit,
        order: wire.order,
        max_latency: wire.max_latency,
        // Judged above.
        page_size: 0,
        page_token: String::new(),
    };
    let mut read = events_of(search, buckets)?;
    let query = Query::of(&read, Some(&aggregation));
    read.resume = resume_from_wire(&wire.page_token, &query, keys, now)?;
    Ok(Aggregate { request: AggregateRequest { read, aggregation }, query })
}

fn aggregation_from_wire(kind: Kind) -> Result<Aggregation> {
    let key = |of: &str, key: String| item_key_from_wire(|| format!("{FIELD}.{of}.event_item_key"), key);
    Ok(match kind {
        Kind::Count(v1::CountAggregation {}) => Aggregation::Count,
        Kind::Distinct(wire) => Aggregation::Distinct { key: key("distinct", wire.event_item_key)? },
        Kind::Stats(wire) => Aggregation::Stats { key: key("stats", wire.event_item_key)? },
        Kind::TimeHistogram(wire) => Aggregation::TimeHistogram { width: width(wire.interval)? },
    })
}

/// How long a stretch of time is, in nanoseconds. One that is longer than all time is cut to that: it holds the same events.
fn width(wire: Option<prost_types::Duration>) -> Result<i64> {
    let field = format!("{FIELD}.time_histogram.interval");
    let cure = "send how long each stretch of time is, such as 60s";
    let wire = wire.ok_or_else(|| Error::field(&field, format!("is missing; {cure}")))?;
    if wire.seconds < 0 || wire.nanos < 0 || (wire.seconds, wire.nanos) == (0, 0) {
        return Err(Error::field(&field, format!("is not over 0; {cure}")));
    }
    let width = duration_from_wire(&field, wire)?;
    Ok(i64::try_from(width.as_nanos()).unwrap_or(i64::MAX).min(Interval::ALL.end()))
}

/// An answer to `asked`, with the token for the next. `now` is the wall clock in nanoseconds since 1970.
pub fn aggregate_response(
    asked: &Aggregate,
    page: AggregatePage,
    keys: &TokenKeys,
    now: i64,
) -> v1::AggregateEventRecordsResponse {
    v1::AggregateEventRecordsResponse {
        buckets: page.buckets.into_iter().map(bucket_to_wire).collect(),
        count: signed(page.count),
        stats: page.stats.map(stats_to_wire),
        truncated: page.next.is_some(),
        next_page_token: token_to_wire(page.next, &asked.query, keys, now),
        response_context: vec![read_context(&asked.request.read.namespace, page.cost, page.partial.as_ref())],
        partial: page.partial.map(partial_to_wire),
        retention_truncated: page.retention_truncated,
        complete_interval: Some(interval_to_wire(page.complete)),
    }
}

fn bucket_to_wire(bucket: Bucket) -> v1::AggregationBucket {
    let count = signed(bucket.count);
    match bucket.key {
        BucketKey::Value(event_item_value) => {
            v1::AggregationBucket { event_item_value, count, ..v1::AggregationBucket::default() }
        }
        BucketKey::Time(interval) => v1::AggregationBucket {
            time_interval: Some(interval_to_wire(interval)),
            count,
            ..v1::AggregationBucket::default()
        },
    }
}

/// A sum beyond the largest number is infinity, which JSON writes as `"Infinity"`.
fn stats_to_wire(stats: Stats) -> v1::Stats {
    v1::Stats { count: signed(stats.count), min: stats.min, max: stats.max, sum: stats.sum }
}

#[cfg(test)]
#[path = "aggregate_tests.rs"]
mod tests;
