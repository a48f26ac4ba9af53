//! One page of a read.

use std::collections::BTreeSet;
use std::sync::Arc;

use env::Clock;
use futures::StreamExt;
use futures::stream;
use model::{Group, Interval, Order, Timestamp};
use store::Store;

use super::events::{PageOfEvents, Wants};
use super::group::{GroupReader, Source};
use super::patience::Patience;
use super::span::{beginning, left_of, passed_interval};
use crate::catalog::{Catalog, Dataset};
use crate::query::Matcher;
use crate::{
    Cost, Error, PAGE_RECORDS_MAX, Partial, PartitionBytes, ReadPage, ReadRequest, Result, Resume,
    SERIES_MAX, SliceState,
};

/// Partitions that one page visits at most; then it ends with a token.
const PARTITIONS_MAX: usize = 4_096;
/// Bytes that one page reads at most, but for the event it is in; then it ends with a token.
const SCAN_BYTES_MAX: u64 = 64 << 20;
/// Groups read ahead behind the first.
const READ_AHEAD: usize = 4;
/// Partitions in them.
const PARTITIONS_AHEAD_MAX: usize = 256;

/// Reads one page.
pub(crate) async fn read_page(
    catalog: &Catalog,
    store: &Arc<dyn Store>,
    clock: &dyn Clock,
    request: ReadRequest,
) -> Result<ReadPage> {
    check(&request)?;
    let matcher = request.query.as_ref().map_or_else(|| Ok(Matcher::everything()), Matcher::new)?;
    let dataset = catalog.find(&request.namespace)?;
    let mut patience = Patience::new(clock, request.max_latency, &dataset.namespace.spec);
    let (groups, whole) = groups(&dataset, &request);
    let source = Source {
        store,
        dataset: &dataset,
        series: &request.series,
        order: request.order,
        resume: request.resume.as_ref(),
        rows_hint: events_wanted(&request) + 1,
    };
    let mut page = PageOfEvents::new(&request, &matcher);
    let mut visited = Visited::default();
    let filled = fill(&source, groups, &mut page, &mut visited, &mut patience).await?;
    let finished = page.finish(filled == Filled::GroupsOver && whole);
    let after = match filled {
        Filled::TimeOver => finished.after.or_else(|| beginning(&request)),
        Filled::Enough | Filled::GroupsOver => finished.after,
    };
    let partial = after
        .as_ref()
        .filter(|_| filled == Filled::TimeOver)
        .map(|after| Partial { reason: patience.reason, complete: passed_interval(&request, after) });
    Ok(ReadPage {
        next: after.map(|after| Resume {
            after,
            remaining: finished.remaining,
            scanned_bytes: visited.scanned_bytes(finished.at_edge, finished.again_bytes),
        }),
        events: finished.events,
        partial,
        retention_truncated: truncated(&dataset, request.interval, clock.wall()),
        partitions: visited.partitions,
        cost: visited.cost,
    })
}

/// What a page has read.
#[derive(Default)]
struct Visited<'a> {
    cost: Cost,
    slices: BTreeSet<i64>,
    partitions: Vec<PartitionBytes>,
    /// The group in which it ended.
    last: Option<GroupReader<'a>>,
}

impl<'a> Visited<'a> {
    fn add(&mut self, reader: GroupReader<'a>) {
        self.slices.insert(reader.group.layout.slice.start());
        self.cost.slices = self.slices.len() as u64;
        self.cost.partitions += reader.partitions();
        self.cost.bytes_read += reader.bytes;
        self.partitions.extend(reader.read_bytes().filter(|partition| partition.bytes > 0));
        self.last = Some(reader);
    }

    /// What the next page must know of the group in which this one ended.
    fn scanned_bytes(&self, at_edge: bool, again_bytes: u64) -> Vec<u64> {
        let last = self.last.as_ref().filter(|_| !at_edge);
        let scanned = last.map_or_else(Vec::new, |reader| reader.scanned_bytes(again_bytes));
        if scanned.iter().all(|bytes| *bytes == 0) { Vec::new() } else { scanned }
    }
}

fn check(request: &ReadRequest) -> Result<()> {
    if !(1..=PAGE_RECORDS_MAX).contains(&request.page_records) {
        return Err(Error::field(
            "page_size",
            format!("must be 1 to {PAGE_RECORDS_MAX}; ask for several pages"),
        ));
    }
    if !(1..=SERIES_MAX).contains(&request.series.len()) {
        let problem = format!("names {} series; name 1 to {SERIES_MAX}", request.series.len());
        return Err(Error::field("time_series_ids", problem));
    }
    Ok(())
}

