//! One partition, or parts of it that lie in several, row by row, page by page, at most one page ahead.

use std::collections::VecDeque;
#[cfg(feature = "seeded-bugs")]
use std::ops::Bound;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use chunk::Chunk;
use env::{BoxFuture, Clock};
use futures::future::maybe_done;
use model::{Interval, PartitionKey, RowView, SeriesId, TableRef};
use split::{CoverLayout, Place};
use store::{Scan, ScanPage, Store};

use super::need::Need;
use crate::Result;
use crate::course::{Ahead, Arrived, Course, PageRows, Wanted, begun};
use crate::query::Matcher;

/// The next row of a partition, looked at in place.
pub(crate) struct Head<'a> {
    pub(crate) view: RowView<'a>,
    /// Whose row.
    pub(crate) series: &'a SeriesId,
    pub(super) page: &'a Arc<PageRows>,
    pub(super) at: usize,
}

impl Head<'_> {
    /// The rows of this row's event, if they do not go on behind the page.
    pub(super) fn whole_event(&self) -> Option<Taken> {
        let mut whole = self.row();
        loop {
            let at = self.at + whole.rows;
            let Some(time) = self.page.time(at) else {
                return (!self.page.may_cut_event()).then_some(whole);
            };
            if time != self.view.event_time {
                return Some(whole);
            }
            match self.page.view(at) {
                Some(next) if next.event_id == self.view.event_id => {
                    whole.rows += 1;
                    whole.bytes += next.logical_bytes();
                }
                _ => return Some(whole),
            }
        }
    }

    /// This row alone.
    pub(super) fn row(&self) -> Taken {
        Taken { rows: 1, bytes: self.view.logical_bytes() }
    }

    /// This row and those behind it in the page, `count` in all.
    pub(crate) fn rows(&self, count: usize) -> impl Iterator<Item = RowView<'_>> {
        (self.at..self.at + count).map_while(|at| self.page.view(at))
    }
}

/// Rows of one page that were taken, and their logical bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) rows: usize,
    bytes: u64,
}

/// A part of what is read, in a partition of its own.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) place: Place,
    pub(super) table: TableRef,
    pub(super) partition: PartitionKey,
    pub(super) interval: Interval,
    pub(super) layout: CoverLayout,
}

impl Part {
    /// The same as `scan`, here.
    fn course(self, scan: &Scan) -> Course {
        let Self { table, partition, interval, layout, .. } = self;
        Course::new(Scan { table, partition, interval, ..scan.clone() }, layout)
    }
}

/// A partition that is being read in order.
pub(super) struct PartitionReader {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    /// The present part, as far as the store was asked.
    course: Course,
    /// Where it goes on behind the present part, in the order of the read: all of it lies behind.
    rest: VecDeque<Part>,
    /// Where the store was asked so far.
    pub(super) places: Vec<Place>,
    rows: Arc<PageRows>,
    at: usize,
    /// What the store gave and comes behind `rows`.
    arrived: Arrived,
    /// Where both lie: the store may have been asked for another part by now.
    home: (PartitionKey, TableRef),
    /// Events that it does not want need not be given.
    filter: Option<Arc<Matcher>>,
    /// The store's next answer, while it is being read. Dropping it ends that.
    ahead: Option<Ahead<store::Result<Timed>>>,
    rows_read: usize,
    /// What is needed beyond that: while it is open, the next page is read ahead.
    need: Need,
    /// Logical bytes that the store read.
    pub(super) bytes: u64,
    /// Logical bytes of the rows that were taken.
    pub(super) taken_bytes: u64,
    /// How often the store answered.
    pub(super) calls: u64,
    /// How long that took.
    pub(super) waited: Duration,
    /// Where it goes on after an error, with a fault.
    #[cfg(feature = "seeded-bugs")]
    origin: Option<Part>,
}

/// A page of the store, and how long it took.
struct Timed {
    page: ScanPage,
    took: Duration,
}

async fn timed(store: Arc<dyn Store>, clock: Arc<dyn Clock>, scan: Scan) -> store::Result<Timed> {
    let started = clock.boot();
    let page = store.scan(scan).await?;
    Ok(Timed { page, took: clock.boot().since(started) })
}

impl PartitionReader {
    /// Reads the first page of what a scan asks for, which lies in `place`, and then of `rest`. `need` is what it will probably have
    /// to give.
    pub(super) async fn open(
        (store, clock): (Arc<dyn Store>, Arc<dyn Clock>),
        (scan, place, layout): (Scan, Place, CoverLayout),
        rest: VecDeque<Part>,
        (need, filter, begun): (Need, Option<Arc<Matcher>>, Option<Arc<Chunk>>),
    ) -> Result<Self> {
        let wanted = Wanted { rows: need.rows(), rows_max: scan.rows_max };
        let ahead = scan.ahead;
        let home = (scan.partition.clone(), scan.table.clone());
        let mut course = Course::new(scan, layout);
        let here = begun.as_ref().and_then(|chunk| course.begin_in(chunk));
        let first = match here {
            Some(_) => None,
            None => Some(timed(Arc::clone(&store), Arc::clone(&clock), course.ask(wanted, ahead)).await?),
        };
        let mut reader = Self {
            store,
            clock,
            course,
            rest,
            places: vec![place],
            rows: Arc::default(),
            at: 0,
            arrived: Arrived::default(),
            home,
            filter,
            ahead: None,
            rows_read: 0,
            need,
            bytes: 0,
            taken_bytes: 0,
            calls: 0,
            waited: Duration::ZERO,
            #[cfg(feature = "seeded-bugs")]
            origin: None,
        };
        match (first, here) {
            (Some(first), _) => reader.arrive(first).await?,
            (None, Some(here)) => {
                reader.rows = Arc::new(here);
                reader.count(reader.rows.len(), reader.rows.logical_bytes_about()).await;
            }
            (None, None) => {}
        }
        // A part may be empty, and whoever has no row is not asked again.
        reader.turn_page().await?;
        Ok(reader)
    }

