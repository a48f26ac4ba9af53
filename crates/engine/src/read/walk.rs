//! From a request to rows: which partitions are visited, in which order, and when a page has enough.

use std::sync::Arc;

use env::{BootTime, Clock};
use futures::StreamExt;
use futures::future::OptionFuture;
use futures::stream::FuturesOrdered;
use model::{Group, Interval, Order, Position, Timestamp};
use store::Store;

use super::ahead::{Density, ReadAhead};
use super::certain::VIEW_STALE;
use super::drain::drain;
use super::group::{GroupReader, Source};
use super::only::Only;
use super::patience::{Patience, TimeLimit};
use super::span::{beginning, left_of, passed_interval};
use super::take::{After, Edge, Ended, Taker, Wants, edge};
use super::visited::Visited;
use crate::catalog::Dataset;
use crate::query::Matcher;
use crate::route::{Plan, Router};
use crate::{Partial, ReadRequest, Result, Resume};

/// Partitions that one page visits at most; then it ends with a token.
pub(super) const PARTITIONS_MAX: usize = 4_096;

/// What a page is read from.
pub(crate) struct Reading<'a> {
    pub(crate) dataset: &'a Dataset,
    pub(crate) store: &'a Arc<dyn Store>,
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) request: &'a ReadRequest,
    /// When the request came in, and how long it may take.
    pub(crate) started: BootTime,
    pub(crate) limit: TimeLimit,
    /// What groups of the namespace have given so far.
    pub(crate) learned: Option<Density>,
    /// Bytes to read at most, but for the event it is in; then the page ends with a token.
    pub(crate) bytes_max: u64,
    /// Whether each group is to be told of.
    pub(crate) explains: bool,
    /// The request was cut to what this server can be sure of; the rest may hold what it does not know.
    pub(crate) is_cut: bool,
    /// Where each partition is read.
    pub(crate) router: &'a Router,
    pub(crate) plan: &'a Plan,
    /// Of which partitions; none for all.
    pub(crate) only: Option<&'a Only>,
}

/// Why a page takes no more rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filled {
    /// It is full.
    Full,
    /// It has read as much, or visited as many partitions, as a page may.
    Limit,
    /// Nothing is left.
    Over,
    /// Its time is over, or what this server can be sure of.
    TimeOver,
}

/// What came of a walk.
pub(crate) struct Walked {
    pub(crate) filled: Filled,
    pub(crate) visited: Visited,
    /// The most groups that were opened ahead.
    pub(crate) read_ahead: usize,
    /// Whose limit its time was.
    limit: &'static str,
}

/// Where the next page begins, and why this one is not whole.
pub(crate) struct Conclusion {
    pub(crate) next: Option<Resume>,
    pub(crate) partial: Option<Partial>,
}

/// A page on its way.
pub(super) struct Walk<'a> {
    pub(super) reading: &'a Reading<'a>,
    pub(super) source: Source<'a>,
    pub(super) visited: Visited,
    pub(super) patience: Patience<'a>,
    /// The most groups that were opened ahead.
    read_ahead: usize,
}

/// Feeds `taker` with the rows that are asked for.
pub(crate) async fn walk(reading: &Reading<'_>, taker: &mut impl Taker) -> Result<Walked> {
    let request = reading.request;
    let filter = request.query.as_ref().map(Matcher::new).transpose()?.map(Arc::new);
    let source = Source {
        filter: filter.as_ref(),
        store: reading.store,
        clock: reading.clock,
        dataset: reading.dataset,
        series: &request.series,
        order: request.order,
        resume: request.resume.as_ref(),
        rows_hint: taker.events_wanted().saturating_add(1),
        takes_all: taker.takes_all(),
        router: reading.router,
        plan: reading.plan,
        only: reading.only,
    };
    let patience = Patience::new(&**reading.clock, reading.started, reading.limit);
    let visited = Visited::new(reading.explains);
    let mut walk = Walk { reading, source, visited, patience, read_ahead: 0 };
    let filled = if request.series.is_empty() {
        walk.by_partition(taker).await?
    } else {
        walk.in_order(taker).await?
    };
    let (filled, limit) = match filled {
        Filled::Over if reading.is_cut => (Filled::TimeOver, VIEW_STALE),
        filled => (filled, walk.patience.reason),
    };
    Ok(Walked { filled, visited: walk.visited, read_ahead: walk.read_ahead, limit })
}

