//! Which chunks of a packed partition a read asks for. Pure.
//!
//! A chunk is stored under its oldest row, and chunks of a partition do not overlap. So of the chunks that a stretch of time meets, all
//! but the oldest are stored inside of it; that one may be stored before it begins. Newest first it is looked for at the end, oldest
//! first at the beginning: one look for one chunk.

use std::ops::{Bound, Range};

use bytes::Bytes;
use chunk::{ChunkRows, Header};
use model::{Interval, Order, RowKey};
use store::{Error, ErrorKind, ScanPage};

/// So few chunks are asked for without an end: what lies before the stretch is read for nothing, and the look is saved.
const FEW: usize = 24;

/// Which rows a read wants.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(super) order: Order,
    pub(super) interval: Interval,
    /// Where it begins, in its order.
    pub(super) from: Bound<RowKey>,
}

impl Window {
    /// Whether all rows of a chunk are wanted.
    pub(super) fn holds_all(&self, header: &Header) -> bool {
        let begin = match self.order {
            Order::NewestFirst => &header.newest,
            Order::OldestFirst => &header.oldest,
        };
        let is_behind = match &self.from {
            Bound::Unbounded => true,
            Bound::Included(key) | Bound::Excluded(key) => self.order.compare(key, begin).is_lt(),
        };
        is_behind && header.is_inside(self.interval)
    }

    /// The rows of a chunk that are wanted.
    pub(super) fn of(&self, rows: &ChunkRows<'_>) -> Range<usize> {
        let Range { mut start, mut end } = rows.inside(self.interval);
        match (self.order, &self.from) {
            (_, Bound::Unbounded) => {}
            (Order::NewestFirst, Bound::Excluded(key)) => start = start.max(rows.older(key)),
            (Order::NewestFirst, Bound::Included(key)) => start = start.max(rows.at_or_older(key)),
            (Order::OldestFirst, Bound::Excluded(key)) => end = end.min(rows.at_or_older(key)),
            (Order::OldestFirst, Bound::Included(key)) => end = end.min(rows.older(key)),
        }
        start..end.max(start)
    }
}

/// Where a walk over chunks stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Oldest first: the chunk that begins before the window is looked for.
    Look,
    /// Those that are stored inside of the window.
    Along,
    /// Newest first, without an end: until one is stored before the window.
    Open,
    /// Newest first: the one that begins before the window is looked for.
    Below,
    Over,
}

/// A walk over the chunks that a window meets.
#[derive(Clone, Debug)]
pub(super) struct ChunkWalk {
    pub(super) window: Window,
    step: Step,
    /// The stored key of the last chunk that was met along the way.
    behind: Option<RowKey>,
    /// The row of the chunk before that the next chunk has to lie behind.
    edge: Option<RowKey>,
}

/// What to ask the store for.
pub(super) struct ChunkAsk {
    pub(super) order: Order,
    pub(super) interval: Interval,
    pub(super) from: Bound<RowKey>,
    pub(super) chunks_max: usize,
}

/// A chunk as it is stored.
pub(super) type StoredChunk = (Header, Bytes);

impl ChunkWalk {
    pub(super) fn new(window: Window) -> Self {
        let step = match window.order {
            Order::NewestFirst => Step::Along,
            Order::OldestFirst => Step::Look,
        };
        Self { window, step, behind: None, edge: None }
    }

    /// Goes on behind a chunk that is there already, in which the read begins.
    pub(super) fn begin_in(&mut self, header: &Header) {
        self.behind = Some(header.stored_key());
        self.edge = Some(match self.window.order {
            Order::NewestFirst => header.oldest.clone(),
            Order::OldestFirst => header.newest.clone(),
        });
        let reached_start = header.oldest.event_time.nanos() < self.window.interval.start();
        self.step = match self.window.order {
            Order::NewestFirst if reached_start => Step::Over,
            _ => Step::Along,
        };
    }

    /// Whether there may be more chunks.
    pub(super) fn goes_on(&self) -> bool {
        self.step != Step::Over
    }

