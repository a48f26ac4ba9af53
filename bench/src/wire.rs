//! The workload as the wire has it: requests for the same events that `workload` makes as rows, and where the server
//! puts them. Pure.
//!
//! The namespace takes events of any time and keeps them for ever. It has one event bucket, so the events of a series in
//! one hour are one partition, and a request for one series is one batch of the store.

use anyhow::{Context, Result};
use api::admin::v1 as admin;
use api::v1;
use model::{
    Interval, Layout, NamespaceName, Order, PartitionKey, Row, SeriesId, ShapeSpec, Slice, TableName,
    TableRef, Timeline, Timestamp,
};

use crate::workload;

const NAMESPACE: &str = "bench";
const SHAPE: ShapeSpec =
    ShapeSpec { seconds_per_slice: 86_400, seconds_per_bucket: 3_600, buckets_per_id: 1 };
/// The times of the workload are fixed; a machine whose clock is behind them measures all the same.
const FUTURE_SECONDS: i64 = 3_600 * 24 * 365 * 9;
const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// A request to make the namespace.
pub(crate) fn create_namespace() -> admin::CreateNamespaceRequest {
    let seconds = |seconds| Some(prost_types::Duration { seconds, nanos: 0 });
    let shape = admin::Shape {
        seconds_per_slice: SHAPE.seconds_per_slice,
        seconds_per_bucket: SHAPE.seconds_per_bucket,
        buckets_per_id: u32::from(SHAPE.buckets_per_id),
    };
    let namespace = admin::Namespace {
        name: NAMESPACE.to_owned(),
        shape: Some(shape),
        accept_limit: seconds(0),
        future_limit: seconds(FUTURE_SECONDS),
        retention: Some(admin::Retention { close_after: seconds(0), delete_after: seconds(0) }),
        ..admin::Namespace::default()
    };
    admin::CreateNamespaceRequest { namespace: Some(namespace), ..admin::CreateNamespaceRequest::default() }
}

/// A request to write events `first` and following to a series.
pub(crate) fn write(series: &SeriesId, first: u64, count: u64) -> Result<v1::WriteEventRecordsRequest> {
    request(series, workload::rows(first, count)?)
}

/// The same with large events.
pub(crate) fn write_large(series: &SeriesId, first: u64, count: u64) -> Result<v1::WriteEventRecordsRequest> {
    request(series, workload::large_rows(first, count)?)
}

fn request(series: &SeriesId, rows: Vec<Row>) -> Result<v1::WriteEventRecordsRequest> {
    let events = rows.into_iter().map(|row| event(series, row)).collect::<Result<_>>()?;
    Ok(v1::WriteEventRecordsRequest { namespace: NAMESPACE.to_owned(), events })
}

/// The same, with a marked value in one event of [`workload::MARKED_EVERY`].
pub(crate) fn write_marked(
    series: &SeriesId,
    first: u64,
    count: u64,
) -> Result<v1::WriteEventRecordsRequest> {
    let mut request = write(series, first, count)?;
    let marked = (first..).zip(&mut request.events).filter(|(number, _)| workload::is_marked(*number));
    for item in marked.flat_map(|(_, event)| &mut event.event_items) {
        item.event_item_value = workload::marked_value();
    }
    Ok(request)
}

fn event(series: &SeriesId, row: Row) -> Result<v1::Event> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec());
    let item = v1::EventItem {
        event_item_key: text(row.key.item_key.as_bytes())?,
        event_item_value: row.value,
        ..v1::EventItem::default()
    };
    Ok(v1::Event {
        time_series_id: series.as_str().to_owned(),
        event_time: Some(time(row.key.event_time.nanos())?),
        event_id: text(row.key.event_id.as_bytes())?,
        event_items: vec![item],
        continues: false,
    })
}

/// A request to read a series over the hour of the workload.
pub(crate) fn read(series: &SeriesId, order: Order, page_size: i32) -> Result<v1::ReadEventRecordsRequest> {
    Ok(v1::ReadEventRecordsRequest {
        namespace: NAMESPACE.to_owned(),
        time_series_id: series.as_str().to_owned(),
        time_interval: Some(hour()?),
        page_size,
        order: in_order(order).into(),
        ..v1::ReadEventRecordsRequest::default()
    })
}

/// A request for those events of a series that have the marked value.
pub(crate) fn search_marked(
    series: &SeriesId,
    order: Order,
    page_size: i32,
) -> Result<v1::SearchEventRecordsRequest> {
    let equals = v1::EqualsQuery {
        event_item_key: workload::ITEM_KEY.to_owned(),
        event_item_value: workload::marked_value(),
    };
    Ok(v1::SearchEventRecordsRequest {
        namespace: NAMESPACE.to_owned(),
        time_series_id: series.as_str().to_owned(),
        time_interval: Some(hour()?),
        search_query: Some(v1::SearchQuery { query: Some(v1::search_query::Query::Equals(equals)) }),
        page_size,
        order: in_order(order).into(),
        ..v1::SearchEventRecordsRequest::default()
    })
}

