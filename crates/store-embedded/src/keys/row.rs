//! Rows: one item of one event, one version per write.
//!
//! Key: `partition | event_time u64 | event_id | item_key | write_time u64 | tie u32`, texts as in [`super::text`],
//! numbers big-endian, the write time with its sign bit flipped. Everything up to the item key is the row's *base*;
//! the rest tells its versions apart. Because the write time is part of the key, a write never looks for what
//! it replaces: versions meet when they are read, and the order of arrival cannot matter. The tie is a hash of the
//! content, so that two different writes with one write time are both kept until they meet.
//!
//! Value: kind byte `1`, value; or kind byte `2`, metadata length u32, metadata, value. A row whose item key is empty, as no
//! client's is, is a *head*: kind byte `3`, metadata length u32, value length u32, metadata. Its value is a [`super::body`].
//! Before there were heads such rows were of the first two kinds, and those are read as ever.

use bytes::{Bytes, BytesMut};
use model::{Row, RowKey, RowView, Timestamp};
use xxhash_rust::xxh3::Xxh3;

use super::body;
use super::text::{self, BEHIND_END};

const TIME_BYTES: usize = 8;
/// Write time and tie.
const VERSION_BYTES: usize = 12;
/// How the base of a row without item key ends: event id and item key end, and nothing is between. Inside of a text are no such bytes.
const NO_ITEM_KEY: [u8; 4] = [0, 1, 0, 1];
const PLAIN: u8 = 1;
const WITH_METADATA: u8 = 2;
const HEAD: u8 = 3;
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

/// Whether the row under `key` is one whose value lies apart, if it was written since there are heads.
pub(crate) fn has_body(key: &[u8]) -> bool {
    key.len()
        .checked_sub(VERSION_BYTES)
        .and_then(|end| key.get(..end))
        .is_some_and(|base| base.ends_with(&NO_ITEM_KEY))
}

fn lies_apart(row: &Row) -> bool {
    row.key.item_key.as_bytes().is_empty()
}

/// Encodes the rows of one batch into one buffer and slices it: two allocations whatever the number of rows. A row whose value
/// lies apart becomes two records, the head first.
pub(crate) fn encode_all(prefix: &[u8], rows: &[Row]) -> Vec<(Bytes, Bytes)> {
    let mut key = Vec::with_capacity(prefix.len() + 128);
    let keys = |row: &Row| (1 + usize::from(lies_apart(row))) * (prefix.len() + 96);
    let sizes = rows.iter().map(|row| keys(row) + row.value.len() + row.metadata.len());
    let mut buffer = BytesMut::with_capacity(sizes.sum());
    let apart = rows.iter().filter(|row| lies_apart(row)).count();
    let mut encoded = Vec::with_capacity(rows.len() + apart);
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
        if lies_apart(row) {
            body::encode_key(&key, &mut buffer);
            let stored_key = buffer.split().freeze();
            body::encode(&row.value, &mut buffer);
            encoded.push((stored_key, buffer.split().freeze()));
        }
    }
    encoded
}

fn encode_value(row: &Row, buffer: &mut BytesMut) {
    // Batches are limited to 16 MiB long before this.
    let length = |part: &[u8]| u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes();
    if lies_apart(row) {
        buffer.extend_from_slice(&[HEAD]);
        buffer.extend_from_slice(&length(&row.metadata));
        buffer.extend_from_slice(&length(&row.value));
        buffer.extend_from_slice(&row.metadata);
        return;
    }
    if row.metadata.is_empty() {
        buffer.extend_from_slice(&[PLAIN]);
    } else {
        buffer.extend_from_slice(&[WITH_METADATA]);
        buffer.extend_from_slice(&length(&row.metadata));
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

/// Room for ids that have a zero byte and so do not lie in the key as they are.
#[derive(Default)]
pub(crate) struct Unescaped {
    event_id: Vec<u8>,
    item_key: Vec<u8>,
}

/// One version of a row, as it was found.
pub(crate) struct Version<'a> {
    /// The row; its value is empty here where it lies apart.
    pub(crate) row: RowView<'a>,
    /// Bytes of the value where it lies apart, in a [`super::body`].
    pub(crate) body_bytes: Option<u32>,
}

/// Reads a row whose key has a prefix of `prefix_length` bytes, in place; none if it is damaged.
#[inline]
pub(crate) fn decode<'a>(
    prefix_length: usize,
    key: &'a [u8],
    value: &'a [u8],
    unescaped: &'a mut Unescaped,
) -> Option<Version<'a>> {
    let (time, rest) = key.get(prefix_length..)?.split_first_chunk::<TIME_BYTES>()?;
    let event_time = Timestamp::checked(i64::from_be_bytes(*time))?;
    let (event_id, rest) = text::decode(rest, &mut unescaped.event_id)?;
    let (item_key, version) = text::decode(rest, &mut unescaped.item_key)?;
    let (write_time, _tie) = version.split_first_chunk::<8>()?;
    let (metadata, value, body_bytes) = decode_value(value)?;
    let write_time = (u64::from_be_bytes(*write_time) ^ SIGN).cast_signed();
    let row = RowView { event_time, event_id, item_key, write_time, value, metadata };
    Some(Version { row, body_bytes })
}

