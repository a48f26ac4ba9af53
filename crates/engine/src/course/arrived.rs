//! What a store has answered, and was not used yet.

use std::collections::VecDeque;
use std::sync::Arc;

use chunk::{Chunk, Unpacker};
use model::Rows;
use store::Result;

use super::chunks::{StoredChunk, Window, damaged};
use super::filter::{last_event, matching};
use super::rows::{Chosen, PageRows};
use crate::query::Matcher;

/// Rows and chunks that are there.
pub(crate) enum Arrived {
    /// Rows, and whether more may follow.
    Rows { rows: Option<Rows>, more: bool },
    /// Chunks that are unpacked one by one.
    Chunks { window: Window, chunks: VecDeque<StoredChunk>, rows: usize, bytes: u64 },
}

impl Arrived {
    pub(super) fn rows(rows: Rows, more: bool) -> Self {
        Self::Rows { rows: Some(rows).filter(|rows| !rows.is_empty()), more }
    }

    pub(super) fn chunks(window: Window, chunks: Vec<StoredChunk>) -> Self {
        let rows = chunks.iter().map(|(header, _)| header.rows as usize).sum();
        let bytes = chunks.iter().map(|(header, _)| header.logical_bytes).sum();
        Self::Chunks { window, chunks: chunks.into(), rows, bytes }
    }

    /// Rows that came, also those that turn out not to be wanted.
    pub(crate) fn row_count(&self) -> usize {
        match self {
            Self::Rows { rows, .. } => rows.as_ref().map_or(0, Rows::len),
            Self::Chunks { rows, .. } => *rows,
        }
    }

    /// Their logical bytes; none of rows, which are as large as what the store read for them.
    pub(crate) const fn logical_bytes(&self) -> Option<u64> {
        match self {
            Self::Rows { .. } => None,
            Self::Chunks { bytes, .. } => Some(*bytes),
        }
    }

    /// Whether anything is left.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Rows { rows, .. } => rows.is_none(),
            Self::Chunks { chunks, .. } => chunks.is_empty(),
        }
    }

    /// The next rows; none where nothing is left. Of chunks, events that `filter` does not want may be left out, but for the last
    /// one: it says how far the read has come.
    pub(crate) fn next(&mut self, filter: Option<&Matcher>) -> Result<Option<PageRows>> {
        match self {
            Self::Rows { rows, more } => Ok(rows.take().map(|rows| PageRows::Stored { rows, more: *more })),
            Self::Chunks { window, chunks, .. } => {
                while let Some((header, body)) = chunks.pop_front() {
                    let chunk = Unpacker::default().unpack(header, &body).map_err(damaged)?;
                    let is_last = chunks.is_empty();
                    let rows = chosen(&chunk, window, filter, is_last).map_err(damaged)?;
                    if let Some(rows) = rows {
                        return Ok(Some(PageRows::Chunk {
                            chunk: Arc::new(chunk),
                            rows,
                            order: window.order,
                        }));
                    }
                }
                Ok(None)
            }
        }
    }
}

/// The rows of a chunk that are wanted; none where there are none.
fn chosen(
    chunk: &Chunk,
    window: &Window,
    filter: Option<&Matcher>,
    is_last: bool,
) -> std::result::Result<Option<Chosen>, chunk::Error> {
    if let Some(filter) = filter
        && window.holds_all(chunk.header())
    {
        let mut rows = matching(chunk, filter)?;
        if is_last {
            rows.extend(last_event(chunk, window.order)?);
            rows.sort_unstable();
            rows.dedup();
        }
        if rows.is_empty() {
            return Ok(None);
        }
        chunk.rows()?;
        return Ok(Some(Chosen::Some(rows)));
    }
    let range = window.of(&chunk.rows()?);
    Ok((!range.is_empty()).then_some(Chosen::Range(range)))
}