/// How many events the page can have.
fn events_wanted(request: &ReadRequest) -> usize {
    let remaining = request.resume.as_ref().map_or(request.total_limit, |resume| resume.remaining);
    let remaining = remaining.and_then(|left| usize::try_from(left).ok()).unwrap_or(usize::MAX);
    request.page_records.min(remaining)
}

/// The groups that this page may visit, in the order of the read, and whether these are all that are left.
fn groups(dataset: &Dataset, request: &ReadRequest) -> (Vec<Group>, bool) {
    let interval = left_of(request);
    let cover = dataset.layouts.cover(interval);
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

/// Why a page takes no more rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filled {
    /// It is full, or has read as much as a page may.
    Enough,
    /// Nothing is left in the groups.
    GroupsOver,
    /// Its time is over.
    TimeOver,
}

/// Feeds the page with rows.
async fn fill<'a>(
    source: &Source<'a>,
    groups: Vec<Group>,
    page: &mut PageOfEvents<'_>,
    visited: &mut Visited<'a>,
    patience: &mut Patience<'_>,
) -> Result<Filled> {
    let ahead = read_ahead(source, &groups);
    let mut groups = groups.into_iter();
    // Most reads are answered by the first group, so nothing is read ahead of it.
    let first = stream::iter(groups.next()).then(|group| GroupReader::open(source, group));
    let rest = stream::iter(groups).map(|group| GroupReader::open(source, group)).buffered(ahead);
    let mut readers = std::pin::pin!(first.chain(rest));
    loop {
        let Some(reader) = patience.wait(readers.next()).await else { return Ok(Filled::TimeOver) };
        let Some(reader) = reader else { return Ok(Filled::GroupsOver) };
        let mut reader = reader?;
        let group = reader.group;
        let drained = drain(&mut reader, page, visited.cost.bytes_read, patience).await?;
        visited.add(reader);
        if drained != Filled::GroupsOver {
            return Ok(drained);
        }
        pass(page, &group, source.order);
        if page.wants() == Wants::Nothing || visited.cost.bytes_read >= SCAN_BYTES_MAX {
            return Ok(Filled::Enough);
        }
    }
}

/// Groups to read ahead: fewer where each has many partitions, because a page of every partition is held.
fn read_ahead(source: &Source<'_>, groups: &[Group]) -> usize {
    let buckets = groups.first().map_or(1, |group| usize::from(group.layout.shape.buckets_per_id));
    (PARTITIONS_AHEAD_MAX / (buckets * source.series.len()).max(1)).clamp(1, READ_AHEAD)
}

/// Feeds the page with the rows of one group.
async fn drain(
    reader: &mut GroupReader<'_>,
    page: &mut PageOfEvents<'_>,
    bytes_before: u64,
    patience: &mut Patience<'_>,
) -> Result<Filled> {
    let mut first = true;
    loop {
        if reader.has_to_wait() {
            let Some(settled) = patience.wait(reader.settle()).await else {
                page.abandon_event();
                return Ok(Filled::TimeOver);
            };
            settled?;
        } else {
            reader.settle().await?;
        }
        let Some(head) = reader.head() else { return Ok(Filled::GroupsOver) };
        if !page.goes_on_with(&head) {
            if !std::mem::take(&mut first) && bytes_before + reader.bytes >= SCAN_BYTES_MAX {
                return Ok(Filled::Enough);
            }
            page.close_event();
            if page.wants() == Wants::Nothing {
                return Ok(Filled::Enough);
            }
        }
        page.extend_event(&head);
        reader.take();
        if page.wants() == Wants::Nothing {
            return Ok(Filled::Enough);
        }
    }
}

/// Tells the page that a group is over.
fn pass(page: &mut PageOfEvents<'_>, group: &Group, order: Order) {
    let edge = match order {
        Order::OldestFirst => group.interval.end(),
        Order::NewestFirst => group.interval.start(),
    };
    if let Ok(time) = Timestamp::from_nanos(edge) {
        page.pass_time(time);
    }
}

/// Whether the interval reaches into time whose slices were dropped.
fn truncated(dataset: &Dataset, interval: Interval, now: i64) -> bool {
    let start = Timestamp::from_nanos(interval.start().max(0));
    let expired = |time: Timestamp| {
        let slice = dataset.timeline.slice_of(time);
        dataset.state_of(slice, now) == SliceState::Expired
    };
    !interval.is_empty() && start.is_ok_and(expired)
}
