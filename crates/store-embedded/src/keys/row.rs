//! Rows: one item of one event, one version per write.
//!
//! Key: `partition | event_time u64 | event_id | item_key | write_time u64 | tie u32`, texts as in [`super::text`],
//! numbers big-endian, the write time with its sign bit flipped. Everything up to the item key is the row's *base*;
//! the rest tells its versions apart. Because the write time is part of the key, a write never looks for what
//! it replaces: versions meet when they are read, and the order of arrival cannot matter. The tie is a hash of the
//! content, so that two different writes with one write time are both kept until they meet.
//!
//! Value: kind byte `1`, value; or kind byte `2`, metadata length u32, metadata, value.

use bytes::{Bytes, BytesMut};
use model::{EventId, ItemKey, Row, RowKey, Timestamp};
use store::{Error, ErrorKind};
use xxhash_rust::xxh3::Xxh3;

use super::text::{self, BEHIND_END, cut_short};

const TIME_BYTES: usize = 8;
/// Bytes behind the base: write time and tie.
pub(crate) const VERSION_BYTES: usize = 12;
const PLAIN: u8 = 1;
const WITH_METADATA: u8 = 2;
const SIGN: u64 = 1 << 63;

/// Appends the part of a row's key that orders it inside its partition.
fn encode_base(row: &RowKey, key: &mut Vec<u8>) {
    // Times are never negative, so they order as they are.
    key.extend(row.event_time.nanos().to_be_bytes());
    text::encode(row.event_id.as_bytes(), key);
    text::encode(row.item_key.as_bytes(), key);
}

/// The base of `row` in the partition with `prefix`: the first key that any version of it can have.
pub(crate) fn base(prefix: &[u8], row: &RowKey) -> Vec<u8> {
    let mut key = prefix.to_vec();
    encode_base(row, &mut key);
    key
}

/// The first key behind all versions of `row`.
pub(crate) fn behind(prefix: &[u8], row: &RowKey) -> Vec<u8> {
    let mut key = base(prefix, row);
    if let Some(end) = key.last_mut() {
        *end = BEHIND_END;
    }
    key
}

/// The first key of `prefix` that a row at `nanos` or later can have.
pub(crate) fn from_time(prefix: &[u8], nanos: i64) -> Vec<u8> {
    let mut key = prefix.to_vec();
    key.extend(nanos.max(0).to_be_bytes());
    key
}

/// Encodes the rows of one batch into one buffer and slices it: two allocations whatever the number of rows.
pub(crate) fn encode_all(prefix: &[u8], rows: &[Row]) -> Vec<(Bytes, Bytes)> {
    let mut key = Vec::with_capacity(prefix.len() + 128);
    let sizes = rows.iter().map(|row| prefix.len() + row.value.len() + row.metadata.len() + 96);
    let mut buffer = BytesMut::with_capacity(sizes.sum());
    let mut encoded = Vec::with_capacity(rows.len());
    for row in rows {
        key.clear();
        key.extend_from_slice(prefix);
        encode_base(&row.key, &mut key);
        key.extend((row.write_time.cast_unsigned() ^ SIGN).to_be_bytes());
        key.extend(tie(row).to_be_bytes());
        buffer.extend_from_slice(&key);
        let stored_key = buffer.split().freeze();
        encode_value(row, &mut buffer);
        encoded.push((stored_key, buffer.split().freeze()));
    }
    encoded
}

fn encode_value(row: &Row, buffer: &mut BytesMut) {
    if row.metadata.is_empty() {
        buffer.extend_from_slice(&[PLAIN]);
    } else {
        buffer.extend_from_slice(&[WITH_METADATA]);
        // Batches are limited to 16 MiB long before this.
        buffer.extend_from_slice(&u32::try_from(row.metadata.len()).unwrap_or(u32::MAX).to_be_bytes());
        buffer.extend_from_slice(&row.metadata);
    }
    buffer.extend_from_slice(&row.value);
}

fn tie(row: &Row) -> u32 {
    let mut hasher = Xxh3::new();
    hasher.update(&(row.metadata.len() as u64).to_le_bytes());
    hasher.update(&row.metadata);
    hasher.update(&row.value);
    u32::try_from(hasher.digest() >> 32).unwrap_or(0)
}

/// Whether two keys are versions of the same row.
pub(crate) fn same_row(left: &[u8], right: &[u8]) -> bool {
    let base_of = |key: &[u8]| key.len().saturating_sub(VERSION_BYTES);
    left.get(..base_of(left)) == right.get(..base_of(right))
}

