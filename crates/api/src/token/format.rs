//! The fields of a token as bytes, without the seal. The picture is in the parent's doc.

use bytes::BufMut;
use engine::Resume;
use model::{EventId, ItemKey, Position, SeriesId, Timestamp};

use super::query::HASH_BYTES;

/// The version that this build writes, and the only one that it reads.
pub(super) const VERSION: u8 = 1;

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
        let event_id = EventId::new(text(from)?).ok()?;
        let series = SeriesId::new(text(from)?).ok()?;
        let item_key = ItemKey::new(text(from)?).ok()?;
        if !from.is_empty() {
            return None;
        }
        let after = Position { event_time, event_id, series, item_key };
        Some(Self { key_id, query_hash, expiry_seconds, resume: Resume { after, remaining } })
    }
}

fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(*head)
}

fn text<'a>(from: &mut &'a [u8]) -> Option<&'a str> {
    let length = usize::from(u16::from_be_bytes(take(from)?));
    let (head, rest) = from.split_at_checked(length)?;
    *from = rest;
    str::from_utf8(head).ok()
}
