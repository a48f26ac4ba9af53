//! One page of a read.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream;
use model::{Group, Interval, Order, Timestamp};
use store::Store;

use super::events::{PageOfEvents, Wants};
use super::group::{GroupReader, Source};
use crate::catalog::{Catalog, Dataset};
use crate::{
    Cost, Error, FILTERS_MAX, PAGE_RECORDS_MAX, PartitionBytes, ReadPage, ReadRequest, Result, Resume,
    SliceState,
};

/// Partitions that one page visits at most; then it ends with a token.
const PARTITIONS_MAX: usize = 4_096;
/// Bytes that one page reads at most, but for the event it is in; then it ends with a token.
const SCAN_BYTES_MAX: u64 = 64 << 20;
/// Groups read ahead behind the first.
const READ_AHEAD: usize = 4;

/// Reads one page.
pub(crate) async fn read_page(
    catalog: &Catalog,
    store: &Arc<dyn Store>,
    now: i64,
    request: ReadRequest,
) -> Result<ReadPage> {
    check(&request)?;
    let dataset = catalog.find(&request.namespace)?;
    let (groups, whole) = groups(&dataset, &request);
    let source = Source {
        store,
        dataset: &dataset,
        series: &request.series,
        order: request.order,
        resume: request.resume.as_ref(),
        rows_hint: events_wanted(&request) + 1,
    };
    let mut page = PageOfEvents::new(&request);
    let mut visited = Visited::default();
    let ended = fill(&source, groups, &mut page, &mut visited).await? && whole;
    let finished = page.finish(ended);
    Ok(ReadPage {
        next: finished.after.map(|after| Resume {
            after,
            remaining: finished.remaining,
            scanned_bytes: visited.scanned_bytes(finished.at_edge, finished.again_bytes),
        }),
        events: finished.events,
        retention_truncated: truncated(&dataset, request.interval, now),
        partitions: visited.partitions,
        cost: visited.cost,
    })
}

/// What a page has read.
#[derive(Default)]
struct Visited {
    cost: Cost,
    slices: BTreeSet<i64>,
    partitions: Vec<PartitionBytes>,
    /// The group in which it ended.
    last: Option<GroupReader>,
}

impl Visited {
    fn add(&mut self, reader: GroupReader) {
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
    if request.filters.len() > FILTERS_MAX {
        return Err(Error::field("event_filters", format!("at most {FILTERS_MAX} are allowed; send fewer")));
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
        partitions += usize::from(group.layout.shape.buckets_per_id);
        groups.push(group);
        if partitions >= PARTITIONS_MAX {
            break;
        }
    }
    let whole = cover.next().is_none();
    (groups, whole)
}

/// The part of the interval that earlier pages have not passed.
fn left_of(request: &ReadRequest) -> Interval {
    let Some(resume) = &request.resume else { return request.interval };
    let at = resume.after.event_time.nanos();
    // No event has an empty id: such a position lies before all that happened at its time.
    let is_edge = resume.after.event_id.as_bytes().is_empty();
    let left = match request.order {
        Order::OldestFirst => Interval::new(at, i64::MAX),
        Order::NewestFirst => Interval::new(0, if is_edge { at } else { at + 1 }),
    };
    left.map_or(request.interval, |left| left.intersect(request.interval))
}

/// Feeds the page with rows until it wants no more; whether the groups ended before that.
async fn fill(
    source: &Source<'_>,
    groups: Vec<Group>,
    page: &mut PageOfEvents<'_>,
    visited: &mut Visited,
) -> Result<bool> {
    let mut groups = groups.into_iter();
    // Most reads are answered by the first group, so nothing is read ahead of it.
    let first = stream::iter(groups.next()).then(|group| GroupReader::open(source, group));
    let rest = stream::iter(groups).map(|group| GroupReader::open(source, group)).buffered(READ_AHEAD);
    let mut readers = std::pin::pin!(first.chain(rest));
    while let Some(reader) = readers.next().await {
        let mut reader = reader?;
        let group = reader.group;
        let wants = drain(&mut reader, page, visited.cost.bytes_read).await?;
        visited.add(reader);
        if wants == Wants::Nothing {
            return Ok(false);
        }
        pass(page, &group, source.order);
        if page.wants() == Wants::Nothing || visited.cost.bytes_read >= SCAN_BYTES_MAX {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn drain(reader: &mut GroupReader, page: &mut PageOfEvents<'_>, bytes_before: u64) -> Result<Wants> {
    let mut first = true;
    loop {
        reader.settle().await?;
        let Some(head) = reader.head() else { return Ok(Wants::More) };
        if !page.goes_on_with(&head.view) {
            if !std::mem::take(&mut first) && bytes_before + reader.bytes >= SCAN_BYTES_MAX {
                return Ok(Wants::Nothing);
            }
            page.close_event();
            if page.wants() == Wants::Nothing {
                return Ok(Wants::Nothing);
            }
        }
        page.extend_event(&head);
        reader.take();
        if page.wants() == Wants::Nothing {
            return Ok(Wants::Nothing);
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