/// Reads a row whose key has a prefix of `prefix_length` bytes. Ids, value and metadata are slices of what the engine
/// gave: nothing is copied.
pub(crate) fn decode(prefix_length: usize, key: &Bytes, value: &Bytes) -> Result<Row, Error> {
    let time_end = prefix_length + TIME_BYTES;
    let time = key.get(prefix_length..time_end).and_then(<[u8]>::first_chunk).ok_or_else(cut_short)?;
    let event_time = Timestamp::from_nanos(i64::from_be_bytes(*time)).map_err(|_| cut_short())?;
    let (event_id, next) = text::decode(key, time_end)?;
    let (item_key, next) = text::decode(key, next)?;
    let version = key.get(next..).ok_or_else(cut_short)?;
    let write_time = version.first_chunk::<8>().ok_or_else(cut_short)?;
    let (metadata, value) = decode_value(value)?;
    Ok(Row {
        key: RowKey {
            event_time,
            event_id: EventId::from_stored(event_id),
            item_key: ItemKey::from_stored(item_key),
        },
        write_time: (u64::from_be_bytes(*write_time) ^ SIGN).cast_signed(),
        value,
        metadata,
    })
}

/// Reads metadata and value.
fn decode_value(stored: &Bytes) -> Result<(Bytes, Bytes), Error> {
    let damaged =
        || Error::new(ErrorKind::Corrupt, "a stored value does not decode; restore the data directory");
    match stored.first() {
        Some(&PLAIN) => Ok((Bytes::new(), stored.slice(1..))),
        Some(&WITH_METADATA) => {
            let length = stored.get(1..5).and_then(<[u8]>::first_chunk).ok_or_else(damaged)?;
            let end = 5 + u32::from_be_bytes(*length) as usize;
            if stored.len() < end {
                return Err(damaged());
            }
            Ok((stored.slice(5..end), stored.slice(end..)))
        }
        _ => Err(damaged()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, any, prop_assert_eq, proptest};

    use super::*;

    fn rows() -> impl Strategy<Value = Row> {
        let bytes = || proptest::collection::vec(any::<u8>(), 0..6);
        let text = "[\u{0}ab\u{10FFFF}]{1,4}";
        (0_i64..4, text, text, any::<i64>(), bytes(), bytes()).prop_map(
            |(time, event_id, item_key, write_time, value, metadata)| Row {
                key: RowKey {
                    event_time: Timestamp::from_nanos(time).unwrap(),
                    event_id: EventId::new(event_id).unwrap(),
                    item_key: ItemKey::new(item_key).unwrap(),
                },
                write_time,
                value: value.into(),
                metadata: metadata.into(),
            },
        )
    }

    proptest! {
        #[test]
        fn rows_read_back(row in rows()) {
            let encoded = encode_all(b"prefix", std::slice::from_ref(&row));
            let (key, value) = &encoded[0];
            prop_assert_eq!(decode(6, key, value).unwrap(), row);
        }

        #[test]
        fn keys_order_as_rows_do_and_versions_by_write_time(a in rows(), b in rows()) {
            let encoded = encode_all(b"p", &[a.clone(), b.clone()]);
            let order = a.key.cmp(&b.key).then(a.write_time.cmp(&b.write_time));
            let same_content = a.value == b.value && a.metadata == b.metadata;
            if order.is_ne() || same_content {
                prop_assert_eq!(encoded[0].0.cmp(&encoded[1].0), order);
            }
            prop_assert_eq!(same_row(&encoded[0].0, &encoded[1].0), a.key == b.key);
        }

        #[test]
        fn bounds_enclose_exactly_the_versions_of_a_row(a in rows(), b in rows()) {
            let key = &encode_all(b"p", std::slice::from_ref(&a))[0].0;
            let inside = base(b"p", &b.key).as_slice() <= key.as_ref() && key.as_ref() < behind(b"p", &b.key).as_slice();
            prop_assert_eq!(inside, a.key == b.key);
            let later = key.as_ref() >= from_time(b"p", b.key.event_time.nanos()).as_slice();
            prop_assert_eq!(later, a.key.event_time >= b.key.event_time);
        }

        #[test]
        fn damaged_rows_are_errors(key in proptest::collection::vec(0_u8..3, 0..40), value in proptest::collection::vec(0_u8..3, 0..9)) {
            let _whatever = decode(3, &Bytes::from(key), &Bytes::from(value));
        }
    }

    #[test]
    fn equal_write_times_with_other_content_are_two_versions() {
        let row = |value: &'static [u8]| Row {
            key: RowKey {
                event_time: Timestamp::MIN,
                event_id: EventId::new("e").unwrap(),
                item_key: ItemKey::new("k").unwrap(),
            },
            write_time: 1,
            value: Bytes::from_static(value),
            metadata: Bytes::new(),
        };
        let encoded = encode_all(b"p", &[row(b"x"), row(b"y"), row(b"x")]);
        assert_ne!(encoded[0].0, encoded[1].0);
        assert_eq!(encoded[0].0, encoded[2].0);
        assert!(same_row(&encoded[0].0, &encoded[1].0));
    }
}
