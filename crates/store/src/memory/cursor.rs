//! The cursor of the memory backend: the last partition that was listed, as bytes.
//!
//! Invariant: what [`encode`] writes, [`decode`] reads back; anything else is refused as invalid, because a cursor
//! comes back from a caller.

use bytes::{BufMut, Bytes, BytesMut};
use model::{PartitionKey, SeriesId};

use crate::{Cursor, Error, Result};

/// Version byte of the encoding.
const FORMAT: u8 = 1;

/// The place behind `partition`: version, time bucket, event bucket, series.
pub(super) fn encode(partition: &PartitionKey) -> Cursor {
    let series = partition.series.as_str().as_bytes();
    let mut bytes = BytesMut::with_capacity(1 + 2 * size_of::<u32>() + series.len());
    bytes.put_u8(FORMAT);
    bytes.put_u32(partition.time_bucket);
    bytes.put_u32(partition.event_bucket);
    bytes.put_slice(series);
    Cursor(bytes.freeze())
}

/// The partition that a cursor lies behind.
pub(super) fn decode(cursor: &Cursor) -> Result<PartitionKey> {
    parse(&cursor.0).ok_or_else(|| {
        Error::invalid("cursor was not made by this store; start the enumeration again without a cursor")
    })
}

fn parse(bytes: &Bytes) -> Option<PartitionKey> {
    let (version, rest) = bytes.split_first()?;
    let (time_bucket, rest) = rest.split_first_chunk()?;
    let (event_bucket, series) = rest.split_first_chunk()?;
    if *version != FORMAT {
        return None;
    }
    Some(PartitionKey {
        series: SeriesId::new(str::from_utf8(series).ok()?).ok()?,
        time_bucket: u32::from_be_bytes(*time_bucket),
        event_bucket: u32::from_be_bytes(*event_bucket),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn a_cursor_reads_back() {
        let partition = PartitionKey {
            series: SeriesId::new("a\0\u{10FFFF}").unwrap(),
            time_bucket: u32::MAX,
            event_bucket: 7,
        };
        assert_eq!(decode(&encode(&partition)).unwrap(), partition);
    }

    #[test]
    fn other_bytes_are_refused() {
        let good =
            encode(&PartitionKey { series: SeriesId::new("s").unwrap(), time_bucket: 1, event_bucket: 2 });
        let mut newer = good.0.to_vec();
        newer[0] = FORMAT + 1;
        let without_series = good.0.slice(..9);
        let not_text = [&without_series[..], &[0xFF]].concat().into();
        for bad in [Bytes::new(), good.0.slice(..5), without_series, newer.into(), not_text] {
            assert_eq!(decode(&Cursor(bad)).unwrap_err().kind(), ErrorKind::Invalid);
        }
    }
}
