//! The prefix that all rows of a partition share.
//!
//! `length of series u16 | series | time_bucket u32 | event_bucket u32`, big-endian. The length comes first, so its
//! high byte is 0 to 2 and every other kind of key in a table starts higher.

use bytes::Bytes;
use model::{PartitionKey, SeriesId};
use store::Error;

use super::text::cut_short;

const LENGTH_BYTES: usize = 2;
const BUCKETS_BYTES: usize = 8;

/// First key behind all rows of a table.
pub(crate) const ROWS_END: [u8; 1] = [0x10];

/// The prefix of `partition`.
pub(crate) fn encode(partition: &PartitionKey) -> Vec<u8> {
    let series = partition.series.as_str().as_bytes();
    let mut prefix = Vec::with_capacity(LENGTH_BYTES + series.len() + BUCKETS_BYTES);
    // A series id has at most 512 bytes.
    prefix.extend(u16::try_from(series.len()).unwrap_or(u16::MAX).to_be_bytes());
    prefix.extend_from_slice(series);
    prefix.extend(partition.time_bucket.to_be_bytes());
    prefix.extend(partition.event_bucket.to_be_bytes());
    prefix
}

/// How long the prefix at the start of `key` is.
pub(crate) fn prefix_length(key: &[u8]) -> Result<usize, Error> {
    let length = key.first_chunk::<LENGTH_BYTES>().ok_or_else(cut_short)?;
    let total = LENGTH_BYTES + usize::from(u16::from_be_bytes(*length)) + BUCKETS_BYTES;
    if key.len() < total { Err(cut_short()) } else { Ok(total) }
}

/// Reads the prefix at the start of `key`.
pub(crate) fn decode(key: &[u8]) -> Result<PartitionKey, Error> {
    let prefix = key.get(..prefix_length(key)?).ok_or_else(cut_short)?;
    let (head, buckets) = prefix.split_last_chunk::<BUCKETS_BYTES>().ok_or_else(cut_short)?;
    let series =
        std::str::from_utf8(head.get(LENGTH_BYTES..).ok_or_else(cut_short)?).map_err(|_| cut_short())?;
    let both = u64::from_be_bytes(*buckets);
    Ok(PartitionKey {
        series: SeriesId::new(series).map_err(|_| cut_short())?,
        time_bucket: u32::try_from(both >> 32).map_err(|_| cut_short())?,
        event_bucket: u32::try_from(both & u64::from(u32::MAX)).map_err(|_| cut_short())?,
    })
}

/// The first key behind all rows of the partition with this prefix.
pub(crate) fn behind(prefix: &[u8]) -> Bytes {
    let mut key = prefix.to_vec();
    // A row goes on with a time that is not negative, so its next byte is below 0x80.
    key.push(0xFF);
    key.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::*;

    proptest! {
        #[test]
        fn prefixes_read_back(series in "[a-c\u{0}\u{10FFFF}]{1,9}", time_bucket in any::<u32>(), event_bucket in any::<u32>()) {
            let partition = PartitionKey { series: SeriesId::new(&series).unwrap(), time_bucket, event_bucket };
            let prefix = encode(&partition);
            prop_assert!(prefix.as_slice() < &ROWS_END[..]);
            prop_assert_eq!(prefix_length(&prefix).unwrap(), prefix.len());
            prop_assert_eq!(decode(&prefix).unwrap(), partition);
        }

        #[test]
        fn damaged_prefixes_are_errors(bytes in proptest::collection::vec(any::<u8>(), 0..30)) {
            let _whatever = decode(&bytes);
        }
    }
}
