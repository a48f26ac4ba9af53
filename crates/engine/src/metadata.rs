//! The stored form of an item's `value_metadata`: a small map of text.
//!
//! Empty where there is none. Otherwise a format byte `1`, then for each pair, in the order of the keys: length of the
//! key (u16), key, length of the value (u32), value; big-endian.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::{Error, Reason, Result};

const FORMAT: u8 = 1;

/// The stored form of a map. Keys and values were limited by the request's limit before.
pub fn encode(map: &BTreeMap<String, String>) -> Result<Bytes> {
    if map.is_empty() {
        return Ok(Bytes::new());
    }
    let mut bytes = vec![FORMAT];
    for (key, value) in map {
        let too_long =
            || Error::new(Reason::EventTooLarge, "a key of value_metadata is too long; shorten it");
        bytes.extend(u16::try_from(key.len()).map_err(|_| too_long())?.to_be_bytes());
        bytes.extend_from_slice(key.as_bytes());
        bytes.extend(u32::try_from(value.len()).map_err(|_| too_long())?.to_be_bytes());
        bytes.extend_from_slice(value.as_bytes());
    }
    Ok(bytes.into())
}

/// Reads the stored form back.
pub fn decode(bytes: &[u8]) -> Result<BTreeMap<String, String>> {
    let damaged =
        || Error::new(Reason::ChecksumMismatch, "stored value_metadata does not decode; restore the data");
    let mut map = BTreeMap::new();
    let Some((format, mut rest)) = bytes.split_first() else {
        return Ok(map);
    };
    if *format != FORMAT {
        return Err(damaged());
    }
    while !rest.is_empty() {
        let (length, tail) = rest.split_first_chunk::<2>().ok_or_else(damaged)?;
        let (key, tail) = tail.split_at_checked(u16::from_be_bytes(*length).into()).ok_or_else(damaged)?;
        let (length, tail) = tail.split_first_chunk::<4>().ok_or_else(damaged)?;
        let length = usize::try_from(u32::from_be_bytes(*length)).map_err(|_| damaged())?;
        let (value, tail) = tail.split_at_checked(length).ok_or_else(damaged)?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| damaged());
        map.insert(text(key)?, text(value)?);
        rest = tail;
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn maps_read_back() {
        for pairs in [&[][..], &[("", "")], &[("encoding", "gzip"), ("unit", "ms"), ("ü", "\0")]] {
            let map = map(pairs);
            assert_eq!(decode(&encode(&map).unwrap()).unwrap(), map);
        }
    }

    #[test]
    fn the_form_never_changes() {
        let bytes = encode(&map(&[("b", "22"), ("a", "1")])).unwrap();
        assert_eq!(bytes.as_ref(), b"\x01\0\x01a\0\0\0\x011\0\x01b\0\0\0\x0222");
    }

    #[test]
    fn damaged_bytes_are_errors() {
        for bad in
            [&b"\x02"[..], b"\x01\0", b"\x01\0\x05a", b"\x01\0\x01a\0\0\0\x09x", b"\x01\0\x01\xff\0\0\0\0"]
        {
            assert_eq!(decode(bad).unwrap_err().reason(), Reason::ChecksumMismatch);
        }
    }
}
