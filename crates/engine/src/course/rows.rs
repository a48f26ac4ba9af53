//! Rows of a page, in the order of the read: as the store gave them, or in place in a chunk.

use std::ops::Range;
use std::sync::Arc;

use chunk::{Chunk, Codec};
use model::{Order, Row, RowView, Rows, Timestamp};

/// Rows that are there.
#[derive(Clone, Debug)]
pub(crate) enum PageRows {
    /// As the store gave them; `more` may follow, also of the last event.
    Stored { rows: Rows, more: bool },
    /// Some rows of a chunk, which has been checked.
    Chunk { chunk: Arc<Chunk>, rows: Chosen, order: Order },
}

/// Rows of a chunk, by their place in it.
#[derive(Clone, Debug)]
pub(crate) enum Chosen {
    /// All of these.
    Range(Range<usize>),
    /// These, newest first.
    Some(Vec<u32>),
}

impl Chosen {
    fn len(&self) -> usize {
        match self {
            Self::Range(range) => range.len(),
            Self::Some(rows) => rows.len(),
        }
    }

    /// The row of the chunk that comes at `index`.
    fn place(&self, order: Order, index: usize) -> Option<usize> {
        let index = match order {
            Order::NewestFirst => index,
            Order::OldestFirst => self.len().checked_sub(index)?.checked_sub(1)?,
        };
        match self {
            Self::Range(range) => Some(range.start + index).filter(|place| *place < range.end),
            Self::Some(rows) => rows.get(index).map(|row| *row as usize),
        }
    }
}

impl Default for PageRows {
    fn default() -> Self {
        Self::Stored { rows: Rows::default(), more: false }
    }
}

impl PageRows {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Stored { rows, .. } => rows.len(),
            Self::Chunk { rows, .. } => rows.len(),
        }
    }

    /// Their logical bytes; of a part of a chunk, its share.
    pub(crate) fn logical_bytes_about(&self) -> u64 {
        match self {
            Self::Stored { .. } => self.iter().map(|row| row.logical_bytes()).sum(),
            Self::Chunk { chunk, .. } => {
                let header = chunk.header();
                header.logical_bytes / u64::from(header.rows.max(1)) * self.len() as u64
            }
        }
    }

    /// Whether the event of the last row may go on behind them. A chunk cuts none.
    pub(crate) const fn may_cut_event(&self) -> bool {
        matches!(self, Self::Stored { more: true, .. })
    }

    /// The chunk that they lie in, where something of it is left behind `index`. One that is not compressed lies in the page of
    /// the store, which is not worth keeping for it.
    pub(crate) fn chunk_behind(&self, index: usize) -> Option<&Arc<Chunk>> {
        match self {
            Self::Chunk { chunk, rows, .. } if index < rows.len() => {
                Some(chunk).filter(|chunk| chunk.header().codec != Codec::None)
            }
            _ => None,
        }
    }

    /// The row at `index`, looked at in place.
    pub(crate) fn view(&self, index: usize) -> Option<RowView<'_>> {
        match self {
            Self::Stored { rows, .. } => rows.view(index),
            Self::Chunk { chunk, rows, order } => chunk.checked_rows()?.get(rows.place(*order, index)?),
        }
    }

    /// When the event of the row at `index` happened: of most rows nothing else has to be looked at to tell events apart.
    #[inline]
    pub(crate) fn time(&self, index: usize) -> Option<Timestamp> {
        match self {
            Self::Stored { rows, .. } => rows.time(index),
            Self::Chunk { chunk, rows, order } => chunk.checked_rows()?.time(rows.place(*order, index)?),
        }
    }

    /// The row at `index`, sharing the buffers of the page.
    pub(crate) fn get(&self, index: usize) -> Option<Row> {
        match self {
            Self::Stored { rows, .. } => rows.get(index),
            Self::Chunk { chunk, rows, order } => chunk.checked_rows()?.shared(rows.place(*order, index)?),
        }
    }

    /// All rows, looked at in place.
    pub(crate) fn iter(&self) -> impl Iterator<Item = RowView<'_>> {
        (0..self.len()).filter_map(|index| self.view(index))
    }
}
