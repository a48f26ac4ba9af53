//! The cells of an answer, where they lie in it: each is its length, in 4 bytes, and its bytes.
//!
//! The driver walks over a row twice, checks its texts and hands over slices that would be copied at once. Rows are read by
//! the thousand, so here they are walked over once and stay where they came.

use std::ops::Range;

use bytes::Bytes;
use scylla::deserialize::row::ColumnIterator;
use scylla::response::query_result::QueryRowsResult;
use store::{Error, ErrorKind, Result};

use crate::failure::unreadable;

/// Bytes of a length.
pub(crate) const LENGTH_BYTES: usize = 4;

/// Cells of the rows of one answer, one after the other.
pub(crate) struct Cells {
    frame: Bytes,
    at: usize,
}

impl Cells {
    /// Before the first cell; none where the answer has no row.
    pub(crate) fn of(answer: &QueryRowsResult) -> Result<Option<Self>> {
        let mut rows =
            answer.rows::<ColumnIterator<'_, '_>>().map_err(|error| unreadable("table of rows", error))?;
        let Some(row) = rows.next() else { return Ok(None) };
        let mut row = row.map_err(|error| unreadable("row", error))?;
        let first = row.next().transpose().map_err(|error| unreadable("row", error))?;
        let slice = first.and_then(|column| column.slice).ok_or_else(cut)?;
        let frame = slice.as_original_frame_bytes();
        let behind_length = slice.as_slice().as_ptr().addr().checked_sub(frame.as_ptr().addr());
        let at = behind_length.and_then(|at| at.checked_sub(LENGTH_BYTES)).ok_or_else(cut)?;
        Ok(Some(Self { frame: frame.clone(), at }))
    }

    /// What they lie in.
    pub(crate) const fn frame(&self) -> &Bytes {
        &self.frame
    }

    /// Where the next cell lies, behind its length; empty where it is null, which no column of a row is.
    #[inline]
    pub(crate) fn cell(&mut self) -> Result<Range<usize>> {
        let rest = self.frame.get(self.at..).ok_or_else(cut)?;
        let (length, rest) = rest.split_first_chunk::<LENGTH_BYTES>().ok_or_else(cut)?;
        let length = usize::try_from(i32::from_be_bytes(*length)).unwrap_or_default();
        if length > rest.len() {
            return Err(cut());
        }
        let start = self.at + LENGTH_BYTES;
        self.at = start + length;
        Ok(start..self.at)
    }

    /// The next cell, a number.
    #[inline]
    pub(crate) fn number(&mut self) -> Result<i64> {
        let cell = self.cell()?;
        let bytes = self.frame.get(cell).and_then(|bytes| bytes.try_into().ok());
        bytes.map(i64::from_be_bytes).ok_or_else(cut)
    }
}

#[cold]
fn cut() -> Error {
    Error::new(ErrorKind::Corrupt, "an answer of Cassandra ends inside of a row, or lacks a column of it")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(bytes: &'static [u8]) -> Cells {
        Cells { frame: Bytes::from_static(bytes), at: 2 }
    }

    #[test]
    fn cells_come_one_after_the_other() {
        let mut cells = cells(b"xx\0\0\0\x08\0\0\0\0\0\0\x01\x02\0\0\0\x02ab\xFF\xFF\xFF\xFF\0\0\0\0");
        assert_eq!(cells.number().unwrap(), 258);
        let cell = cells.cell().unwrap();
        assert_eq!(&cells.frame()[cell], b"ab");
        assert!(cells.cell().unwrap().is_empty(), "null");
        assert!(cells.cell().unwrap().is_empty());
        assert_eq!(cells.cell().unwrap_err().kind(), ErrorKind::Corrupt, "behind the end");
    }

    #[test]
    fn a_cell_that_is_cut_is_refused() {
        assert!(cells(b"xx\0\0\0\x03ab").cell().is_err());
        assert!(cells(b"xx\0\0\0").cell().is_err());
        assert!(cells(b"x").cell().is_err());
        assert!(cells(b"xx\0\0\0\x04abcd").number().is_err(), "no number has 4 bytes");
    }
}
