//! Metadata records, in the keyspace `_meta`.
//!
//! Key: group (as in [`super::text`]), name. Value: format byte `1`, version u64 big-endian, what the record holds.

use bytes::Bytes;
use store::{Error, MetaKey, MetaRecord, MetaVersion};

use super::text::{self, BEHIND_END, cut_short};

const FORMAT: u8 = 1;

/// The key of a record.
pub(crate) fn key(record: &MetaKey) -> Vec<u8> {
    let mut key = group(&record.group);
    key.extend_from_slice(&record.name);
    key
}

/// What all keys of a group start with.
pub(crate) fn group(group: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(group.len() + 16);
    text::encode(group, &mut key);
    key
}

/// The first key behind all records of a group.
pub(crate) fn behind(name: &[u8]) -> Vec<u8> {
    let mut key = group(name);
    if let Some(end) = key.last_mut() {
        *end = BEHIND_END;
    }
    key
}

/// The stored form of a record.
pub(crate) fn encode(version: MetaVersion, value: &[u8]) -> Vec<u8> {
    let mut bytes = vec![FORMAT];
    bytes.extend(version.0.to_be_bytes());
    bytes.extend_from_slice(value);
    bytes
}

/// Reads a record back.
pub(crate) fn decode(key: &Bytes, stored: &Bytes) -> Result<MetaRecord, Error> {
    let mut unescaped = Vec::new();
    let name_at = key.len() - text::decode(key, &mut unescaped).ok_or_else(cut_short)?.1.len();
    let version = stored.get(1..9).and_then(<[u8]>::first_chunk).ok_or_else(cut_short)?;
    if stored.first() != Some(&FORMAT) {
        return Err(cut_short());
    }
    Ok(MetaRecord {
        name: key.slice(name_at..),
        version: MetaVersion(u64::from_be_bytes(*version)),
        value: stored.slice(9..),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::*;

    proptest! {
        #[test]
        fn records_read_back(group_name in any::<[u8; 3]>(), name in any::<[u8; 2]>(), version in any::<u64>(), value in any::<[u8; 4]>()) {
            let address = MetaKey::new(group_name.to_vec(), name.to_vec());
            let stored_key = Bytes::from(key(&address));
            let record = decode(&stored_key, &Bytes::from(encode(MetaVersion(version), &value))).unwrap();
            prop_assert_eq!(record.name.as_ref(), &name[..]);
            prop_assert_eq!(record.version, MetaVersion(version));
            prop_assert_eq!(record.value.as_ref(), &value[..]);
            prop_assert!(stored_key.as_ref() >= group(&group_name).as_slice());
            prop_assert!(stored_key.as_ref() < behind(&group_name).as_slice());
        }

        #[test]
        fn damaged_records_are_errors(key in any::<[u8; 6]>(), stored in proptest::collection::vec(any::<u8>(), 0..12)) {
            let _whatever = decode(&Bytes::from(key.to_vec()), &Bytes::from(stored));
        }
    }
}
