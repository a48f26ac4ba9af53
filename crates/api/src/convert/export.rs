//! Exports: what is asked for, plans, rows as columns, splits with their keys.

use std::collections::BTreeMap;

use engine::{
    Error, ExportAsked, ExportPage, ExportPart, ExportPlan, ExportPosition, ExportTable, ExportWhich, Result,
    RowsAsked, Split, SplitFilter,
};
use model::{EventId, Interval, ItemKey, PartitionKey, RowKey, SeriesId, Timestamp};

use super::namespace::namespace_name;
use super::split::split_to_wire;
use super::split_asked::{SplitsAsked, split_named, splits_request};
use super::time::{time_from_wire, timestamp_to_wire};
use crate::admin::v1;

/// Slices that a request may name: a namespace has no more.
pub(crate) const EXPORT_SLICES_MAX: usize = 400;
/// Splits that a request may name.
pub(crate) const EXPORT_SPLITS_MAX: usize = 200;

/// What a request wants to know about an export.
pub fn export_request(wire: v1::PrepareExportRequest) -> Result<ExportAsked> {
    Ok(ExportAsked {
        namespace: namespace_name("namespace", &wire.namespace)?,
        interval: interval(wire.start, wire.end)?,
        slices: wire.time_slices,
        include_open: wire.include_open,
    })
}

fn interval(start: Option<prost_types::Timestamp>, end: Option<prost_types::Timestamp>) -> Result<Interval> {
    let start = start.map_or(Ok(Interval::ALL.start()), |time| time_from_wire("start", time))?;
    let end = end.map_or(Ok(Interval::ALL.end()), |time| time_from_wire("end", time))?;
    Interval::new(start, end).map_err(|_| Error::field("end", "is before start; swap them"))
}

/// What there is to export.
pub fn export_response(plan: ExportPlan) -> v1::PrepareExportResponse {
    v1::PrepareExportResponse {
        incarnation: plan.incarnation,
        closed_time: Some(timestamp_to_wire(plan.closed)),
        start: Some(timestamp_to_wire(plan.interval.start())),
        end: Some(timestamp_to_wire(plan.interval.end())),
        tables: plan.tables.into_iter().map(table).collect(),
        left_out_reason: plan.left_out.unwrap_or_default().to_owned(),
    }
}

fn table(table: ExportTable) -> v1::ExportTable {
    let (slice, shape) = (table.layout.slice, table.layout.shape);
    v1::ExportTable {
        name: table.name.as_str().to_owned(),
        targets: table.targets,
        time_slice: model::TableName::data(slice).as_str().to_owned(),
        slice_start: Some(timestamp_to_wire(slice.start())),
        slice_end: Some(timestamp_to_wire(slice.end())),
        seconds_per_bucket: shape.seconds_per_bucket,
        buckets_per_id: shape.buckets_per_id.into(),
        hash_version: shape.hash_version.into(),
        split_stride: shape.split_stride.into(),
    }
}

/// The rows that a request asks for.
pub fn export_rows_request(wire: v1::ExportRowsRequest) -> Result<RowsAsked> {
    let which = match (wire.partitions.is_empty(), wire.time_series_ids.is_empty()) {
        (true, true) => ExportWhich::All,
        (true, false) => {
            let series = wire.time_series_ids.iter().map(|id| series("time_series_ids", id));
            ExportWhich::Series(series.collect::<Result<_>>()?)
        }
        (false, true) => {
            let partitions = wire.partitions.iter().map(|one| partition("partitions", one));
            ExportWhich::Named(partitions.collect::<Result<_>>()?)
        }
        (false, false) => {
            let problem = "cannot be sent with partitions; send one of them";
            return Err(Error::field("time_series_ids", problem));
        }
    };
    Ok(RowsAsked {
        namespace: namespace_name("namespace", &wire.namespace)?,
        incarnation: wire.incarnation,
        table: wire.table,
        interval: interval(wire.start, wire.end)?,
        which,
        position: wire.position.map(position).transpose()?,
        include_open: wire.include_open,
    })
}

fn series(field: &str, id: &str) -> Result<SeriesId> {
    SeriesId::new(id).map_err(|error| Error::field(field, error))
}

