//! Columns that were read, each by itself: a count or a filter asks for what it needs. Nothing is allocated for more entries than the
//! column has bytes.

use std::ops::Range;

use bytes::Bytes;

use crate::column::{Body, Column};
use crate::varint::{Cursor, unzigzag};
use crate::{Error, Header, id};

const TOTAL: Error = Error::Malformed("a column does not add up");
const TEXT: Error = Error::Malformed("an id or key is empty, no text, or not written in the shortest way");

/// A list that ends where another begins: `ends[i - 1]..ends[i]`.
fn between(ends: &[u32], at: usize) -> Option<Range<usize>> {
    let start = match at.checked_sub(1) {
        Some(before) => *ends.get(before)?,
        None => 0,
    };
    Some(start as usize..*ends.get(at)? as usize)
}

/// Every entry has at least a byte, so a column that is too short is refused before there is room for them.
fn room<T>(column: &[u8], entries: u32) -> Result<Vec<T>, Error> {
    let entries = entries as usize;
    if column.len() < entries {
        return Err(Error::Malformed("a column has fewer bytes than entries"));
    }
    Ok(Vec::with_capacity(entries))
}

/// When events happened, and which rows they have. Newest first.
#[derive(Clone, Debug)]
pub struct Events {
    times: Vec<i64>,
    ends: Vec<u32>,
}

impl Events {
    pub(crate) fn parse(header: &Header, body: &Body) -> Result<Self, Error> {
        let (mut counts, mut deltas) = (Cursor(body.of(Column::ItemCounts)), Cursor(body.of(Column::Times)));
        let mut ends = room(counts.0, header.events)?;
        let mut times = room(deltas.0, header.events)?;
        let mut time = header.newest.event_time.nanos();
        let mut end = 0_u32;
        for event in 0..header.events {
            let delta = i64::try_from(deltas.varint()?).map_err(|_| TOTAL)?;
            let count = counts.length()?;
            if count == 0 || (event == 0 && delta != 0) {
                return Err(TOTAL);
            }
            time = time.checked_sub(delta).ok_or(TOTAL)?;
            end = end.checked_add(count).ok_or(TOTAL)?;
            times.push(time);
            ends.push(end);
        }
        counts.end()?;
        deltas.end()?;
        if end != header.rows || time != header.oldest.event_time.nanos() {
            return Err(TOTAL);
        }
        Ok(Self { times, ends })
    }

    /// Nanoseconds since 1970, one for each event; they do not rise.
    pub fn times(&self) -> &[i64] {
        &self.times
    }

    /// The rows of an event, as indices.
    pub fn rows(&self, event: usize) -> Option<Range<usize>> {
        between(&self.ends, event)
    }

    /// The event of a row.
    pub fn event_of(&self, row: usize) -> usize {
        if self.ends.last().is_some_and(|rows| *rows as usize == self.ends.len()) {
            return row;
        }
        self.ends.partition_point(|end| *end as usize <= row)
    }
}

/// The ids of events, as their clients wrote them.
#[derive(Clone, Debug)]
pub struct Ids {
    bytes: Bytes,
    ends: Vec<u32>,
}

impl Ids {
    pub(crate) fn parse(header: &Header, body: &Body) -> Result<Self, Error> {
        let (mut lengths, mut stored) =
            (Cursor(body.of(Column::IdLengths)), Cursor(body.of(Column::IdBytes)));
        let mut ends = room(lengths.0, header.events)?;
        let mut bytes =
            Vec::with_capacity(stored.0.len() / id::PACKED_BYTES * id::TEXT_BYTES + id::TEXT_BYTES);
        for _ in 0..header.events {
            match lengths.length()? {
                0 => id::unpack(stored.array()?, &mut bytes),
                length => {
                    let text = stored.take(length as usize)?;
                    if std::str::from_utf8(text).is_err() || id::pack(text).is_some() {
                        return Err(TEXT);
                    }
                    bytes.extend_from_slice(text);
                }
            }
            ends.push(u32::try_from(bytes.len()).map_err(|_| TOTAL)?);
        }
        lengths.end()?;
        stored.end()?;
        Ok(Self { bytes: bytes.into(), ends })
    }

    /// The id of an event.
    pub fn get(&self, event: usize) -> &[u8] {
        between(&self.ends, event).and_then(|range| self.bytes.get(range)).unwrap_or_default()
    }

    /// The same, sharing the buffer.
    pub fn shared(&self, event: usize) -> Bytes {
        self.bytes.slice_ref(self.get(event))
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
        let mut cursor = Cursor(body.of(index));
        let mut found = room(cursor.0, header.rows)?;
        let mut next = 0_u32;
        for _ in 0..header.rows {
            let entry = cursor.length()?;
            if entry > next {
                return Err(Error::Malformed("a dictionary is not in the order of first use"));
            }
            next += u32::from(entry == next);
            found.push(entry);
        }
        cursor.end()?;
        if next as usize != list.len() {
            return Err(TOTAL);
        }
        Ok(Self { bytes, entries: list, index: found })
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
    ends: Vec<u32>,
}

impl Values {
    pub(crate) fn parse(header: &Header, body: &Body) -> Result<Self, Error> {
        let mut lengths = Cursor(body.of(Column::ValueLengths));
        let bytes = body.bytes.slice(body.range(Column::Values));
        let mut ends = room(lengths.0, header.rows)?;
        let mut end = 0_u32;
        for _ in 0..header.rows {
            end = end.checked_add(lengths.length()?).ok_or(TOTAL)?;
            ends.push(end);
        }
        lengths.end()?;
        if end as usize != bytes.len() {
            return Err(TOTAL);
        }
        Ok(Self { bytes, ends })
    }

    /// The value of a row.
    pub fn get(&self, row: usize) -> &[u8] {
        between(&self.ends, row).and_then(|range| self.bytes.get(range)).unwrap_or_default()
    }

    /// The same, sharing the buffer.
    pub fn shared(&self, row: usize) -> Bytes {
        self.bytes.slice_ref(self.get(row))
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