    /// Rows that the store gave.
    pub(super) fn rows_read(&self) -> usize {
        self.rows_read
    }

    /// Whether [`Self::head`] shows a row.
    pub(super) fn has_head(&self) -> bool {
        self.at < self.rows.len()
    }

    /// The next row; none at the end, and where [`Self::turn_page`] is due.
    pub(super) fn head(&self) -> Option<Head<'_>> {
        self.head_at(self.at)
    }

    /// The row before; none where the page has just been turned.
    pub(super) fn last_taken(&self) -> Option<Head<'_>> {
        self.head_at(self.at.checked_sub(1)?)
    }

    fn head_at(&self, at: usize) -> Option<Head<'_>> {
        let view = self.rows.view(at)?;
        Some(Head { view, series: &self.course.scan().partition.series, page: &self.rows, at })
    }

    /// Goes on behind these rows.
    pub(super) fn take(&mut self, taken: Taken) {
        self.taken_bytes += taken.bytes;
        self.at += taken.rows;
    }

    /// Whether [`Self::turn_page`] is due before [`Self::head`] shows the next row.
    pub(super) fn page_is_over(&self) -> bool {
        self.at >= self.rows.len() && (!self.arrived.is_empty() || self.goes_on())
    }

    /// Whether there is anything behind what the store gave.
    fn goes_on(&self) -> bool {
        self.course.goes_on() || !self.rest.is_empty() || self.ahead.is_some()
    }

    /// Makes [`Self::head`] show the next row if there is one; gives back how many bytes the store had to read.
    pub(super) async fn turn_page(&mut self) -> Result<u64> {
        let before = self.bytes;
        while self.page_is_over() {
            if let Some(rows) = self.arrived.next(self.filter.as_deref())? {
                (self.rows, self.at) = (Arc::new(rows), 0);
                continue;
            }
            let mut next = match self.ahead.take() {
                Some(ahead) => ahead,
                None if !self.goes_on() => break,
                None => {
                    self.need.fell_short();
                    maybe_done(self.next_page(false))
                }
            };
            (&mut next).await;
            let page = Pin::new(&mut next).take_output();
            #[cfg(feature = "seeded-bugs")]
            if matches!(page, Some(Err(_))) && self.goes_on_beside() {
                continue;
            }
            let Some(page) = page.transpose()? else { break };
            self.arrive(page).await?;
        }
        Ok(self.bytes - before)
    }

    /// Takes an answer of the store, and has the next one read if it will be needed.
    async fn arrive(&mut self, Timed { page, took }: Timed) -> Result<()> {
        self.calls += 1;
        self.waited += took;
        self.bytes += page.bytes;
        let stored_bytes = page.bytes;
        self.arrived = self.course.take(page)?;
        let Scan { partition, table, .. } = self.course.scan();
        if self.home.0 != *partition || self.home.1 != *table {
            self.home = (partition.clone(), table.clone());
        }
        self.count(self.arrived.row_count(), self.arrived.logical_bytes().unwrap_or(stored_bytes)).await;
        Ok(())
    }

    /// So many rows came: the next are read ahead if they will be needed.
    async fn count(&mut self, rows: usize, bytes: u64) {
        self.rows_read += rows;
        self.need.came(rows, bytes);
        if self.goes_on() && self.need.is_open() {
            self.ahead = Some(begun(self.next_page(true)).await);
        }
    }

    /// The chunk that it stands in, for whoever goes on there.
    pub(super) fn chunk(&self) -> Option<((PartitionKey, TableRef), Arc<Chunk>)> {
        let chunk = self.rows.chunk_behind(self.at)?;
        Some((self.home.clone(), Arc::clone(chunk)))
    }

    /// Reads what lies behind, ahead of need or because it is needed now.
    fn next_page(&mut self, ahead: bool) -> BoxFuture<'static, store::Result<Timed>> {
        if !self.course.goes_on()
            && let Some(part) = self.rest.pop_front()
        {
            self.places.push(part.place);
            self.course = part.course(self.course.scan());
        }
        let wanted = Wanted { rows: self.need.rows(), rows_max: self.need.rows_to_ask() };
        let scan = self.course.ask(wanted, ahead);
        Box::pin(timed(Arc::clone(&self.store), Arc::clone(&self.clock), scan))
    }
}

#[cfg(feature = "seeded-bugs")]
impl PartitionReader {
    /// The same with a fault: after an error it goes on there.
    pub(super) fn beside(mut self, origin: Part) -> Self {
        self.origin = Some(origin);
        self
    }

    /// Goes on in the origin behind the last row, if it is not there already.
    fn goes_on_beside(&mut self) -> bool {
        let Some(origin) = self.origin.take() else { return false };
        let is_new = self.course.scan().table != origin.table;
        let last = self.rows.len().checked_sub(1).and_then(|last| self.rows.get(last));
        let from = last.map_or_else(|| self.course.scan().from.clone(), |row| Bound::Excluded(row.key));
        let scan = Scan { from, ..self.course.scan().clone() };
        (self.course, self.rest) = (origin.course(&scan), VecDeque::new());
        is_new
    }
}
