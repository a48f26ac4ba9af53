//! Reads: the request with its page token opened, and the page with the next token sealed.

use std::time::Duration;

use engine::{
    Error, PAGE_RECORDS_DEFAULT, PAGE_RECORDS_MAX, QUERY_TERMS_MAX, ReadPage, ReadRequest, Result,
    SearchQuery,
};
use model::id::ITEM_KEY_BYTES_MAX;
use model::{NamespaceName, Order, SeriesId};

use super::namespace::namespace_name;
use super::page::EncodedPage;
use super::time::{duration_from_wire, interval_from_wire, interval_to_wire};
use super::write::context;
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
        page_records: page_records(wire.page_size)?,
        order: order_from_wire(wire.order)?,
        resume: None,
        total_limit: total_limit(wire.total_record_limit)?,
        max_latency: wire.max_latency.map(max_latency).transpose()?,
    };
    going_on(request, &wire.page_token, keys, now)
}

/// The read, going on where `token` says.
pub(super) fn going_on(mut request: ReadRequest, token: &str, keys: &TokenKeys, now: i64) -> Result<Read> {
    let query = Query::of(&request);
    if !token.is_empty() {
        request.resume = Some(keys.open(token, &query, now)?);
    }
    Ok(Read { request, query })
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

pub(super) fn page_records(wire: i32) -> Result<usize> {
    match usize::try_from(wire) {
        Ok(0) => Ok(PAGE_RECORDS_DEFAULT),
        Ok(records) if records <= PAGE_RECORDS_MAX => Ok(records),
        _ => {
            let problem = format!("is {wire}; send 1 to {PAGE_RECORDS_MAX}, or 0 for {PAGE_RECORDS_DEFAULT}");
            Err(Error::field("page_size", problem))
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

/// A page of `query` in `namespace`, with the token for the next. `now` is the wall clock in nanoseconds since 1970.
pub fn read_response(
    namespace: &NamespaceName,
    page: ReadPage,
    query: &Query,
    keys: &TokenKeys,
    now: i64,
) -> Result<EncodedPage> {
    // Nothing is split yet: every partition is read where it was written.
    let routes = v1::Routes { origin: super::write::signed(page.cost.partitions), target: 0 };
    let partial = page.partial.is_some();
    let context = v1::ResponseContext { routes: Some(routes), partial, ..context(namespace, page.cost) };
    let rest = v1::ReadEventRecordsResponse {
        records: Vec::new(),
        next_page_token: page.next.map(|resume| keys.seal(resume, query, now)).unwrap_or_default(),
        partial: page.partial.map(|partial| v1::Partial {
            reason: partial.reason.to_owned(),
            complete_interval: Some(interval_to_wire(partial.complete)),
        }),
        retention_truncated: page.retention_truncated,
        response_context: vec![context],
    };
    EncodedPage::new(&page.events, rest)
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