/// A request to sum up all events of a series.
pub(crate) fn aggregate(
    series: &SeriesId,
    order: Order,
    aggregation: v1::aggregation_query::Aggregation,
) -> Result<v1::AggregateEventRecordsRequest> {
    Ok(v1::AggregateEventRecordsRequest {
        namespace: NAMESPACE.to_owned(),
        time_series_id: series.as_str().to_owned(),
        time_interval: Some(hour()?),
        order: in_order(order).into(),
        aggregation_query: Some(v1::AggregationQuery { aggregation: Some(aggregation) }),
        ..v1::AggregateEventRecordsRequest::default()
    })
}

/// The hour of the workload.
fn hour() -> Result<v1::TimeInterval> {
    time_interval(interval()?)
}

/// A stretch of time, as a request names it.
pub(crate) fn time_interval(interval: Interval) -> Result<v1::TimeInterval> {
    Ok(v1::TimeInterval { start: Some(time(interval.start())?), end: Some(time(interval.end())?) })
}

const fn in_order(order: Order) -> v1::Order {
    match order {
        Order::OldestFirst => v1::Order::OldestFirst,
        Order::NewestFirst => v1::Order::NewestFirst,
    }
}

fn time(nanos: i64) -> Result<prost_types::Timestamp> {
    let subsecond = i32::try_from(nanos.rem_euclid(NANOS_PER_SECOND))?;
    Ok(prost_types::Timestamp { seconds: nanos.div_euclid(NANOS_PER_SECOND), nanos: subsecond })
}

/// The hour in which all events of the workload lie.
pub(crate) fn interval() -> Result<Interval> {
    Ok(layout()?.bucket_interval(time_bucket()?))
}

/// The table in which the server keeps them.
pub(crate) fn table(incarnation: u32) -> Result<TableRef> {
    let (namespace, name) = (NamespaceName::new(NAMESPACE)?, TableName::data(layout()?.slice));
    Ok(TableRef { namespace, incarnation, name })
}

/// The partition in which the server keeps those of a series.
pub(crate) fn partition(series: &SeriesId) -> Result<PartitionKey> {
    Ok(PartitionKey { series: series.clone(), time_bucket: time_bucket()?, event_bucket: 0 })
}

/// The slice in which they lie.
pub(crate) fn slice() -> Result<Slice> {
    Ok(layout()?.slice)
}

fn layout() -> Result<Layout> {
    let slice = Timeline::new(SHAPE.seconds_per_slice)?.slice_of(first_time()?);
    Ok(Layout { slice, shape: SHAPE.freeze()? })
}

fn time_bucket() -> Result<u32> {
    layout()?.time_bucket(first_time()?).context("the workload lies outside of its slice")
}

fn first_time() -> Result<Timestamp> {
    Ok(workload::rows(0, 1)?.first().context("the workload is empty")?.key.event_time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_carries_the_rows_of_the_workload() {
        let series = SeriesId::new("s").unwrap();
        let request = write(&series, 7, 3).unwrap();
        let rows = workload::rows(7, 3).unwrap();
        assert_eq!(request.events.len(), 3);
        for (event, row) in request.events.iter().zip(&rows) {
            let time = event.event_time.unwrap();
            assert_eq!(time.seconds * NANOS_PER_SECOND + i64::from(time.nanos), row.key.event_time.nanos());
            assert_eq!(event.event_id.as_bytes(), row.key.event_id.as_bytes());
            assert_eq!(event.event_items[0].event_item_value, row.value);
        }
    }

    #[test]
    fn a_marked_request_differs_in_marked_events_only() {
        let series = SeriesId::new("s").unwrap();
        let (plain, marked) = (write(&series, 9_999, 3).unwrap(), write_marked(&series, 9_999, 3).unwrap());
        let value = |event: &v1::Event| event.event_items[0].event_item_value.clone();
        for (at, (plain, marked)) in plain.events.iter().zip(&marked.events).enumerate() {
            assert_eq!(plain.event_id, marked.event_id);
            let expect = if at == 1 { workload::marked_value() } else { value(plain) };
            assert_eq!(value(marked), expect);
        }
    }

    #[test]
    fn every_event_lies_where_the_store_is_asked() {
        let series = SeriesId::new("s").unwrap();
        // More events than any question writes.
        for event in [0, 1, 10_000_000] {
            let row = workload::rows(event, 1).unwrap().remove(0);
            let (time, id) = (row.key.event_time, row.key.event_id);
            assert!(interval().unwrap().contains(time));
            let placed = layout().unwrap().place(&series, time, &id).unwrap();
            assert_eq!(placed.key, partition(&series).unwrap());
        }
        assert_eq!(table(1).unwrap().to_string(), "bench.1.data_20260328");
    }
}