fn partition(field: &str, wire: &v1::ExportPartition) -> Result<PartitionKey> {
    let (time_bucket, event_bucket) = (wire.time_bucket, wire.event_bucket);
    Ok(PartitionKey { series: series(field, &wire.time_series_id)?, time_bucket, event_bucket })
}

fn position(wire: v1::ExportPosition) -> Result<ExportPosition> {
    let field = "position";
    let missing = || Error::field(field, "has no partition; send the `next` of an answer as it is");
    let row = |key: v1::SplitRowKey| -> Result<RowKey> {
        let time = key.event_time.ok_or_else(missing)?;
        let nanos = time_from_wire(field, time)?;
        Ok(RowKey {
            event_time: Timestamp::from_nanos(nanos).map_err(|error| Error::field(field, error))?,
            event_id: EventId::from_stored(key.event_id.into()),
            item_key: ItemKey::from_stored(key.event_item_key.into()),
        })
    };
    Ok(ExportPosition {
        partition: partition(field, wire.partition.as_ref().ok_or_else(missing)?)?,
        row: wire.row.map(row).transpose()?,
    })
}

/// A page of rows as it is sent.
pub fn export_rows_response(page: ExportPage) -> v1::ExportRowsResponse {
    v1::ExportRowsResponse {
        rows: page.parts.iter().map(part).collect(),
        next: page.next.map(|next| v1::ExportPosition {
            partition: Some(partition_to_wire(&next.partition)),
            row: next.row.map(|row| v1::SplitRowKey {
                event_time: Some(timestamp_to_wire(row.event_time.nanos())),
                event_id: text(row.event_id.as_bytes()),
                event_item_key: text(row.item_key.as_bytes()),
            }),
        }),
    }
}

/// Ids are UTF-8 when they are written, and stay so.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn partition_to_wire(partition: &PartitionKey) -> v1::ExportPartition {
    v1::ExportPartition {
        time_series_id: partition.series.as_str().to_owned(),
        time_bucket: partition.time_bucket,
        event_bucket: partition.event_bucket,
    }
}

fn part(part: &ExportPart) -> v1::ExportedRows {
    let rows = &part.rows;
    let mut wire = v1::ExportedRows {
        partition: Some(partition_to_wire(&part.partition)),
        event_times: Vec::with_capacity(rows.len()),
        write_times: Vec::with_capacity(rows.len()),
        lengths: Vec::with_capacity(4 * rows.len()),
        parts: bytes::Bytes::new(),
    };
    let bytes = rows.iter().map(|row| row.logical_bytes()).sum::<u64>();
    let mut parts = Vec::with_capacity(usize::try_from(bytes).unwrap_or(0));
    for row in rows.iter() {
        wire.event_times.push(row.event_time.nanos());
        wire.write_times.push(row.write_time);
        for part in [row.event_id, row.item_key, row.value, row.metadata] {
            // Stores limit a row long before 32 bits end.
            wire.lengths.push(u32::try_from(part.len()).unwrap_or(u32::MAX));
            parts.extend_from_slice(part);
        }
    }
    wire.parts = parts.into();
    wire
}

/// The metadata of a value, from the bytes that an export has of it.
pub fn value_metadata(stored: &[u8]) -> Result<BTreeMap<String, String>> {
    engine::metadata::decode(stored)
}

/// Which splits a request wants exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportSplitsAsked {
    /// These.
    Named(model::NamespaceName, Vec<String>),
    /// A page of those that are completed.
    Page(SplitsAsked),
}

/// The splits that a request wants exported.
pub fn export_splits_request(wire: v1::ExportSplitsRequest) -> Result<ExportSplitsAsked> {
    if !wire.ids.is_empty() {
        let namespace = namespace_name("namespace", &wire.namespace)?;
        for id in &wire.ids {
            split_named(&wire.namespace, id)?;
        }
        return Ok(ExportSplitsAsked::Named(namespace, wire.ids));
    }
    let page = splits_request(v1::ListSplitsRequest {
        namespace: wire.namespace,
        states: Vec::new(),
        time_series_id: wire.time_series_id,
        time_slice: wire.time_slice,
        page_size: wire.page_size,
        page_token: wire.page_token,
    })?;
    let filter = SplitFilter { states: vec![::split::State::Completed], ..page.filter };
    Ok(ExportSplitsAsked::Page(SplitsAsked { filter, ..page }))
}

