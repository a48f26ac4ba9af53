//! The fields of a token as bytes, without the seal. The picture is in the parent's doc.
//!
//! Invariant: there is one encoding of a body, and what decodes is within the limits of its fields.

use bytes::{BufMut, Bytes};
use engine::Resume;
use model::id::{EVENT_ID_BYTES_MAX, ITEM_KEY_BYTES_MAX};
use model::shape::BUCKETS_PER_ID_MAX;
use model::{EventId, ItemKey, Position, SeriesId, Timestamp};

use super::query::HASH_BYTES;

/// The version that this build writes, and the only one that it reads.
pub(super) const VERSION: u8 = 1;
/// More bytes than this are not counted: so a number has at most eight bytes, and the longest token fits.
pub(super) const SCANNED_BYTES_MAX: u64 = (1 << 56) - 1;

/// What a token says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Body {
    pub(super) key_id: u8,
    pub(super) query_hash: [u8; HASH_BYTES],
    pub(super) expiry_seconds: u64,
    pub(super) resume: Resume,
}

impl Body {
    pub(super) fn encode(&self) -> Vec<u8> {
        let Position { event_time, event_id, series, item_key } = &self.resume.after;
        let mut out = Vec::with_capacity(256);
        out.put_u8(VERSION);
        out.put_u8(self.key_id);
        out.put_slice(&self.query_hash);
        out.put_u64(self.expiry_seconds);
        out.put_i64(event_time.nanos());
        match self.resume.remaining {
            None => out.put_u8(0),
            Some(remaining) => {
                out.put_u8(1);
                out.put_u64(remaining);
            }
        }
        for text in [event_id.as_bytes(), series.as_str().as_bytes(), item_key.as_bytes()] {
            // Ids have at most 512 bytes.
            out.put_u16(u16::try_from(text.len()).unwrap_or(u16::MAX));
            out.put_slice(text);
        }
        match self.resume.event_bucket {
            None => out.put_u8(0),
            Some(event_bucket) => {
                out.put_u8(1);
                out.put_u32(event_bucket);
            }
        }
        // No time bucket has more than 64 event buckets.
        let scanned = self.resume.scanned_bytes.get(..usize::from(BUCKETS_PER_ID_MAX));
        let scanned = scanned.unwrap_or(&self.resume.scanned_bytes);
        out.put_u8(u8::try_from(scanned.len()).unwrap_or(u8::MAX));
        scanned.iter().for_each(|bytes| put_number(&mut out, (*bytes).min(SCANNED_BYTES_MAX)));
        out
    }

    /// Reads what [`Body::encode`] wrote, all of it and nothing more.
    pub(super) fn decode(mut bytes: &[u8]) -> Option<Self> {
        let from = &mut bytes;
        let [VERSION] = take(from)? else { return None };
        let [key_id] = take(from)?;
        let query_hash = take(from)?;
        let expiry_seconds = u64::from_be_bytes(take(from)?);
        let event_time = Timestamp::checked(i64::from_be_bytes(take(from)?))?;
        let remaining = match take(from)? {
            [0] => None,
            [1] => Some(u64::from_be_bytes(take(from)?)),
            _ => return None,
        };
        // Not what clients may send as ids: a position can lie before, between or behind them.
        let event_id = EventId::from_stored(text(from, EVENT_ID_BYTES_MAX)?);
        let series = SeriesId::new(str::from_utf8(&text(from, usize::MAX)?).ok()?).ok()?;
        let item_key = ItemKey::from_stored(text(from, ITEM_KEY_BYTES_MAX)?);
        let event_bucket = match take(from)? {
            [0] => None,
            [1] => Some(u32::from_be_bytes(take(from)?)),
            _ => return None,
        };
        let [buckets] = take(from)?;
        if u16::from(buckets) > BUCKETS_PER_ID_MAX {
            return None;
        }
        let scanned_bytes = (0..buckets).map(|_| number(from)).collect::<Option<_>>()?;
        if !from.is_empty() {
            return None;
        }
        let after = Position { event_time, event_id, series, item_key };
        let resume = Resume { after, remaining, scanned_bytes, event_bucket };
        Some(Self { key_id, query_hash, expiry_seconds, resume })
    }
}

/// Appends a number, seven bits a byte, the lowest first; all bytes but the last have their high bit set.
fn put_number(out: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = (number & 0x7F).to_le_bytes();
        number >>= 7;
        if number == 0 {
            return out.put_u8(low);
        }
        out.put_u8(low | 0x80);
    }
}

/// Reads what [`put_number`] wrote; none if it is longer than needed or than eight bytes.
fn number(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..56).step_by(7) {
        let [byte] = take(from)?;
        number |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            let shortest = byte != 0 || shift == 0;
            return shortest.then_some(number);
        }
    }
    None
}

fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(*head)
}

fn text(from: &mut &[u8], bytes_max: usize) -> Option<Bytes> {
    let length = usize::from(u16::from_be_bytes(take(from)?));
    let (head, rest) = from.split_at_checked(length)?;
    *from = rest;
    (length <= bytes_max).then(|| Bytes::copy_from_slice(head))
}