    /// What to ask for next where so many chunks are wanted.
    pub(super) fn ask(&mut self, chunks_max: usize) -> ChunkAsk {
        let Window { order, interval, from } = &self.window;
        let before = Interval::new(Interval::ALL.start(), interval.start()).unwrap_or(*interval);
        if self.step == Step::Along && *order == Order::NewestFirst && chunks_max <= FEW {
            self.step = Step::Open;
        } else if self.step == Step::Open && chunks_max > FEW {
            self.step = Step::Along;
        }
        let along = || match &self.behind {
            Some(behind) => Bound::Excluded(behind.clone()),
            None => from.clone(),
        };
        match self.step {
            Step::Look => {
                // Where the read begins inside of the window, the chunk that it begins in is wanted.
                let inside = key_of(from).filter(|key| key.event_time.nanos() >= interval.start());
                let (interval, from) = match inside {
                    Some(key) => (up_to(interval), Bound::Included(key.clone())),
                    None => (before, Bound::Unbounded),
                };
                ChunkAsk { order: Order::NewestFirst, interval, from, chunks_max: 1 }
            }
            Step::Along if *order == Order::OldestFirst => {
                // The chunk that is stored right where the read begins came with the look.
                let begin = match &self.behind {
                    Some(behind) => Some(behind),
                    None => key_of(from),
                };
                let from = begin.map_or(Bound::Unbounded, |key| Bound::Excluded(key.clone()));
                ChunkAsk { order: *order, interval: *interval, from, chunks_max }
            }
            Step::Along => ChunkAsk { order: *order, interval: *interval, from: along(), chunks_max },
            Step::Open => ChunkAsk { order: *order, interval: up_to(interval), from: along(), chunks_max },
            Step::Below | Step::Over => {
                let from = from.clone();
                ChunkAsk { order: Order::NewestFirst, interval: before, from, chunks_max: 1 }
            }
        }
    }

    /// Takes the answer to what was asked for last: the chunks in it that may have wanted rows, in the order of the read.
    pub(super) fn take(&mut self, page: &ScanPage) -> Result<Vec<StoredChunk>, Error> {
        let mut chunks = Vec::with_capacity(page.rows.len());
        let mut reached_start = false;
        for row in (0..page.rows.len()).filter_map(|at| page.rows.get(at)) {
            // Copied: a chunk that is kept would hold on to the whole page.
            let header = Header::decode(&Bytes::copy_from_slice(&row.metadata)).map_err(damaged)?;
            if header.stored_key() != row.key {
                return Err(damaged("it is stored under a row that is not its oldest"));
            }
            self.pass(&header)?;
            reached_start |= row.key.event_time.nanos() < self.window.interval.start();
            self.behind = Some(row.key);
            if header.may_meet(self.window.interval) {
                chunks.push((header, row.value));
            }
        }
        self.step = match self.step {
            Step::Look => {
                // What was looked at may lie before the interval, and along the way comes what lies inside.
                self.behind = self.behind.take().filter(|_| !reached_start);
                Step::Along
            }
            Step::Along | Step::Open if page.more && !reached_start => self.step,
            Step::Along if self.window.order == Order::NewestFirst => Step::Below,
            Step::Along | Step::Open | Step::Below | Step::Over => Step::Over,
        };
        Ok(chunks)
    }

    /// A chunk has to lie behind the one before; where it does not, rows would come twice or out of order.
    fn pass(&mut self, header: &Header) -> Result<(), Error> {
        let (begin, end) = match self.window.order {
            Order::NewestFirst => (&header.newest, &header.oldest),
            Order::OldestFirst => (&header.oldest, &header.newest),
        };
        if self.edge.as_ref().is_some_and(|edge| self.window.order.compare(edge, begin).is_ge()) {
            return Err(damaged("it overlaps with the chunk before"));
        }
        self.edge = Some(end.clone());
        Ok(())
    }
}

/// Everything before the end of an interval.
fn up_to(interval: &Interval) -> Interval {
    Interval::new(Interval::ALL.start(), interval.end()).unwrap_or(*interval)
}

fn key_of(from: &Bound<RowKey>) -> Option<&RowKey> {
    match from {
        Bound::Included(key) | Bound::Excluded(key) => Some(key),
        Bound::Unbounded => None,
    }
}

/// A chunk that must not be read.
pub(super) fn damaged(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Corrupt, format!("a chunk of packed events is damaged: {why}"))
}
