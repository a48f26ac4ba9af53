//! The columns of a body: their order, and where each lies. Eleven lengths come first, then the columns without gaps.

use std::ops::Range;

use bytes::Bytes;

use crate::Error;
use crate::varint::Cursor;

/// A column, by its place in the body. Those of events come first, then those of rows; values are last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    ItemCounts,
    Times,
    IdLengths,
    IdBytes,
    ItemKeys,
    ItemKeyIndex,
    Metadata,
    MetadataIndex,
    ValueLengths,
    WriteTimes,
    Values,
}

/// How many columns there are.
pub(crate) const COLUMNS: usize = 11;
/// Bytes of the lengths before them.
pub(crate) const LENGTHS_BYTES: usize = COLUMNS * size_of::<u32>();

/// Columns that are being written.
#[derive(Default)]
pub(crate) struct Columns([Vec<u8>; COLUMNS]);

impl Columns {
    pub(crate) fn of(&mut self, column: Column) -> &mut Vec<u8> {
        let [a, b, c, d, e, f, g, h, i, j, k] = &mut self.0;
        match column {
            Column::ItemCounts => a,
            Column::Times => b,
            Column::IdLengths => c,
            Column::IdBytes => d,
            Column::ItemKeys => e,
            Column::ItemKeyIndex => f,
            Column::Metadata => g,
            Column::MetadataIndex => h,
            Column::ValueLengths => i,
            Column::WriteTimes => j,
            Column::Values => k,
        }
    }

    /// Forgets everything and keeps the room.
    pub(crate) fn clear(&mut self) {
        self.0.iter_mut().for_each(Vec::clear);
    }

    /// Replaces `body` by the columns, not compressed. The caller has limited the rows, so that every length fits in 32 bits.
    pub(crate) fn join(&self, body: &mut Vec<u8>) {
        let bytes: usize = self.0.iter().map(Vec::len).sum();
        body.clear();
        body.reserve(LENGTHS_BYTES + bytes);
        for column in &self.0 {
            body.extend_from_slice(&u32::try_from(column.len()).unwrap_or(u32::MAX).to_be_bytes());
        }
        self.0.iter().for_each(|column| body.extend_from_slice(column));
    }
}

/// A body that was read, and where its columns lie.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) bytes: Bytes,
    ranges: [Range<usize>; COLUMNS],
}

impl Body {
    /// Finds the columns; they fill the body exactly.
    pub(crate) fn new(bytes: Bytes) -> Result<Self, Error> {
        let mut lengths = Cursor(&bytes);
        let mut start = LENGTHS_BYTES;
        let mut ranges = std::array::from_fn(|_| 0..0);
        for range in &mut ranges {
            let length = usize::try_from(lengths.u32()?).unwrap_or(usize::MAX);
            let end = start.saturating_add(length);
            *range = start..end;
            start = end;
        }
        if start != bytes.len() {
            return Err(Error::Malformed("the columns do not fill the body"));
        }
        Ok(Self { bytes, ranges })
    }

    pub(crate) fn range(&self, column: Column) -> Range<usize> {
        self.ranges.get(column as usize).cloned().unwrap_or_default()
    }

    pub(crate) fn of(&self, column: Column) -> &[u8] {
        self.bytes.get(self.range(column)).unwrap_or_default()
    }
}
