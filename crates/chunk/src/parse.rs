//! Columns that were read, each by itself: a count or a filter asks for what it needs. Nothing is allocated for more entries than the
//! column has bytes.

use std::ops::Range;

use bytes::Bytes;

use crate::column::{Body, Column};
use crate::varint::{Cursor, unzigzag};
use crate::{Error, Header, id};

const TOTAL: Error = Error::Malformed("a column does not add up");
const TEXT: Error = Error::Malformed("an id or key is empty, no text, or not written in the shortest way");

/// Where the entries of a list begin and end.
#[derive(Clone, Debug)]
enum Edges {
    /// All have this length.
    Every(usize),
    /// Entry `i` lies between `[i]` and `[i + 1]`.
    At(Vec<u32>),
}

impl Edges {
    #[inline]
    fn of(&self, entry: usize) -> Option<Range<usize>> {
        match self {
            Self::Every(length) => {
                let start = entry.checked_mul(*length)?;
                Some(start..start.checked_add(*length)?)
            }
            Self::At(edges) => match edges.get(entry..)? {
                [start, end, ..] => Some(*start as usize..*end as usize),
                _ => None,
            },
        }
    }
}

/// Whether all bytes are this one; without a branch for each.
fn all_are(bytes: &[u8], byte: u8) -> bool {
    bytes.iter().fold(0, |other, found| other | (found ^ byte)) == 0
}

/// Every entry has at least a byte, so a column that is too short is refused before there is room for them.
fn room<T>(column: &[u8], entries: u32) -> Result<Vec<T>, Error> {
    let entries = entries as usize;
    if column.len() < entries {
        return Err(Error::Malformed("a column has fewer bytes than entries"));
    }
    Ok(Vec::with_capacity(entries + 1))
}

/// When events happened, and which rows they have. Newest first.
#[derive(Clone, Debug)]
pub struct Events {
    times: Vec<i64>,
    rows: Edges,
}

impl Events {
    pub(crate) fn parse(header: &Header, body: &Body) -> Result<Self, Error> {
        let rows = Self::parse_counts(header, body.of(Column::ItemCounts))?;
        let mut deltas = Cursor(body.of(Column::Times));
        let mut times = room(deltas.0, header.events)?;
        let mut time = header.newest.event_time.nanos();
        for _ in 0..header.events {
            let delta = i64::try_from(deltas.varint()?).map_err(|_| TOTAL)?;
            time = time.checked_sub(delta).ok_or(TOTAL)?;
            times.push(time);
        }
        deltas.end()?;
        let [newest, oldest] = [&header.newest, &header.oldest].map(|key| key.event_time.nanos());
        if (times.first(), times.last()) != (Some(&newest), Some(&oldest)) {
            return Err(TOTAL);
        }
        Ok(Self { times, rows })
    }

    fn parse_counts(header: &Header, column: &[u8]) -> Result<Edges, Error> {
        let mut counts = Cursor(column);
        let mut edges = room(column, header.events)?;
        if header.events == header.rows && column.len() == header.events as usize && all_are(column, 1) {
            return Ok(Edges::Every(1));
        }
        let mut end = 0_u32;
        edges.push(end);
        for _ in 0..header.events {
            let count = counts.length()?;
            end = end.checked_add(count).filter(|_| count > 0).ok_or(TOTAL)?;
            edges.push(end);
        }
        counts.end()?;
        if end == header.rows { Ok(Edges::At(edges)) } else { Err(TOTAL) }
    }

    /// Nanoseconds since 1970, one for each event; they do not rise.
    pub fn times(&self) -> &[i64] {
        &self.times
    }

    /// The rows of an event, as indices.
    pub fn rows(&self, event: usize) -> Option<Range<usize>> {
        self.rows.of(event).filter(|_| event < self.times.len())
    }

    /// The event of a row.
    pub fn event_of(&self, row: usize) -> usize {
        match &self.rows {
            Edges::Every(_) => row,
            Edges::At(edges) => edges.partition_point(|edge| *edge as usize <= row).saturating_sub(1),
        }
    }

