//! One page of a read.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream;
use model::{Group, Interval, Order, RowKey, Timestamp};
use store::Store;

use super::events::{PageOfEvents, Wants};
use super::group::{GroupReader, Source};
use crate::catalog::{Catalog, Dataset};
use crate::{Cost, Error, FILTERS_MAX, PAGE_RECORDS_MAX, ReadPage, ReadRequest, Result, SliceState};

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
    let from = request.resume.as_ref().map_or(Bound::Unbounded, |resume| {
        let after = resume.after.clone();
        Bound::Excluded(RowKey {
            event_time: after.event_time,
            event_id: after.event_id,
            item_key: after.item_key,
        })
    });
    let source = Source {
        store,
        dataset: &dataset,
        series: &request.series,
        order: request.order,
        from,
        rows_hint: request.page_records + 1,
    };
    let mut page = PageOfEvents::new(&request);
    let mut cost = Cost::default();
    let ended = fill(&source, groups, &mut page, &mut cost).await? && whole;
    let (events, next) = page.finish(ended);
    let retention_truncated = truncated(&dataset, request.interval, now);
    Ok(ReadPage { events, next, retention_truncated, cost })
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
    let left = match request.order {
        Order::OldestFirst => Interval::new(at, i64::MAX),
        Order::NewestFirst => Interval::new(0, at + 1),
    };
    left.map_or(request.interval, |left| left.intersect(request.interval))
}

/// Feeds the page with rows until it wants no more; whether the groups ended before that.
async fn fill(
    source: &Source<'_>,
    groups: Vec<Group>,
    page: &mut PageOfEvents<'_>,
    cost: &mut Cost,
) -> Result<bool> {
    let mut slices = BTreeSet::new();
    let mut groups = groups.into_iter();
    // Most reads are answered by the first group, so nothing is read ahead of it.
    let first = stream::iter(groups.next()).then(|group| GroupReader::open(source, group));
    let rest = stream::iter(groups).map(|group| GroupReader::open(source, group)).buffered(READ_AHEAD);
    let mut readers = std::pin::pin!(first.chain(rest));
    while let Some(reader) = readers.next().await {
        let mut reader = reader?;
        slices.insert(reader.group.layout.slice.start());
        let wants = drain(&mut reader, page, cost.bytes_read).await?;
        cost.partitions += reader.partitions();
        cost.bytes_read += reader.bytes();
        cost.slices = slices.len() as u64;
        if wants == Wants::Nothing {
            return Ok(false);
        }
        pass(page, &reader.group, source.order);
        if page.wants() == Wants::Nothing || cost.bytes_read >= SCAN_BYTES_MAX {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn drain(reader: &mut GroupReader, page: &mut PageOfEvents<'_>, bytes_before: u64) -> Result<Wants> {
    let mut last_event = None;
    while let Some(row) = reader.next().await? {
        let event = (row.key.event_time, row.key.event_id.clone());
        let new_event = last_event.as_ref() != Some(&event);
        if new_event && last_event.is_some() && bytes_before + reader.bytes() >= SCAN_BYTES_MAX {
            return Ok(Wants::Nothing);
        }
        last_event = Some(event);
        if page.add(row) == Wants::Nothing {
            return Ok(Wants::Nothing);
        }
    }
    Ok(Wants::More)
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
