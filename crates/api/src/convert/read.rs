//! Reads: the request with its page token opened, and the page with the next token sealed.

use std::time::Duration;

use engine::{
    Cost, Error, PAGE_RECORDS_DEFAULT, PAGE_RECORDS_MAX, Partial, QUERY_TERMS_MAX, ReadPage, ReadRequest,
    Result, Resume, SearchQuery,
};
use model::id::ITEM_KEY_BYTES_MAX;
use model::{NamespaceName, Order, SeriesId};

use super::namespace::namespace_name;
use super::page::PageToSend;
use super::time::{duration_from_wire, interval_from_wire, interval_to_wire};
use super::write::{context, signed};
use crate::token::{Query, TokenKeys};
use crate::v1;

/// A read as a client asked for it.
#[derive(Clone, Debug)]
pub struct Read {
    /// What the engine is asked.
    pub request: ReadRequest,
    /// What the tokens of its pages belong to.
    pub query: Query,
}

/// The engine's request, going on where the page token says. `now` is the wall clock in nanoseconds since 1970.
pub fn read_request(wire: v1::ReadEventRecordsRequest, keys: &TokenKeys, now: i64) -> Result<Read> {
    let request = ReadRequest {
        namespace: namespace_name("namespace", &wire.namespace)?,
        series: vec![series_from_wire("time_series_id", &wire.time_series_id)?],
        interval: interval_from_wire(wire.time_interval)?,
        query: filters_from_wire(wire.event_filters)?,
        page_records: page_records("page_size", wire.page_size, PAGE_RECORDS_DEFAULT)?,
        order: order_from_wire(wire.order)?,
        resume: None,
        total_limit: total_limit(wire.total_record_limit)?,
        max_latency: wire.max_latency.map(max_latency).transpose()?,
        deadline: None,
    };
    going_on(request, &wire.page_token, keys, now)
}

/// The read, going on where `token` says.
pub(super) fn going_on(mut request: ReadRequest, token: &str, keys: &TokenKeys, now: i64) -> Result<Read> {
    let query = Query::of(&request, None);
    request.resume = resume_from_wire(token, &query, keys, now)?;
    Ok(Read { request, query })
}

/// Where `query` goes on; none at the beginning.
pub(super) fn resume_from_wire(
    token: &str,
    query: &Query,
    keys: &TokenKeys,
    now: i64,
) -> Result<Option<Resume>> {
    if token.is_empty() { Ok(None) } else { keys.open(token, query, now).map(Some) }
}

pub(super) fn series_from_wire(field: &str, id: &str) -> Result<SeriesId> {
    SeriesId::new(id).map_err(|error| Error::field(field, error))
}

/// All must match.
fn filters_from_wire(wire: Vec<v1::EventFilter>) -> Result<Option<SearchQuery>> {
    if wire.len() > QUERY_TERMS_MAX {
        let problem = format!("has {} filters; send at most {QUERY_TERMS_MAX}", wire.len());
        return Err(Error::field("event_filters", problem));
    }
    let terms: Vec<SearchQuery> = wire
        .into_iter()
        .enumerate()
        .map(|(index, filter)| filter_from_wire(index, filter))
        .collect::<Result<_>>()?;
    Ok(Some(terms).filter(|terms| !terms.is_empty()).map(SearchQuery::And))
}

fn filter_from_wire(index: usize, wire: v1::EventFilter) -> Result<SearchQuery> {
    let field = || format!("event_filters[{index}].match_event_item_key");
    let key = item_key_from_wire(field, wire.match_event_item_key)?;
    Ok(SearchQuery::Equals { key, value: wire.match_event_item_value })
}

/// A key that an item can have.
pub(super) fn item_key_from_wire(field: impl FnOnce() -> String, key: String) -> Result<String> {
    let bytes = key.len();
    if !(1..=ITEM_KEY_BYTES_MAX).contains(&bytes) {
        let problem = format!("has {bytes} bytes, no item has such a key; send 1 to {ITEM_KEY_BYTES_MAX}");
        return Err(Error::field(&field(), problem));
    }
    Ok(key)
}

/// How many events or buckets an answer may have; `default` where the client names no number.
pub(super) fn page_records(field: &str, wire: i32, default: usize) -> Result<usize> {
    match usize::try_from(wire) {
        Ok(0) => Ok(default),
        Ok(records) if records <= PAGE_RECORDS_MAX => Ok(records),
        _ => {
            let problem = format!("is {wire}; send 1 to {PAGE_RECORDS_MAX}, or 0 for {default}");
            Err(Error::field(field, problem))
        }
    }
}

pub(super) fn total_limit(wire: i64) -> Result<Option<u64>> {
    match u64::try_from(wire) {
        Ok(0) => Ok(None),
        Ok(limit) => Ok(Some(limit)),
        Err(_) => {
            let problem = format!("is {wire}; send a number of events, or 0 for no limit");
            Err(Error::field("total_record_limit", problem))
        }
    }
}

pub(super) fn order_from_wire(wire: i32) -> Result<Order> {
    match v1::Order::try_from(wire) {
        Ok(v1::Order::Unspecified | v1::Order::NewestFirst) => Ok(Order::NewestFirst),
        Ok(v1::Order::OldestFirst) => Ok(Order::OldestFirst),
        Err(_) => {
            let problem = format!("{wire} is not known; send NEWEST_FIRST or OLDEST_FIRST");
            Err(Error::field("order", problem))
        }
    }
}

pub(super) fn max_latency(wire: prost_types::Duration) -> Result<Duration> {
    let latency = duration_from_wire("max_latency", wire)?;
    if latency.is_zero() {
        let problem = "is 0, nothing can be read in that; send more, or leave it out for slo.read_max";
        return Err(Error::field("max_latency", problem));
    }
    Ok(latency)
}

/// A page of `read`, with the token for the next. `now` is the wall clock in nanoseconds since 1970.
pub fn read_response(read: &Read, page: ReadPage, keys: &TokenKeys, now: i64) -> Result<PageToSend> {
    let rest = v1::ReadEventRecordsResponse {
        records: Vec::new(),
        next_page_token: token_to_wire(page.next, &read.query, keys, now),
        response_context: vec![read_context(&read.request.namespace, page.cost, page.partial.as_ref())],
        partial: page.partial.map(partial_to_wire),
        retention_truncated: page.retention_truncated,
        record_order: record_order(&read.request).into(),
    };
    PageToSend::new(page.events, rest)
}

/// How the events of all pages follow each other.
const fn record_order(request: &ReadRequest) -> v1::RecordOrder {
    if request.series.is_empty() { v1::RecordOrder::ByPartition } else { v1::RecordOrder::ByTime }
}

/// What leads to the next page of `query`; empty at the end.
pub(super) fn token_to_wire(next: Option<Resume>, query: &Query, keys: &TokenKeys, now: i64) -> String {
    next.map(|resume| keys.seal(resume, query, now)).unwrap_or_default()
}

/// What an answer of a read cost.
pub(super) fn read_context(
    namespace: &NamespaceName,
    cost: Cost,
    partial: Option<&Partial>,
) -> v1::ResponseContext {
    let routes = Some(v1::Routes { origin: signed(cost.origins), target: signed(cost.targets) });
    let fallbacks = signed(cost.fallbacks);
    v1::ResponseContext { routes, fallbacks, partial: partial.is_some(), ..context(namespace, cost) }
}

pub(super) fn partial_to_wire(partial: Partial) -> v1::Partial {
    v1::Partial {
        reason: partial.reason.to_owned(),
        complete_interval: Some(interval_to_wire(partial.complete)),
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
