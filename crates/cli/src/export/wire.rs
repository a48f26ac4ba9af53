//! Rows as they arrive, and positions as they are kept. Pure.

use api::admin::v1 as admin;
use api::convert::timestamp_to_wire;
use bytes::Bytes;
use export::{Position, Row, RowPosition};

use crate::failure::Failure;

/// Nanoseconds since 1970 of a wire time.
pub(super) fn nanos(time: Option<prost_types::Timestamp>) -> i64 {
    let time = time.unwrap_or_default();
    time.seconds.saturating_mul(1_000_000_000).saturating_add(i64::from(time.nanos))
}

/// The rows of one partition.
pub(super) fn rows(wire: &admin::ExportedRows) -> Result<Vec<Row>, Failure> {
    let damaged = || Failure::Other("the server sent rows that do not fit together; report this".to_owned());
    let partition = wire.partition.as_ref().ok_or_else(damaged)?;
    let series = Bytes::copy_from_slice(partition.time_series_id.as_bytes());
    if wire.write_times.len() != wire.event_times.len() || wire.lengths.len() != 4 * wire.event_times.len() {
        return Err(damaged());
    }
    let mut rest = wire.parts.clone();
    let mut lengths = wire.lengths.iter();
    let mut next = || {
        let length = usize::try_from(*lengths.next()?).ok()?;
        (length <= rest.len()).then(|| rest.split_to(length))
    };
    let times = wire.event_times.iter().zip(&wire.write_times);
    let mut row = |(event_time, write_time): (&i64, &i64)| {
        Some(Row {
            time_series_id: series.clone(),
            time_bucket: partition.time_bucket,
            event_bucket: partition.event_bucket,
            event_time: *event_time,
            event_id: next()?,
            event_item_key: next()?,
            event_item_value: next()?,
            value_metadata: next()?,
            write_time: *write_time,
        })
    };
    times.map(|times| row(times).ok_or_else(damaged)).collect()
}

/// A position as the manifest keeps it.
pub(super) fn kept(wire: &admin::ExportPosition) -> Position {
    let partition = wire.partition.clone().unwrap_or_default();
    Position {
        time_series_id: partition.time_series_id,
        time_bucket: partition.time_bucket,
        event_bucket: partition.event_bucket,
        row: wire.row.as_ref().map(|row| RowPosition {
            event_time: nanos(row.event_time),
            event_id: row.event_id.clone(),
            event_item_key: row.event_item_key.clone(),
        }),
    }
}

/// A position as it is sent.
pub(super) fn sent(position: &Position) -> admin::ExportPosition {
    admin::ExportPosition {
        partition: Some(admin::ExportPartition {
            time_series_id: position.time_series_id.clone(),
            time_bucket: position.time_bucket,
            event_bucket: position.event_bucket,
        }),
        row: position.row.as_ref().map(|row| admin::SplitRowKey {
            event_time: Some(timestamp_to_wire(row.event_time)),
            event_id: row.event_id.clone(),
            event_item_key: row.event_item_key.clone(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire() -> admin::ExportedRows {
        let partition =
            admin::ExportPartition { time_series_id: "s".to_owned(), time_bucket: 7, event_bucket: 2 };
        admin::ExportedRows {
            partition: Some(partition),
            event_times: vec![9, 8],
            write_times: vec![1, 2],
            lengths: vec![1, 1, 2, 0, 1, 1, 0, 1],
            parts: Bytes::from_static(b"akvvbkm"),
        }
    }

    #[test]
    fn rows_are_cut_out_of_what_arrived() {
        let rows = rows(&wire()).unwrap();
        let shown = |row: &Row| {
            let parts = [&row.event_id, &row.event_item_key, &row.event_item_value, &row.value_metadata];
            let parts = parts.map(|part| String::from_utf8(part.to_vec()).unwrap());
            (row.event_time, row.write_time, parts.join("|"))
        };
        assert_eq!(
            rows.iter().map(shown).collect::<Vec<_>>(),
            [(9, 1, "a|k|vv|".into()), (8, 2, "b|k||m".into())]
        );
        assert_eq!(
            (&rows[1].time_series_id[..], rows[1].time_bucket, rows[1].event_bucket),
            (&b"s"[..], 7, 2)
        );
    }

    #[test]
    fn what_does_not_fit_together_is_no_row() {
        let broken: [fn(&mut admin::ExportedRows); 4] = [
            |wire| wire.partition = None,
            |wire| wire.write_times.truncate(1),
            |wire| wire.lengths.truncate(7),
            |wire| wire.parts.truncate(6),
        ];
        for change in broken {
            let mut wire = wire();
            change(&mut wire);
            assert!(rows(&wire).is_err());
        }
    }

    #[test]
    fn positions_read_back() {
        let row = RowPosition {
            event_time: 1_774_681_200_000_000_003,
            event_id: "e".into(),
            event_item_key: "k".into(),
        };
        for row in [Some(row), None] {
            let position = Position { time_series_id: "s".to_owned(), time_bucket: 7, event_bucket: 2, row };
            assert_eq!(kept(&sent(&position)), position);
        }
    }
}
