//! The data that questions write: the same rows for every side, made cheaply from a number.
//!
//! Making rows is part of every timed ingest, on all sides alike, because prepared rows would not fit in memory.
//! Values look like small JSON: about a third of each is unpredictable, so compression has as much to do as in life.

use anyhow::Result;
use bytes::{BufMut, Bytes, BytesMut};
use model::{
    EventId, ItemKey, NamespaceName, PartitionKey, Row, RowKey, SeriesId, TableName, TableRef, Timestamp,
};

/// Bytes of a value.
pub(crate) const VALUE_BYTES: usize = 200;
/// Bytes of an event id.
const EVENT_ID_BYTES: usize = 16;
/// The only item of an event.
pub(crate) const ITEM_KEY: &str = "payload";
/// Logical bytes of a row: time, event id, item key, value.
pub(crate) const ROW_LOGICAL_BYTES: u64 = (8 + EVENT_ID_BYTES + ITEM_KEY.len() + VALUE_BYTES) as u64;
/// Of so many values is that of a large event.
const LARGE_VALUES: u64 = 5;
/// Logical bytes of the row of a large event.
pub(crate) const LARGE_ROW_LOGICAL_BYTES: u64 = ROW_LOGICAL_BYTES + (LARGE_VALUES - 1) * VALUE_BYTES as u64;
/// Where values are marked, one of so many events has the marked one.
pub(crate) const MARKED_EVERY: u64 = 10_000;
/// The marked value is that of an event which no question writes.
const MARK: u64 = u64::MAX;
/// Time of event 0: 2026-03-28.
const FIRST_NANOS: u64 = 1_774_656_000_000_000_000;
const NANOS_PER_EVENT: u64 = 1_000;
/// What is around the unpredictable parts of a value.
const VALUE_TEXTS: [&[u8]; 5] = [
    b"{\"user\":\"",
    b"\",\"device\":\"",
    b"\",\"kind\":\"page_viewed\",\"path\":\"/shop/garden/items/",
    b"\",\"agent\":\"Mozilla/5.0 (X11; Linux x86_64)\",\"trace\":\"",
    b"\",\"ok\":true}",
];

/// The table with this number.
pub(crate) fn table(number: usize) -> Result<TableRef> {
    let name = TableName::new(&format!("data_2026032{number}"))?;
    Ok(TableRef { namespace: NamespaceName::new("bench")?, incarnation: 1, name })
}

/// The series with this number.
pub(crate) fn series(number: u64) -> Result<SeriesId> {
    Ok(SeriesId::new(&format!("series-{number:09}"))?)
}

/// A partition of the series with this number.
pub(crate) fn partition(number: u64) -> Result<PartitionKey> {
    Ok(PartitionKey { series: series(number)?, time_bucket: 3, event_bucket: 1 })
}

/// The rows of events `first` and following, as a client of the store has them.
pub(crate) fn rows(first: u64, count: u64) -> Result<Vec<Row>> {
    let item_key = ItemKey::new(ITEM_KEY)?;
    let mut buffer = BytesMut::with_capacity(capacity(count, EVENT_ID_BYTES + VALUE_BYTES));
    let row = |event: u64| -> Result<Row> {
        put_hex(mix(event), &mut buffer);
        let event_id = EventId::from_stored(buffer.split().freeze());
        put_value(event, &mut buffer);
        let key = RowKey { event_time: time(event)?, event_id, item_key: item_key.clone() };
        Ok(Row { key, write_time: write_time(event), value: buffer.split().freeze(), metadata: Bytes::new() })
    };
    (first..first + count).map(row).collect()
}

/// The same, with the marked value in one event of [`MARKED_EVERY`].
pub(crate) fn marked_rows(first: u64, count: u64) -> Result<Vec<Row>> {
    let mut rows = rows(first, count)?;
    for (_, row) in (first..).zip(&mut rows).filter(|(event, _)| is_marked(*event)) {
        row.value = marked_value();
    }
    Ok(rows)
}

/// The rows of large events `first` and following.
pub(crate) fn large_rows(first: u64, count: u64) -> Result<Vec<Row>> {
    let parts = rows(first * LARGE_VALUES, count * LARGE_VALUES)?;
    let large = |parts: &[Row]| {
        let value = parts.iter().flat_map(|part| part.value.iter().copied()).collect();
        Some(Row { value, ..parts.first()?.clone() })
    };
    Ok(parts.chunks(usize::try_from(LARGE_VALUES)?).filter_map(large).collect())
}

/// The same rows as keys and values of the engine, built as one would without the store: as long as the store's,
/// byte for byte the same order.
pub(crate) fn raw_rows(prefix: &[u8], first: u64, count: u64) -> Result<Vec<(Bytes, Bytes)>> {
    let row_bytes = prefix.len() + 8 + EVENT_ID_BYTES + 2 + ITEM_KEY.len() + 2 + 12 + 1 + VALUE_BYTES;
    let mut buffer = BytesMut::with_capacity(capacity(count, row_bytes));
    let row = |event: u64| -> Result<(Bytes, Bytes)> {
        buffer.put_slice(prefix);
        buffer.put_i64(time(event)?.nanos());
        put_hex(mix(event), &mut buffer);
        buffer.put_slice(&[0, 1]);
        buffer.put_slice(ITEM_KEY.as_bytes());
        buffer.put_slice(&[0, 1]);
        // Write time with its sign bit flipped; then four bytes where the store has a hash of the content.
        buffer.put_u64(write_time(event).cast_unsigned() ^ (1 << 63));
        buffer.put_u32(0);
        let key = buffer.split().freeze();
        buffer.put_u8(1);
        put_value(event, &mut buffer);
        Ok((key, buffer.split().freeze()))
    };
    (first..first + count).map(row).collect()
}