    /// Whether every event has one row, so that the two have the same indices.
    pub(crate) const fn are_rows(&self) -> bool {
        matches!(self.rows, Edges::Every(_))
    }
}

/// The ids of events, as their clients wrote them.
#[derive(Clone, Debug)]
pub struct Ids {
    bytes: Bytes,
    edges: Edges,
}

impl Ids {
    pub(crate) fn parse(header: &Header, body: &Body) -> Result<Self, Error> {
        let (lengths, stored) = (body.of(Column::IdLengths), body.of(Column::IdBytes));
        if lengths.len() == header.events as usize && all_are(lengths, 0) {
            return Self::parse_uuids(header, stored);
        }
        let (mut lengths, mut stored) = (Cursor(lengths), Cursor(stored));
        let mut edges = room(lengths.0, header.events)?;
        let mut bytes =
            Vec::with_capacity(stored.0.len() / id::PACKED_BYTES * id::TEXT_BYTES + id::TEXT_BYTES);
        edges.push(0);
        for _ in 0..header.events {
            match lengths.length()? {
                0 => {
                    let mut text = [0; id::TEXT_BYTES];
                    id::unpack(&stored.array()?, &mut text);
                    bytes.extend_from_slice(&text);
                }
                length => {
                    let text = stored.take(length as usize)?;
                    if std::str::from_utf8(text).is_err() || id::pack(text).is_some() {
                        return Err(TEXT);
                    }
                    bytes.extend_from_slice(text);
                }
            }
            edges.push(u32::try_from(bytes.len()).map_err(|_| TOTAL)?);
        }
        lengths.end()?;
        stored.end()?;
        Ok(Self { bytes: bytes.into(), edges: Edges::At(edges) })
    }

    fn parse_uuids(header: &Header, stored: &[u8]) -> Result<Self, Error> {
        let (packed, rest) = stored.as_chunks();
        if packed.len() != header.events as usize || !rest.is_empty() {
            return Err(TOTAL);
        }
        let mut bytes = vec![0; packed.len() * id::TEXT_BYTES];
        for (text, packed) in bytes.as_chunks_mut().0.iter_mut().zip(packed) {
            id::unpack(packed, text);
        }
        Ok(Self { bytes: bytes.into(), edges: Edges::Every(id::TEXT_BYTES) })
    }

    /// The id of an event.
    pub fn get(&self, event: usize) -> &[u8] {
        self.edges.of(event).and_then(|range| self.bytes.get(range)).unwrap_or_default()
    }

    /// The same, sharing the buffer.
    pub fn shared(&self, event: usize) -> Bytes {
        self.bytes.slice_ref(self.get(event))
    }

    /// Bytes of all of them.
    pub(crate) const fn total_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }
}

/// Item keys or metadata: each distinct one once, and which of them a row has.
#[derive(Clone, Debug)]
pub struct Dictionary {
    bytes: Bytes,
    entries: Vec<Range<u32>>,
    index: Vec<u32>,
}

impl Dictionary {
    pub(crate) fn item_keys(header: &Header, body: &Body) -> Result<Self, Error> {
        let keys = Self::parse(header, body, Column::ItemKeys, Column::ItemKeyIndex)?;
        let is_text = |entry: &[u8]| !entry.is_empty() && std::str::from_utf8(entry).is_ok();
        if keys.entries().all(is_text) { Ok(keys) } else { Err(TEXT) }
    }

    pub(crate) fn metadata(header: &Header, body: &Body) -> Result<Self, Error> {
        Self::parse(header, body, Column::Metadata, Column::MetadataIndex)
    }

