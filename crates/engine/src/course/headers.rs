//! A walk over the headers of chunks, without what is in them.

use std::ops::Bound;

use chunk::{Header, Unpacker};
use model::{Interval, Order};
use store::{Result, Scan, ScanPage};

use super::chunks::{ChunkWalk, Window, damaged};

/// Headers that are asked for at once.
const HEADERS_MAX: usize = 2_048;

/// A read of the headers of one partition, as far as it was asked for.
pub(crate) struct HeaderCourse {
    scan: Scan,
    walk: ChunkWalk,
}

impl HeaderCourse {
    /// Of the chunks that `scan` meets.
    pub(super) fn new(scan: Scan) -> Self {
        let Scan { order, interval, from, .. } = &scan;
        let window = Window { order: *order, interval: *interval, from: from.clone() };
        Self { scan, walk: ChunkWalk::new(window) }
    }

    /// Whether there may be more.
    pub(crate) fn goes_on(&self) -> bool {
        self.walk.goes_on()
    }

    /// What to ask for next, without values.
    pub(crate) fn ask(&mut self) -> Scan {
        let ask = self.walk.ask(HEADERS_MAX);
        let (order, interval, from) = (ask.order, ask.interval, ask.from);
        Scan { order, interval, from, rows_max: ask.chunks_max, ..self.scan.clone() }
    }

    /// Takes the answer: headers of chunks that the scan meets, and whether all of their rows are wanted.
    pub(crate) fn take(&mut self, page: &ScanPage) -> Result<Vec<(Header, bool)>> {
        let chunks = self.walk.take(page)?;
        let chunks = chunks.into_iter().map(|(header, _)| header);
        let marked = |header: Header| {
            let is_whole = self.walk.window.holds_all(&header);
            (header, is_whole)
        };
        Ok(chunks.map(marked).collect())
    }

    /// What to ask for to get a chunk whole.
    pub(crate) fn body_of(&self, header: &Header) -> Scan {
        let (interval, from) = (Interval::ALL, Bound::Included(header.stored_key()));
        Scan { order: Order::NewestFirst, interval, from, rows_max: 1, ..self.scan.clone() }
    }

    /// The times of the wanted events of a chunk that was asked for whole.
    pub(crate) fn times(&self, page: &ScanPage) -> Result<Vec<i64>> {
        let row = page.rows.get(0).ok_or_else(|| damaged("it is gone"))?;
        let header = Header::decode(&row.metadata).map_err(damaged)?;
        if header.stored_key() != row.key {
            return Err(damaged("it is stored under a row that is not its oldest"));
        }
        let chunk = Unpacker::default().unpack(header, &row.value).map_err(damaged)?;
        let wanted = self.walk.window.of(&chunk.rows().map_err(damaged)?);
        let events = chunk.events().map_err(damaged)?;
        let is_wanted = |event: usize| {
            let rows = events.rows(event).unwrap_or_default();
            rows.start < wanted.end && wanted.start < rows.end
        };
        let times = events.times().iter().enumerate();
        Ok(times.filter(|(event, _)| is_wanted(*event)).map(|(_, time)| *time).collect())
    }
}