/// What the keys of all rows of a partition begin with; `docs/formats/embedded.md` draws it.
pub(crate) fn raw_prefix(partition: &PartitionKey) -> Result<Vec<u8>> {
    let series = partition.series.as_str().as_bytes();
    let mut prefix = u16::try_from(series.len())?.to_be_bytes().to_vec();
    prefix.extend_from_slice(series);
    prefix.extend(partition.time_bucket.to_be_bytes());
    prefix.extend(partition.event_bucket.to_be_bytes());
    Ok(prefix)
}

/// The value of events that are marked, as long as any other.
pub(crate) fn marked_value() -> Bytes {
    let mut buffer = BytesMut::with_capacity(VALUE_BYTES);
    put_value(MARK, &mut buffer);
    buffer.freeze()
}

/// Whether this event is marked, where values are.
pub(crate) const fn is_marked(event: u64) -> bool {
    event.is_multiple_of(MARKED_EVERY)
}

/// When an event happened.
pub(crate) fn time(event: u64) -> Result<Timestamp> {
    Ok(Timestamp::from_nanos(i64::try_from(FIRST_NANOS + event * NANOS_PER_EVENT)?)?)
}

/// Microseconds since 1970, shortly after the event.
fn write_time(event: u64) -> i64 {
    i64::try_from(FIRST_NANOS / 1_000 + event).unwrap_or(i64::MAX)
}

fn capacity(count: u64, row_bytes: usize) -> usize {
    usize::try_from(count).unwrap_or(0).saturating_mul(row_bytes)
}

/// Spreads a number over 64 bits, one to one (the finalizer of `splitmix64`).
pub(crate) const fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

fn put_value(event: u64, buffer: &mut BytesMut) {
    let [first, others @ ..] = VALUE_TEXTS;
    buffer.put_slice(first);
    for (part, text) in (1_u64..).zip(others) {
        put_hex(mix(event.wrapping_mul(8).wrapping_add(part)), buffer);
        buffer.put_slice(text);
    }
}

/// Sixteen hexadecimal digits.
fn put_hex(number: u64, buffer: &mut BytesMut) {
    for byte in number.to_be_bytes() {
        buffer.put_slice(&hex_of(byte));
    }
}

/// Two hexadecimal digits.
pub(crate) const fn hex_of(byte: u8) -> [u8; 2] {
    [hex(byte >> 4), hex(byte & 0xF)]
}

const fn hex(nibble: u8) -> u8 {
    if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_as_large_as_they_say_and_differ() {
        let rows = rows(7, 3).unwrap();
        assert!(rows.iter().all(|row| row.logical_bytes() == ROW_LOGICAL_BYTES));
        assert!(rows.windows(2).all(|pair| pair[0].key < pair[1].key && pair[0].value != pair[1].value));
    }

    #[test]
    fn large_rows_are_as_large_as_they_say_and_follow_each_other() {
        let both = [large_rows(3, 2).unwrap(), large_rows(5, 1).unwrap()].concat();
        assert!(both.iter().all(|row| row.logical_bytes() == LARGE_ROW_LOGICAL_BYTES));
        assert!(both.windows(2).all(|pair| pair[0].key < pair[1].key && pair[0].value != pair[1].value));
        assert_eq!(both, large_rows(3, 3).unwrap());
    }

    #[test]
    fn both_forms_hold_the_same_values_in_the_same_order() {
        let (rows, raw) = (rows(0, 50).unwrap(), raw_rows(b"prefix", 0, 50).unwrap());
        for (row, (key, value)) in rows.iter().zip(&raw) {
            assert_eq!(row.value, value[1..]);
            assert!(key.starts_with(b"prefix"));
            let id = row.key.event_id.as_bytes();
            assert!(key.windows(id.len()).any(|part| part == id));
        }
        assert!(raw.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn the_marked_value_is_as_long_as_others_and_none_of_them() {
        assert_eq!(marked_value().len(), VALUE_BYTES);
        assert!(rows(0, 1_000).unwrap().iter().all(|row| row.value != marked_value()));
        let marked = |rows: Vec<Row>| rows.iter().filter(|row| row.value == marked_value()).count();
        assert_eq!((marked(marked_rows(1, 9_999).unwrap()), marked(marked_rows(9_999, 3).unwrap())), (0, 1));
    }

    #[test]
    fn hexadecimal_is_what_format_says() {
        for number in [0, 1, 0x0123_4567_89ab_cdef, u64::MAX] {
            let mut buffer = BytesMut::new();
            put_hex(number, &mut buffer);
            assert_eq!(buffer, format!("{number:016x}").as_bytes());
        }
    }
}
