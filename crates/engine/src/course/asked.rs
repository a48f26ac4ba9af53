//! What to ask the store for next, in either layout.

use std::ops::{Bound, RangeInclusive};
use std::sync::Arc;

use chunk::Chunk;
use model::{RowKey, Rows};
use split::CoverLayout;
use store::{Result, Scan, ScanPage};

use super::arrived::Arrived;
use super::chunks::{ChunkWalk, StoredChunk, Window};
use super::headers::HeaderCourse;
use super::rows::{Chosen, PageRows};

/// Chunks that are asked for at once, at most: some megabytes of events.
const CHUNKS_MAX: usize = 64;
/// And where nothing of the partition is there yet: those of a page of 1,000 rows, and no fewer and no more than this. Of more, the rest
/// comes while these are unpacked.
const CHUNKS_FIRST: RangeInclusive<usize> = 16..=24;
const ROWS_FIRST: usize = 1_000;
/// About so many stored bytes are asked for at once: a node makes one piece of memory of an answer, and those of a megabyte
/// give its garbage collector extra work.
const ANSWER_BYTES: u64 = 768 << 10;

/// How much is wanted of the next page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Rows that the read can use.
    pub(crate) rows: usize,
    /// Rows to ask a partition of rows for.
    pub(crate) rows_max: usize,
}

/// A read of one partition, as far as it was asked for.
pub(crate) struct Course {
    /// All that is wanted.
    scan: Scan,
    way: Way,
}

enum Way {
    Rows { behind: Option<RowKey>, more: bool },
    Chunks { walk: Box<ChunkWalk>, met: Met },
}

/// Chunks that came so far, and what is known of all of them.
#[derive(Clone, Copy, Debug)]
struct Met {
    rows_per_chunk: usize,
    chunks: u64,
    stored_bytes: u64,
}

impl Met {
    fn add(&mut self, chunks: &[StoredChunk]) {
        self.chunks += chunks.len() as u64;
        self.stored_bytes += chunks.iter().map(|(header, _)| u64::from(header.stored_bytes)).sum::<u64>();
    }

    /// How many to ask for where so many rows are wanted.
    fn ask(&self, rows: usize) -> usize {
        // One more: the first may be begun already.
        let chunks_of = |rows: usize| rows.div_ceil(self.rows_per_chunk).saturating_add(1);
        let first = chunks_of(ROWS_FIRST).clamp(*CHUNKS_FIRST.start(), *CHUNKS_FIRST.end());
        let fitting = (ANSWER_BYTES * self.chunks).checked_div(self.stored_bytes).unwrap_or_default();
        let most = usize::try_from(fitting).unwrap_or(usize::MAX).clamp(first, CHUNKS_MAX);
        chunks_of(rows).min(most)
    }
}

impl Course {
    /// Everything that `scan` wants, whose limit on rows does not count.
    pub(crate) fn new(scan: Scan, layout: CoverLayout) -> Self {
        let way = match layout {
            CoverLayout::Rows => Way::Rows { behind: None, more: true },
            CoverLayout::Packed { rows_per_chunk } => {
                let Scan { order, interval, from, .. } = &scan;
                let window = Window { order: *order, interval: *interval, from: from.clone() };
                let rows_per_chunk = usize::try_from(rows_per_chunk).unwrap_or(usize::MAX).max(1);
                let met = Met { rows_per_chunk, chunks: 0, stored_bytes: 0 };
                Way::Chunks { walk: Box::new(ChunkWalk::new(window)), met }
            }
        };
        Self { scan, way }
    }

    /// The headers of the chunks that `scan` meets, in a packed partition.
    pub(crate) fn headers(scan: Scan) -> HeaderCourse {
        HeaderCourse::new(scan)
    }

    /// All that is wanted.
    pub(crate) const fn scan(&self) -> &Scan {
        &self.scan
    }

    /// Whether there may be more than what was asked for.
    pub(crate) fn goes_on(&self) -> bool {
        match &self.way {
            Way::Rows { more, .. } => *more,
            Way::Chunks { walk, .. } => walk.goes_on(),
        }
    }

    /// Begins in a chunk that is there already, if it is one of a packed partition and has rows that are wanted.
    pub(crate) fn begin_in(&mut self, chunk: &Arc<Chunk>) -> Option<PageRows> {
        let Way::Chunks { walk, .. } = &mut self.way else { return None };
        let range = walk.window.of(&chunk.rows().ok()?);
        if range.is_empty() {
            return None;
        }
        walk.begin_in(chunk.header());
        let (chunk, order) = (Arc::clone(chunk), walk.window.order);
        Some(PageRows::Chunk { chunk, rows: Chosen::Range(range), order })
    }

    /// What to ask for next. Its answer has to be taken before it is called again.
    pub(crate) fn ask(&mut self, wanted: Wanted, ahead: bool) -> Scan {
        let mut scan = Scan { ahead, ..self.scan.clone() };
        match &mut self.way {
            Way::Rows { behind, .. } => {
                scan.rows_max = wanted.rows_max;
                if let Some(behind) = behind {
                    scan.from = Bound::Excluded(behind.clone());
                }
            }
            Way::Chunks { walk, met } => {
                let ask = walk.ask(met.ask(wanted.rows));
                (scan.order, scan.interval, scan.from) = (ask.order, ask.interval, ask.from);
                scan.rows_max = ask.chunks_max;
            }
        }
        scan
    }

    /// Takes the answer.
    pub(crate) fn take(&mut self, page: ScanPage) -> Result<Arrived> {
        match &mut self.way {
            Way::Rows { behind, more } => {
                *more = page.more;
                *behind = page.rows.last().map(|last| last.key).or_else(|| behind.take());
                Ok(Arrived::rows(page.rows, page.more))
            }
            Way::Chunks { walk, met } => {
                let chunks = walk.take(&page)?;
                met.add(&chunks);
                Ok(Arrived::chunks(walk.window.clone(), chunks))
            }
        }
    }
}

impl Default for Arrived {
    fn default() -> Self {
        Self::rows(Rows::default(), false)
    }
}