impl Walked {
    /// What a page that ended there tells its client.
    pub(crate) fn conclude(&self, reading: &Reading<'_>, ended: Ended) -> Conclusion {
        let request = reading.request;
        let time_over = self.filled == Filled::TimeOver;
        let start = || beginning(request).map(|position| After::Edge(Edge { position, event_bucket: None }));
        let after = ended.after.or_else(|| if time_over { start() } else { None });
        let Some(after) = after else { return Conclusion { next: None, partial: None } };
        let (scanned_bytes, event_bucket) = match &after {
            After::Row(position) => {
                (self.visited.scanned_bytes(ended.again_bytes), bucket_of(reading, position))
            }
            After::Edge(edge) => (Vec::new(), edge.event_bucket),
        };
        let after = after.into_position();
        let next = Resume { after, remaining: ended.remaining, scanned_bytes, event_bucket };
        let partial = time_over.then(|| Partial { reason: self.limit, complete: passed(reading, &next) });
        #[cfg(feature = "seeded-bugs")]
        let next = self.spoilt(reading, next);
        Conclusion { next: Some(next), partial }
    }

    /// What is known of the groups of a namespace after this page.
    pub(crate) fn learned(&self, reading: &Reading<'_>) -> Option<Density> {
        let groups = self.visited.groups * reading.request.series.len();
        let newest = Density::of(groups, self.visited.rows, self.visited.cost.bytes_read)?;
        Some(Density::after(reading.learned, newest, self.filled != Filled::Over))
    }
}

/// The part of the interval of which everything lies before `place`.
pub(crate) fn passed(reading: &Reading<'_>, place: &Resume) -> Interval {
    passed_interval(reading.request, &reading.dataset.layouts, &place.after, place.event_bucket)
}

/// The event bucket of a row, where that has to be known.
fn bucket_of(reading: &Reading<'_>, position: &Position) -> Option<u32> {
    let layout = reading.dataset.layouts.find(position.event_time)?;
    reading.request.series.is_empty().then(|| layout.event_bucket(&position.event_id))
}

