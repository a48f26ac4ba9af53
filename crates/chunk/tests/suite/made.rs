//! Rows for the tests, and the way through a chunk and back.

use chunk::{Chunk, Codec, Error, Header, Limits, Packed, Packer, Unpacker};
use model::{EventId, ItemKey, Row, RowKey, Timestamp};

pub(crate) fn row(time: i64, event_id: &str, item_key: &str, write_time: i64, parts: (&[u8], &[u8])) -> Row {
    Row {
        key: RowKey {
            event_time: Timestamp::from_nanos(time).unwrap(),
            event_id: EventId::new(event_id).unwrap(),
            item_key: ItemKey::new(item_key).unwrap(),
        },
        write_time,
        value: parts.0.to_vec().into(),
        metadata: parts.1.to_vec().into(),
    }
}

/// Some events with values that repeat themselves, newest first.
pub(crate) fn series(events: u32) -> Vec<Row> {
    let mut random = fastrand::Rng::with_seed(7);
    let mut rows = Vec::new();
    for event in (0..i64::from(events)).rev() {
        let packed = random.u128(..);
        let hex = format!("{packed:032x}");
        let id = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-");
        let id = if event % 5 == 0 { format!("event-{event}") } else { id };
        for item in (0..=event % 3).rev() {
            let value = format!("{{\"speed\": {event}, \"unit\": \"km/h\", \"item\": {item}}}");
            let metadata: &[u8] = if item == 1 { b"\x01gzip" } else { b"" };
            rows.push(row(
                1_000 * event,
                &id,
                &format!("k{item}"),
                9_000 - event * item,
                (value.as_bytes(), metadata),
            ));
        }
    }
    rows
}

pub(crate) fn pack(rows: &[Row], codec: Codec, chunk_bytes: u64) -> Vec<Packed> {
    let mut packer = Packer::new(codec, chunk_bytes);
    let mut packed = Vec::new();
    for row in rows {
        packed.extend(packer.push(row.view()).unwrap());
    }
    packed.extend(packer.finish().unwrap());
    packed
}

/// Everything that a reader does with a stored row.
pub(crate) fn read(stored: &Row, limits: Limits) -> Result<(Chunk, Vec<Row>), Error> {
    let header = Header::decode(&stored.metadata)?;
    let chunk = Unpacker::new(limits).unpack(header, &stored.value)?;
    let rows = chunk.rows()?;
    let found = (0..rows.len()).map(|at| rows.shared(at).unwrap()).collect();
    Ok((chunk, found))
}