/// Splits with the keys of their digests, and where the next page begins.
pub fn export_splits_response(splits: Vec<Split>, next: Option<String>) -> v1::ExportSplitsResponse {
    let exported = |split: Split| v1::ExportedSplit {
        digest_key: split.record.digest_key.clone().unwrap_or_default(),
        split: Some(split_to_wire(split)),
    };
    v1::ExportSplitsResponse {
        splits: splits.into_iter().map(exported).collect(),
        next_page_token: next.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use model::Row;

    use super::*;

    fn refusal(change: fn(&mut v1::ExportRowsRequest)) -> String {
        let mut wire = v1::ExportRowsRequest { namespace: "plays".to_owned(), ..Default::default() };
        change(&mut wire);
        export_rows_request(wire).unwrap_err().to_string()
    }

    fn one() -> v1::ExportPartition {
        v1::ExportPartition { time_series_id: "s".to_owned(), time_bucket: 7, event_bucket: 2 }
    }

    #[test]
    fn what_cannot_be_exported_is_refused() {
        let both = refusal(|wire| {
            (wire.partitions, wire.time_series_ids) = (vec![one()], vec!["s".to_owned()]);
        });
        assert_eq!(both, "time_series_ids: cannot be sent with partitions; send one of them");
        assert!(refusal(|wire| wire.time_series_ids = vec![String::new()]).starts_with("time_series_ids: "));
        assert!(
            refusal(|wire| wire.position = Some(v1::ExportPosition::default()))
                .starts_with("position: has no")
        );
        let backwards = refusal(|wire| {
            (wire.start, wire.end) = (Some(timestamp_to_wire(2)), Some(timestamp_to_wire(1)));
        });
        assert_eq!(backwards, "end: is before start; swap them");
    }

    #[test]
    fn rows_and_positions_arrive_as_they_were_sent() {
        let row = |time: i64, item_key: &'static str, value: &'static [u8], metadata: &'static [u8]| Row {
            key: RowKey {
                event_time: Timestamp::from_nanos(time).unwrap(),
                event_id: EventId::new("ü").unwrap(),
                // That of a chunk is empty.
                item_key: ItemKey::from_stored(Bytes::from_static(item_key.as_bytes())),
            },
            write_time: -time,
            value: Bytes::from_static(value),
            metadata: Bytes::from_static(metadata),
        };
        let rows = [row(9, "k", b"\0\xff", b""), row(8, "", b"", b"\x01")];
        let partition = partition("", &one()).unwrap();
        let next = ExportPosition { partition: partition.clone(), row: Some(rows[1].key.clone()) };
        let parts = vec![ExportPart { partition, rows: rows.iter().collect() }];
        let wire = export_rows_response(ExportPage { parts, next: Some(next.clone()) });
        let sent = &wire.rows[0];
        assert_eq!((&sent.event_times, &sent.write_times), (&vec![9, 8], &vec![-9, -8]));
        assert_eq!(
            (&sent.lengths, &sent.parts[..]),
            (
                &vec![2, 1, 2, 0, 2, 0, 0, 1],
                "ük\0"
                    .as_bytes()
                    .iter()
                    .chain(b"\xff")
                    .chain("ü\u{1}".as_bytes())
                    .copied()
                    .collect::<Vec<u8>>()
                    .as_slice()
            )
        );
        assert_eq!(position(wire.next.unwrap()).unwrap(), next);
    }

    #[test]
    fn splits_are_asked_for_by_name_or_by_pages_of_those_that_are_completed() {
        let wire = v1::ExportSplitsRequest { namespace: "plays".to_owned(), ..Default::default() };
        let ExportSplitsAsked::Page(page) = export_splits_request(wire.clone()).unwrap() else {
            panic!("a page")
        };
        assert_eq!((page.filter.states, page.splits_max), (vec![::split::State::Completed], 100));
        let ids = vec!["data_1/0/0/s".to_owned()];
        let named =
            export_splits_request(v1::ExportSplitsRequest { ids: ids.clone(), ..wire.clone() }).unwrap();
        assert!(matches!(named, ExportSplitsAsked::Named(_, found) if found == ids));
        let wrong = v1::ExportSplitsRequest { ids: vec![String::new()], ..wire };
        assert!(export_splits_request(wrong).unwrap_err().to_string().starts_with("id: is empty"));
    }
}
