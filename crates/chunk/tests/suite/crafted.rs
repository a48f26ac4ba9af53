//! Chunks that somebody put together: columns and a header as they like, with lengths and checksums that are right.

use chunk::{Codec, Header};
use model::Row;
use xxhash_rust::xxh3::xxh3_64;

use crate::made::pack;

pub(crate) const CODECS: [Codec; 3] = [Codec::None, Codec::Lz4, Codec::Zstd];

pub(crate) const ITEM_COUNTS: usize = 0;
pub(crate) const TIMES: usize = 1;
pub(crate) const ID_LENGTHS: usize = 2;
pub(crate) const IDS: usize = 3;
pub(crate) const ITEM_KEYS: usize = 4;
pub(crate) const ITEM_KEY_OF: usize = 5;
pub(crate) const METADATA: usize = 6;
pub(crate) const METADATA_OF: usize = 7;
pub(crate) const VALUE_LENGTHS: usize = 8;
pub(crate) const WRITE_TIMES: usize = 9;
pub(crate) const VALUES: usize = 10;
pub(crate) const COLUMNS: usize = 11;

/// A chunk in parts.
#[derive(Clone, Debug)]
pub(crate) struct Crafted {
    /// Its codec, lengths and checksum are put right when it is stored.
    pub(crate) header: Header,
    pub(crate) columns: Vec<Vec<u8>>,
}

impl Crafted {
    /// The one chunk of these rows.
    pub(crate) fn of(rows: &[Row]) -> Self {
        let packed = pack(rows, Codec::None, u64::MAX).remove(0);
        let (mut lengths, mut rest) = packed.body.split_at(4 * COLUMNS);
        let mut columns = Vec::new();
        while let Some((length, others)) = lengths.split_first_chunk() {
            let (column, behind) = rest.split_at(u32::from_be_bytes(*length) as usize);
            columns.push(column.to_vec());
            (lengths, rest) = (others, behind);
        }
        Self { header: packed.header, columns }
    }

    /// The same with another column.
    pub(crate) fn put(mut self, column: usize, bytes: impl Into<Vec<u8>>) -> Self {
        self.columns[column] = bytes.into();
        self
    }

    /// The same with something behind a column.
    pub(crate) fn behind(mut self, column: usize, bytes: &[u8]) -> Self {
        self.columns[column].extend_from_slice(bytes);
        self
    }

    /// The same with another header.
    pub(crate) fn told(self, change: impl FnOnce(Header) -> Header) -> Self {
        Self { header: change(self.header), columns: self.columns }
    }

    /// The body before it is compressed.
    pub(crate) fn raw(&self) -> Vec<u8> {
        let lengths =
            self.columns.iter().flat_map(|column| u32::try_from(column.len()).unwrap().to_be_bytes());
        lengths.chain(self.columns.iter().flatten().copied()).collect()
    }

    /// As it is stored.
    pub(crate) fn stored(&self, codec: Codec) -> Row {
        stored_as(&self.header, codec, &self.raw())
    }
}

/// A body under this header, but for what the header says of the body.
pub(crate) fn stored_as(header: &Header, codec: Codec, raw: &[u8]) -> Row {
    let body = match codec {
        Codec::None => raw.to_vec(),
        Codec::Lz4 => lz4_flex::block::compress(raw),
        Codec::Zstd => zstd::bulk::compress(raw, 1).unwrap(),
    };
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap();
    let header = Header {
        codec,
        raw_bytes: length(raw),
        stored_bytes: length(&body),
        body_checksum: xxh3_64(&body),
        ..header.clone()
    };
    Row { key: header.stored_key(), write_time: 0, value: body.into(), metadata: header.encode() }
}

/// A number as the format writes it.
pub(crate) fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
    bytes
}

/// Some of them.
pub(crate) fn varints(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| varint(*number)).collect()
}