/// Reads metadata and value, or how long the value is where it lies apart.
#[inline]
fn decode_value(stored: &[u8]) -> Option<(&[u8], &[u8], Option<u32>)> {
    match stored.split_first()? {
        (&PLAIN, value) => Some((&[], value, None)),
        (&WITH_METADATA, rest) => {
            let (length, rest) = rest.split_first_chunk::<4>()?;
            let (metadata, value) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
            Some((metadata, value, None))
        }
        (&HEAD, rest) => {
            let (length, rest) = rest.split_first_chunk::<4>()?;
            let (value_length, metadata) = rest.split_first_chunk::<4>()?;
            let is_whole = metadata.len() == u32::from_be_bytes(*length) as usize;
            is_whole.then_some((metadata, &[], Some(u32::from_be_bytes(*value_length))))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, any, prop_assert_eq, proptest};

    use model::{EventId, ItemKey};

    use super::*;

    fn rows() -> impl Strategy<Value = Row> {
        let bytes = || proptest::collection::vec(any::<u8>(), 0..6);
        let text = "[\u{0}ab\u{10FFFF}]{1,4}";
        // Empty ones among them, which only Braid itself can make.
        let item_keys = "[\u{0}ab\u{10FFFF}]{0,3}";
        (0_i64..4, text, item_keys, any::<i64>(), bytes(), bytes()).prop_map(
            |(time, event_id, item_key, write_time, value, metadata)| Row {
                key: RowKey {
                    event_time: Timestamp::from_nanos(time).unwrap(),
                    event_id: EventId::new(event_id).unwrap(),
                    item_key: ItemKey::from_stored(item_key.into()),
                },
                write_time,
                value: value.into(),
                metadata: metadata.into(),
            },
        )
    }

    /// The records of `rows` that are no bodies.
    fn encoded(rows: &[Row]) -> Vec<(Bytes, Bytes)> {
        encode_all(b"p", rows).into_iter().filter(|(key, _)| body::row_key(key).is_none()).collect()
    }

    proptest! {
        #[test]
        fn rows_read_back(row in rows()) {
            let encoded = encode_all(b"prefix", std::slice::from_ref(&row));
            let (key, value) = &encoded[0];
            let mut unescaped = Unescaped::default();
            let Version { row: read, body_bytes } = decode(6, key, value, &mut unescaped).unwrap();
            let apart = row.key.item_key.as_bytes().is_empty();
            prop_assert_eq!((encoded.len(), body_bytes.is_some(), has_body(key)), (1 + usize::from(apart), apart, apart));
            if let Some(bytes) = body_bytes {
                let (body_key, stored) = &encoded[1];
                prop_assert_eq!((body::row_key(body_key), read.value.len()), (Some(key.as_ref()), 0));
                let value = body::decode(stored, bytes).unwrap();
                prop_assert_eq!(RowView { value, ..read }.to_row(), row);
            } else {
                prop_assert_eq!(read.to_row(), row);
            }
        }

        #[test]
        fn keys_order_as_rows_do_and_versions_by_write_time(a in rows(), b in rows()) {
            let encoded = encoded(&[a.clone(), b.clone()]);
            let order = a.key.cmp(&b.key).then(a.write_time.cmp(&b.write_time));
            let same_content = a.value == b.value && a.metadata == b.metadata;
            if order.is_ne() || same_content {
                prop_assert_eq!(encoded[0].0.cmp(&encoded[1].0), order);
            }
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
        fn damaged_rows_are_errors(key in proptest::collection::vec(0_u8..3, 0..40), value in proptest::collection::vec(0_u8..4, 0..12)) {
            let _whatever = has_body(&key);
            let _whatever = decode(3, &key, &value, &mut Unescaped::default());
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
    }
}
