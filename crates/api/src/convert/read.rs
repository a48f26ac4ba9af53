//! Reads: the request with its page token opened, and the page with the next token sealed.

use std::time::Duration;

use bytes::Bytes;
use engine::{
    Error, Event, EventFilter, FILTERS_MAX, Item, PAGE_RECORDS_DEFAULT, PAGE_RECORDS_MAX, ReadPage,
    ReadRequest, Reason, Result,
};
use model::id::ITEM_KEY_BYTES_MAX;
use model::{NamespaceName, Order, SeriesId};

use super::namespace::namespace_name;
use super::time::{duration_from_wire, interval_from_wire, timestamp_to_wire};
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
    /// Answer after so long; none for the namespace's own.
    pub max_latency: Option<Duration>,
}

/// The engine's request, going on where the page token says. `now` is the wall clock in nanoseconds since 1970.
pub fn read_request(wire: v1::ReadEventRecordsRequest, keys: &TokenKeys, now: i64) -> Result<Read> {
    let mut request = ReadRequest {
        namespace: namespace_name("namespace", &wire.namespace)?,
        series: SeriesId::new(&wire.time_series_id).map_err(|error| Error::field("time_series_id", error))?,
        interval: interval_from_wire(wire.time_interval)?,
        filters: filters_from_wire(wire.event_filters)?,
        page_records: page_records(wire.page_size)?,
        order: order_from_wire(wire.order)?,
        resume: None,
        total_limit: total_limit(wire.total_record_limit)?,
    };
    let query = Query::of(&request);
    if !wire.page_token.is_empty() {
        request.resume = Some(keys.open(&wire.page_token, &query, now)?);
    }
    let max_latency = wire.max_latency.map(max_latency).transpose()?;
    Ok(Read { request, query, max_latency })
}

fn filters_from_wire(wire: Vec<v1::EventFilter>) -> Result<Vec<EventFilter>> {
    if wire.len() > FILTERS_MAX {
        let problem = format!("has {} filters; send at most {FILTERS_MAX}", wire.len());
        return Err(Error::field("event_filters", problem));
    }
    wire.into_iter().enumerate().map(|(index, filter)| filter_from_wire(index, filter)).collect()
}

fn filter_from_wire(index: usize, wire: v1::EventFilter) -> Result<EventFilter> {
    let bytes = wire.match_event_item_key.len();
    if !(1..=ITEM_KEY_BYTES_MAX).contains(&bytes) {
        let field = format!("event_filters[{index}].match_event_item_key");
        let problem = format!("has {bytes} bytes, no item has such a key; send 1 to {ITEM_KEY_BYTES_MAX}");
        return Err(Error::field(&field, problem));
    }
    Ok(EventFilter { key: Bytes::from(wire.match_event_item_key), value: wire.match_event_item_value })
}

fn page_records(wire: i32) -> Result<usize> {
    match usize::try_from(wire) {
        Ok(0) => Ok(PAGE_RECORDS_DEFAULT),
        Ok(records) if records <= PAGE_RECORDS_MAX => Ok(records),
        _ => {
            let problem = format!("is {wire}; send 1 to {PAGE_RECORDS_MAX}, or 0 for {PAGE_RECORDS_DEFAULT}");
            Err(Error::field("page_size", problem))
        }
    }
}

fn total_limit(wire: i64) -> Result<Option<u64>> {
    match u64::try_from(wire) {
        Ok(0) => Ok(None),
        Ok(limit) => Ok(Some(limit)),
        Err(_) => {
            let problem = format!("is {wire}; send a number of events, or 0 for no limit");
            Err(Error::field("total_record_limit", problem))
        }
    }
}

fn order_from_wire(wire: i32) -> Result<Order> {
    match v1::Order::try_from(wire) {
        Ok(v1::Order::Unspecified | v1::Order::NewestFirst) => Ok(Order::NewestFirst),
        Ok(v1::Order::OldestFirst) => Ok(Order::OldestFirst),
        Err(_) => {
            let problem = format!("{wire} is not known; send NEWEST_FIRST or OLDEST_FIRST");
            Err(Error::field("order", problem))
        }
    }
}

fn max_latency(wire: prost_types::Duration) -> Result<Duration> {
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
) -> Result<v1::ReadEventRecordsResponse> {
    // Nothing is split yet: every partition is read where it was written.
    let routes = v1::Routes { origin: super::write::signed(page.cost.partitions), target: 0 };
    let context = v1::ResponseContext { routes: Some(routes), ..context(namespace, page.cost) };
    Ok(v1::ReadEventRecordsResponse {
        records: page.events.into_iter().map(event_to_wire).collect::<Result<_>>()?,
        next_page_token: page.next.map(|resume| keys.seal(resume, query, now)).unwrap_or_default(),
        partial: None,
        retention_truncated: page.retention_truncated,
        response_context: vec![context],
    })
}

fn event_to_wire(event: Event) -> Result<v1::Event> {
    Ok(v1::Event {
        time_series_id: event.series.as_str().to_owned(),
        event_time: Some(timestamp_to_wire(event.time.nanos())),
        event_id: text("event id", event.event_id.into_bytes())?,
        event_items: event.items.into_iter().map(item_to_wire).collect::<Result<_>>()?,
        continues: event.continues,
    })
}

fn item_to_wire(item: Item) -> Result<v1::EventItem> {
    Ok(v1::EventItem {
        event_item_key: text("item key", item.key)?,
        event_item_value: item.value,
        value_metadata: engine::metadata::decode(&item.metadata)?,
    })
}

/// Stored text was text when it was written.
fn text(what: &str, bytes: Bytes) -> Result<String> {
    String::from_utf8(bytes.into()).map_err(|_| {
        let message = format!("a stored {what} is not UTF-8: the record was damaged; restore it from a copy");
        Error::new(Reason::ChecksumMismatch, message)
    })
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