impl Walk<'_> {
    /// Group after group, the partitions of each merged.
    async fn in_order(&mut self, taker: &mut impl Taker) -> Result<Filled> {
        let reading = self.reading;
        let (mut groups, whole) = groups(reading.dataset, reading.request);
        if let Some(only) = reading.only {
            groups.retain(|group| only.meets(group));
        }
        let partitions = groups.first().map_or(1, |group| usize::from(group.layout.shape.buckets_per_id));
        let mut ahead = ReadAhead::new(reading.learned, reading.request.series.len(), partitions);
        let mut groups = groups.into_iter().peekable();
        let source = self.source;
        let mut opening = FuturesOrdered::new();
        loop {
            while opening.is_empty()
                && let Some(group) = groups.peek().copied()
                && self.counted(&group, taker).await?
            {
                groups.next();
                if self.between(taker) != Filled::Over {
                    return Ok(self.between(taker));
                }
            }
            let room = ahead.groups(taker.events_wanted()) + 1;
            let opened = if room == 1 && opening.is_empty() {
                // Alone it needs no queue, which would wake this task for nothing, and another thread to take it over.
                let next = groups.next().map(|group| GroupReader::open(&source, group, false));
                self.patience.wait(OptionFuture::from(next)).await
            } else {
                let next = groups.by_ref().take(room.saturating_sub(opening.len()));
                // The first in line is waited for until it is open. From the others the read looks away to use its rows.
                let mut ahead = !opening.is_empty();
                let open = |group| GroupReader::open(&source, group, std::mem::replace(&mut ahead, true));
                opening.extend(next.map(open));
                self.read_ahead = self.read_ahead.max(opening.len().saturating_sub(1));
                self.patience.wait(opening.next()).await
            };
            let Some(reader) = opened else { return Ok(Filled::TimeOver) };
            let Some(reader) = reader else {
                return Ok(if whole { Filled::Over } else { Filled::Limit });
            };
            let reader = reader?;
            let group = reader.group;
            let (rows, bytes) = (self.visited.rows, self.visited.cost.bytes_read);
            let filled = self.drain(reader, taker, || end_of(&group, reading.request)).await?;
            if filled != Filled::Over {
                return Ok(filled);
            }
            ahead.saw(self.visited.rows - rows, self.visited.cost.bytes_read - bytes);
        }
    }

    /// Counts a group by the headers of its chunks alone, if that is all that is wanted and can be.
    async fn counted(&mut self, group: &Group, taker: &mut impl Taker) -> Result<bool> {
        let Some(counting) = taker.counting().filter(|_| !self.reading.explains) else { return Ok(false) };
        let Some(counted) = self.count_group(group, counting).await? else { return Ok(false) };
        if !taker.take_counts(&counted.counts) {
            return Ok(false);
        }
        self.visited.add_counted(group, counted);
        if let Some(edge) = end_of(group, self.reading.request) {
            taker.pass(edge);
        }
        Ok(true)
    }

    /// Feeds the taker with the rows of one group, then lets it pass `edge`.
    pub(super) async fn drain(
        &mut self,
        mut reader: GroupReader,
        taker: &mut impl Taker,
        edge: impl FnOnce() -> Option<Edge>,
    ) -> Result<Filled> {
        let left = self.left();
        let drained = drain(&mut reader, taker, left, &mut self.patience).await?;
        for (home, chunk) in reader.readers.iter().filter_map(|(_, reader)| reader.chunk()) {
            self.source.router.chunks.put(home, chunk);
        }
        let group = reader.group;
        let table = || self.reading.dataset.table(&group.layout).name.as_str().to_owned();
        self.visited.add(reader, table);
        if drained != Filled::Over {
            return Ok(drained);
        }
        if let Some(edge) = edge() {
            taker.pass(edge);
        }
        Ok(self.between(taker))
    }

    /// Whether a page that stands between two groups, partitions or slices ends there.
    pub(super) fn between(&self, taker: &impl Taker) -> Filled {
        if taker.wants() == Wants::Nothing {
            Filled::Full
        } else if self.left() == 0 {
            Filled::Limit
        } else {
            Filled::Over
        }
    }

    /// Bytes that may still be read.
    fn left(&self) -> u64 {
        self.reading.bytes_max.saturating_sub(self.visited.cost.bytes_read)
    }
}

/// The groups that this page may visit, in the order of the read, and whether these are all that are left.
fn groups(dataset: &Dataset, request: &ReadRequest) -> (Vec<Group>, bool) {
    let cover = dataset.layouts.cover(left_of(request));
    let mut cover: Box<dyn Iterator<Item = Group>> = match request.order {
        Order::OldestFirst => Box::new(cover),
        Order::NewestFirst => Box::new(cover.rev()),
    };
    let (mut groups, mut partitions) = (Vec::new(), 0);
    for group in cover.by_ref() {
        partitions += usize::from(group.layout.shape.buckets_per_id) * request.series.len();
        groups.push(group);
        if partitions >= PARTITIONS_MAX {
            break;
        }
    }
    let whole = cover.next().is_none();
    (groups, whole)
}

/// Behind a group, in the order of the read.
fn end_of(group: &Group, request: &ReadRequest) -> Option<Edge> {
    let time = match request.order {
        Order::OldestFirst => group.interval.end(),
        Order::NewestFirst => group.interval.start(),
    };
    let position = edge(Timestamp::from_nanos(time).ok()?, request.series.first()?);
    Some(Edge { position, event_bucket: None })
}