    fn parse(header: &Header, body: &Body, entries: Column, index: Column) -> Result<Self, Error> {
        let bytes = body.bytes.slice(body.range(entries));
        let (mut list, mut cursor) = (Vec::new(), Cursor(&bytes));
        while !cursor.0.is_empty() {
            let length = cursor.length()?;
            let start = u32::try_from(bytes.len() - cursor.0.len()).map_err(|_| TOTAL)?;
            cursor.take(length as usize)?;
            list.push(start..start + length);
        }
        let index = Self::parse_index(header, body.of(index), list.len())?;
        Ok(Self { bytes, entries: list, index })
    }

    fn parse_index(header: &Header, column: &[u8], entries: usize) -> Result<Vec<u32>, Error> {
        let mut cursor = Cursor(column);
        let mut index = room(column, header.rows)?;
        if entries == 1 && column.len() == header.rows as usize && all_are(column, 0) {
            index.resize(column.len(), 0);
            return Ok(index);
        }
        let mut next = 0_u32;
        for _ in 0..header.rows {
            let entry = cursor.length()?;
            if entry > next {
                return Err(Error::Malformed("a dictionary is not in the order of first use"));
            }
            next += u32::from(entry == next);
            index.push(entry);
        }
        cursor.end()?;
        if next as usize == entries { Ok(index) } else { Err(TOTAL) }
    }

    /// Bytes of what all rows have.
    pub(crate) fn total_bytes(&self) -> u64 {
        let bytes = |entry: &Range<u32>| u64::from(entry.end - entry.start);
        if let [only] = self.entries.as_slice() {
            return bytes(only) * self.index.len() as u64;
        }
        self.index.iter().filter_map(|entry| self.entries.get(*entry as usize)).map(bytes).sum()
    }

    /// All entries: what a filter looks at once for all rows.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.entries
            .iter()
            .map(|range| self.bytes.get(range.start as usize..range.end as usize).unwrap_or_default())
    }

    /// Which entry each row has.
    pub fn index(&self) -> &[u32] {
        &self.index
    }

    /// What a row has.
    pub fn get(&self, row: usize) -> &[u8] {
        let range = self.index.get(row).and_then(|entry| self.entries.get(*entry as usize));
        range.and_then(|range| self.bytes.get(range.start as usize..range.end as usize)).unwrap_or_default()
    }

    /// The same, sharing the buffer.
    pub fn shared(&self, row: usize) -> Bytes {
        self.bytes.slice_ref(self.get(row))
    }
}

/// The values of rows.
#[derive(Clone, Debug)]
pub struct Values {
    bytes: Bytes,
    edges: Edges,
}

impl Values {
    pub(crate) fn parse(header: &Header, body: &Body) -> Result<Self, Error> {
        let mut lengths = Cursor(body.of(Column::ValueLengths));
        let bytes = body.bytes.slice(body.range(Column::Values));
        let mut edges = room(lengths.0, header.rows)?;
        let mut end = 0_u32;
        edges.push(end);
        for _ in 0..header.rows {
            end = end.checked_add(lengths.length()?).ok_or(TOTAL)?;
            edges.push(end);
        }
        lengths.end()?;
        if end as usize != bytes.len() {
            return Err(TOTAL);
        }
        Ok(Self { bytes, edges: Edges::At(edges) })
    }

    /// The value of a row.
    pub fn get(&self, row: usize) -> &[u8] {
        self.edges.of(row).and_then(|range| self.bytes.get(range)).unwrap_or_default()
    }

    /// The same, sharing the buffer.
    pub fn shared(&self, row: usize) -> Bytes {
        self.bytes.slice_ref(self.get(row))
    }

    /// Bytes of all of them.
    pub(crate) const fn total_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }
}

/// Write times of rows, in microseconds.
pub(crate) fn write_times(header: &Header, body: &Body) -> Result<Vec<i64>, Error> {
    let mut deltas = Cursor(body.of(Column::WriteTimes));
    let mut times = room(deltas.0, header.rows)?;
    let mut time = 0_i64;
    for _ in 0..header.rows {
        time = time.wrapping_add(unzigzag(deltas.varint()?));
        times.push(time);
    }
    deltas.end()?;
    Ok(times)
}
