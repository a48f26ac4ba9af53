//! The header: what is known of a chunk without its body. It is the `value_metadata` of the stored row, so that counts and pruning
//! never touch the blob. Two checksums at its end: of the body, and of the header itself.

use bytes::Bytes;
use model::{EventId, Interval, ItemKey, RowKey, Timestamp};
use xxhash_rust::xxh3::xxh3_64;

use crate::varint::Cursor;
use crate::{Codec, Error};

/// The item key of a stored row that is a chunk. Every item that a client can write has a key of at least one byte; and it sorts
/// before all of them, so that the key of a chunk is not behind any of its rows.
pub const RESERVED_ITEM_KEY: &[u8] = b"";

/// Not how the metadata of an item begin.
const MARK: u8 = 0xc7;
const VERSION: u8 = 1;
const CHECKSUM_BYTES: usize = 8;

/// What is known of a chunk without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// How the body is compressed.
    pub codec: Codec,
    /// Rows, at least one.
    pub rows: u32,
    /// Events, at least one and at most as many as rows.
    pub events: u32,
    /// Logical bytes of the rows, as digests count them.
    pub logical_bytes: u64,
    /// Length of the body before it was compressed.
    pub raw_bytes: u32,
    /// Length of the body as it is stored.
    pub stored_bytes: u32,
    /// The first row, which is the newest.
    pub newest: RowKey,
    /// The last row, which is the oldest.
    pub oldest: RowKey,
    /// XXH3-64 of the body as it is stored.
    pub body_checksum: u64,
}

impl Header {
    /// The key of the stored row: the oldest event, with the item key that no client can use.
    pub fn stored_key(&self) -> RowKey {
        RowKey {
            item_key: ItemKey::from_stored(Bytes::from_static(RESERVED_ITEM_KEY)),
            ..self.oldest.clone()
        }
    }

    /// Whether a stored row with this key is a chunk and not an item.
    pub fn is_chunk(key: &RowKey) -> bool {
        key.item_key.as_bytes() == RESERVED_ITEM_KEY
    }

    /// Whether all rows lie in `interval`: then counts need no more than this header.
    pub fn is_inside(&self, interval: Interval) -> bool {
        interval.contains(self.oldest.event_time) && interval.contains(self.newest.event_time)
    }

    /// Whether some row may lie in `interval`: if not, the body need not be fetched.
    pub fn may_meet(&self, interval: Interval) -> bool {
        self.oldest.event_time.nanos() < interval.end() && interval.start() <= self.newest.event_time.nanos()
    }

    /// As it is stored.
    pub fn encode(&self) -> Bytes {
        let mut to = vec![MARK, VERSION, self.codec.to_byte(), 0];
        for number in [self.rows, self.events] {
            to.extend_from_slice(&number.to_be_bytes());
        }
        to.extend_from_slice(&self.logical_bytes.to_be_bytes());
        for number in [self.raw_bytes, self.stored_bytes] {
            to.extend_from_slice(&number.to_be_bytes());
        }
        for key in [&self.newest, &self.oldest] {
            to.extend_from_slice(&key.event_time.nanos().to_be_bytes());
            for text in [key.event_id.as_bytes(), key.item_key.as_bytes()] {
                to.extend_from_slice(&u16::try_from(text.len()).unwrap_or(u16::MAX).to_be_bytes());
                to.extend_from_slice(text);
            }
        }
        to.extend_from_slice(&self.body_checksum.to_be_bytes());
        to.extend_from_slice(&xxh3_64(&to).to_be_bytes());
        to.into()
    }

    /// From what was stored. Texts share its buffer.
    pub fn decode(stored: &Bytes) -> Result<Self, Error> {
        let mut cursor = Cursor(stored);
        let [mark, version] = cursor.array()?;
        if mark != MARK {
            return Err(Error::Unknown { what: "mark", found: mark });
        }
        if version != VERSION {
            return Err(Error::Unknown { what: "version", found: version });
        }
        let (before, checksum) =
            stored.split_last_chunk::<CHECKSUM_BYTES>().ok_or(Error::Malformed("the header is too short"))?;
        if xxh3_64(before).to_be_bytes() != *checksum {
            return Err(Error::Checksum("header"));
        }
        let [codec, flags] = cursor.array()?;
        let codec = Codec::from_byte(codec)?;
        if flags != 0 {
            return Err(Error::Unknown { what: "flags", found: flags });
        }
        let (rows, events, logical_bytes) = (cursor.u32()?, cursor.u32()?, cursor.u64()?);
        let (raw_bytes, stored_bytes) = (cursor.u32()?, cursor.u32()?);
        let (newest, oldest) = (key(&mut cursor, stored)?, key(&mut cursor, stored)?);
        let body_checksum = cursor.u64()?;
        cursor.take(CHECKSUM_BYTES)?;
        cursor.end()?;
        let header = Self {
            codec,
            rows,
            events,
            logical_bytes,
            raw_bytes,
            stored_bytes,
            newest,
            oldest,
            body_checksum,
        };
        header.consistent()
    }

    fn consistent(self) -> Result<Self, Error> {
        let same_event = (self.newest.event_time, &self.newest.event_id)
            == (self.oldest.event_time, &self.oldest.event_id);
        let problem = if self.events == 0 || self.events > self.rows {
            "it has no events, or more than rows"
        } else if self.newest < self.oldest || (self.newest == self.oldest) != (self.rows == 1) {
            "its first and last row are not in order"
        } else if same_event != (self.events == 1) {
            "its number of events does not fit its first and last"
        } else if self.codec == Codec::None && self.raw_bytes != self.stored_bytes {
            "it is not compressed and yet has two lengths"
        } else {
            return Ok(self);
        };
        Err(Error::Malformed(problem))
    }
}

fn key(cursor: &mut Cursor<'_>, stored: &Bytes) -> Result<RowKey, Error> {
    let nanos = cursor.u64()?.cast_signed();
    let event_time = Timestamp::checked(nanos).ok_or(Error::Malformed("a time is out of range"))?;
    let mut text = || -> Result<Bytes, Error> {
        let length = cursor.u16()?;
        let text = cursor.take(usize::from(length))?;
        if text.is_empty() {
            return Err(Error::Malformed("an id or key is empty"));
        }
        Ok(stored.slice_ref(text))
    };
    let (event_id, item_key) = (EventId::from_stored(text()?), ItemKey::from_stored(text()?));
    Ok(RowKey { event_time, event_id, item_key })
}
