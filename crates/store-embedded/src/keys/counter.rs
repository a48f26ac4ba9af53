//! Live counters: upper bounds of the bytes of a table's partitions.
//!
//! Key of a counter: `F0`, partition prefix. Key of the slack: `F2`. Value of both: format byte `1`, bytes u64
//! big-endian.

use store::Error;

use super::text::cut_short;

const FORMAT: u8 = 1;
const COUNTER: u8 = 0xF0;

/// Where counters begin.
pub(crate) const COUNTERS_START: [u8; 1] = [COUNTER];
/// The first key behind them.
pub(crate) const COUNTERS_END: [u8; 1] = [COUNTER + 1];
/// The key of the slack.
pub(crate) const SLACK: [u8; 1] = [0xF2];

/// The key of the counter of the partition with `prefix`.
pub(crate) fn key(prefix: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(1 + prefix.len());
    key.push(COUNTER);
    key.extend_from_slice(prefix);
    key
}

/// The partition prefix inside a counter's key.
pub(crate) fn prefix(key: &[u8]) -> Result<&[u8], Error> {
    key.split_first().map(|(_, prefix)| prefix).ok_or_else(cut_short)
}

/// The stored form of a bound.
pub(crate) fn encode(bytes: u64) -> [u8; 9] {
    let mut stored = [FORMAT; 9];
    if let Some(number) = stored.last_chunk_mut::<8>() {
        *number = bytes.to_be_bytes();
    }
    stored
}

/// Reads a bound back.
pub(crate) fn decode(stored: &[u8]) -> Result<u64, Error> {
    match stored.split_first() {
        Some((&FORMAT, number)) => number.try_into().map(u64::from_be_bytes).map_err(|_| cut_short()),
        _ => Err(cut_short()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::*;

    proptest! {
        #[test]
        fn bounds_read_back(bytes in any::<u64>()) {
            prop_assert_eq!(decode(&encode(bytes)).unwrap(), bytes);
        }
    }

    #[test]
    fn damaged_bounds_are_errors() {
        for bad in [&[][..], &[1, 2], &[2; 9], &[1; 10]] {
            assert!(decode(bad).is_err());
        }
        assert_eq!(prefix(&key(b"abc")).unwrap(), b"abc");
    }
}
