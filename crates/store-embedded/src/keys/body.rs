//! Bodies: the values of rows that have no item key, apart from their rows. So whoever wants only what is said of them (their
//! metadata, which are the headers of chunks) never touches them.
//!
//! Key: `F3`, the whole key of the row in [`super::row`], with write time and tie: every version of a row has a body of its own,
//! and bodies lie in the order of their rows. Value: format byte `1`, value.

use bytes::BytesMut;

const FORMAT: u8 = 1;
const BODY: u8 = 0xF3;

/// Appends the key of the body of the row under `row_key`, or of a bound of rows that of the same bound of bodies.
pub(crate) fn encode_key(row_key: &[u8], to: &mut BytesMut) {
    to.extend_from_slice(&[BODY]);
    to.extend_from_slice(row_key);
}

/// That key by itself.
pub(crate) fn key(row_key: &[u8]) -> Vec<u8> {
    [&[BODY], row_key].concat()
}

/// The key of the row whose body lies under `key`.
pub(crate) fn row_key(key: &[u8]) -> Option<&[u8]> {
    key.strip_prefix(&[BODY])
}

/// Appends the stored form of a value.
pub(crate) fn encode(value: &[u8], to: &mut BytesMut) {
    to.extend_from_slice(&[FORMAT]);
    to.extend_from_slice(value);
}

/// Reads a value of so many bytes back; none where it is not such a one.
pub(crate) fn decode(stored: &[u8], bytes: u32) -> Option<&[u8]> {
    match stored.split_first()? {
        (&FORMAT, value) if value.len() == bytes as usize => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::super::counter::{COUNTERS_END, SLACK};
    use super::super::kept;
    use super::*;

    proptest! {
        #[test]
        fn bodies_read_back_in_the_order_of_their_rows(a in any::<[u8; 5]>(), b in any::<[u8; 5]>(), value in proptest::collection::vec(any::<u8>(), 0..9)) {
            let (mut stored_key, mut stored) = (BytesMut::new(), BytesMut::new());
            encode_key(&a, &mut stored_key);
            encode(&value, &mut stored);
            prop_assert_eq!(stored_key.to_vec(), key(&a));
            prop_assert_eq!(row_key(&stored_key), Some(&a[..]));
            prop_assert_eq!(decode(&stored, u32::try_from(value.len()).unwrap()), Some(&value[..]));
            prop_assert_eq!(key(&a).cmp(&key(&b)), a.cmp(&b));
            // Whoever walks over rows, counters or records of the table does not come here.
            prop_assert!([&COUNTERS_END[..], &SLACK, &kept::KEY].iter().all(|other| key(&a).as_slice() > *other));
        }

        #[test]
        fn damaged_bodies_are_errors(stored in proptest::collection::vec(0_u8..4, 0..9), bytes in 0_u32..12) {
            let whole = stored.first() == Some(&FORMAT) && stored.len() == bytes as usize + 1;
            prop_assert_eq!(decode(&stored, bytes).is_some(), whole);
            prop_assert_eq!(row_key(&stored), None);
        }
    }
}
