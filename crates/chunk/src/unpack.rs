//! From what was stored to a chunk. Limits are checked before anything is allocated, the checksum before anything is believed.

use std::sync::OnceLock;

use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

use crate::codec::decompress;
use crate::column::{Body, LENGTHS_BYTES};
use crate::parse::write_times;
use crate::{ChunkRows, Codec, Dictionary, Error, Events, Header, Ids, Values};

/// What a chunk may have at most. The defaults hold the largest event that a client can write, 64 items of 1 MiB with metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a body that is not compressed. A chunk in memory takes these, at most 2.25 times its ids and 56 bytes for each row.
    pub raw_bytes: u32,
    /// Rows.
    pub rows: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { raw_bytes: 80 << 20, rows: 128 << 10 }
    }
}

impl Limits {
    pub(crate) fn check(self, raw_bytes: u64, rows: u64) -> Result<(), Error> {
        let parts = [("bytes", raw_bytes, self.raw_bytes), ("rows", rows, self.rows)];
        match parts.into_iter().find(|(_, found, max)| *found > u64::from(*max)) {
            Some((what, found, max)) => Err(Error::TooLarge { what, found, max: u64::from(max) }),
            None => Ok(()),
        }
    }
}

/// Reads chunks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unpacker {
    limits: Limits,
}

impl Unpacker {
    /// One that refuses what is larger.
    pub const fn new(limits: Limits) -> Self {
        Self { limits }
    }

    /// The chunk of a header and the body that was stored with it. Columns are looked at when they are asked for.
    pub fn unpack(&self, header: Header, stored: &Bytes) -> Result<Chunk, Error> {
        self.limits.check(u64::from(header.raw_bytes), u64::from(header.rows))?;
        if stored.len() != header.stored_bytes as usize {
            return Err(Error::Malformed("the body has another length than its header says"));
        }
        if (header.raw_bytes as usize) < LENGTHS_BYTES {
            return Err(Error::Malformed("the body is too short for its columns"));
        }
        if xxh3_64(stored) != header.body_checksum {
            return Err(Error::Checksum("body"));
        }
        let raw = match header.codec {
            Codec::None => stored.clone(),
            codec => decompress(codec, stored, header.raw_bytes as usize)?.into(),
        };
        let body = Body::new(raw)?;
        Ok(Chunk { header, body, read: Read::default() })
    }
}

/// What was read of a chunk so far.
#[derive(Clone, Debug, Default)]
struct Read {
    events: OnceLock<Events>,
    ids: OnceLock<Ids>,
    item_keys: OnceLock<Dictionary>,
    metadata: OnceLock<Dictionary>,
    values: OnceLock<Values>,
    write_times: OnceLock<Vec<i64>>,
    checked: OnceLock<()>,
}

/// A chunk in memory, newest row first. May be shared and asked from several threads.
#[derive(Clone, Debug)]
pub struct Chunk {
    header: Header,
    body: Body,
    read: Read,
}

/// A column is read once; two threads that meet here both read it and one result stays.
fn once<T>(place: &OnceLock<T>, read: impl FnOnce() -> Result<T, Error>) -> Result<&T, Error> {
    if let Some(found) = place.get() {
        return Ok(found);
    }
    let found = read()?;
    Ok(place.get_or_init(|| found))
}

impl Chunk {
    /// What is known without the body.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Bytes that it takes in memory with all columns read, about: what a cache counts.
    pub fn memory_bytes(&self) -> usize {
        const ROW: usize = 56;
        size_of::<Self>() + self.body.bytes.len() * 5 / 4 + self.header.rows as usize * ROW
    }

    /// Times of events, and which rows they have.
    pub fn events(&self) -> Result<&Events, Error> {
        once(&self.read.events, || Events::parse(&self.header, &self.body))
    }

    /// Ids of events.
    pub fn ids(&self) -> Result<&Ids, Error> {
        once(&self.read.ids, || Ids::parse(&self.header, &self.body))
    }

    /// Item keys of rows.
    pub fn item_keys(&self) -> Result<&Dictionary, Error> {
        once(&self.read.item_keys, || Dictionary::item_keys(&self.header, &self.body))
    }

    /// Metadata of rows.
    pub fn metadata(&self) -> Result<&Dictionary, Error> {
        once(&self.read.metadata, || Dictionary::metadata(&self.header, &self.body))
    }

    /// Values of rows.
    pub fn values(&self) -> Result<&Values, Error> {
        once(&self.read.values, || Values::parse(&self.header, &self.body))
    }

    /// Write times of rows, in microseconds since 1970.
    pub fn write_times(&self) -> Result<&[i64], Error> {
        once(&self.read.write_times, || write_times(&self.header, &self.body)).map(Vec::as_slice)
    }

    /// All rows. The first time, every column is read and it is checked that rows are in order and are those of the header.
    pub fn rows(&self) -> Result<ChunkRows<'_>, Error> {
        let rows = ChunkRows::new(self)?;
        once(&self.read.checked, || rows.check())?;
        Ok(rows)
    }

    /// The same where all rows were asked for before, and else nothing: who looks at one row after the other has only this to pay.
    #[inline]
    pub fn checked_rows(&self) -> Option<ChunkRows<'_>> {
        let Read { events, ids, item_keys, metadata, values, write_times, checked } = &self.read;
        checked.get()?;
        Some(ChunkRows {
            header: &self.header,
            events: events.get()?,
            ids: ids.get()?,
            item_keys: item_keys.get()?,
            metadata: metadata.get()?,
            values: values.get()?,
            write_times: write_times.get()?,
        })
    }
}
