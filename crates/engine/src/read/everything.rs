//! A read without series: slice by slice, inside of each partition by partition in the store's own order.
//!
//! An event lies in one partition, so each comes once. The place of the read is a partition and a row in it; partitions that were
//! passed over (another time, a blocked series) move it on as well.

use futures::{StreamExt, stream};
use model::{Group, Interval, Layout, Order, PartitionKey, SeriesId, Timestamp};
use store::Enumerate;

use super::group::GroupReader;
use super::take::{Edge, Taker, edge};
use super::walk::{Filled, PARTITIONS_MAX, Reading, Walk};
use crate::block::Access;
use crate::{Error, ReadRequest, Result};

/// Partitions that are listed at a time.
const LISTED_AT_ONCE: usize = 256;
/// Partitions that one page lists at most, of which it may read none.
const LISTED_MAX: usize = 65_536;
/// Partitions that are opened at the same time.
const FAN_OUT: usize = 8;
/// A position needs a series; between two slices it means none.
const NO_SERIES: &str = "-";

impl Walk<'_> {
    /// Feeds the taker with the rows of all series.
    pub(super) async fn by_partition(&mut self, taker: &mut impl Taker) -> Result<Filled> {
        let reading = self.reading;
        let mut listed = 0;
        for layout in slices_left(reading) {
            let (mut after, rest) = place_in(reading.request, &layout);
            let filled = self.read(&layout, rest.into_iter().collect(), taker).await?;
            if filled != Filled::Over {
                return Ok(filled);
            }
            loop {
                let table = reading.dataset.table(&layout);
                let request = Enumerate {
                    table,
                    after: after.clone(),
                    partitions_max: LISTED_AT_ONCE,
                    consistency: reading.dataset.namespace.spec.consistency,
                };
                let Some(page) = self.patience.wait(reading.store.enumerate(request)).await else {
                    return Ok(Filled::TimeOver);
                };
                let page = page?;
                listed += page.partitions.len();
                after = page.partitions.last().cloned().or(after);
                let filled = self.read(&layout, page.partitions, taker).await?;
                if filled != Filled::Over {
                    return Ok(filled);
                }
                if !page.more {
                    break;
                }
                // All that were listed are done with, also those that were passed over.
                if let Some(edge) = after.as_ref().and_then(|last| behind(&layout, last)) {
                    taker.pass(edge);
                }
                let visited = usize::try_from(self.visited.cost.partitions).unwrap_or(usize::MAX);
                if visited >= PARTITIONS_MAX || listed >= LISTED_MAX {
                    return Ok(Filled::Limit);
                }
            }
            if let Some(edge) = between(&layout, reading.request.order) {
                taker.pass(edge);
            }
            let filled = self.between(taker);
            if filled != Filled::Over {
                return Ok(filled);
            }
        }
        Ok(Filled::Over)
    }

    /// Reads those of the partitions of one slice that are asked for, one after the other.
    async fn read(
        &mut self,
        layout: &Layout,
        partitions: Vec<PartitionKey>,
        taker: &mut impl Taker,
    ) -> Result<Filled> {
        let partitions = self.asked_for(layout, partitions);
        let (source, interval) = (self.source, self.reading.request.interval);
        let opened = stream::iter(partitions).enumerate().map(|(number, partition)| {
            let group = group_of(layout, partition.time_bucket, interval);
            // The first is waited for at once; from the others the read looks away to use its rows.
            GroupReader::open_partitions(&source, group, vec![partition], number > 0)
        });
        let mut opened = std::pin::pin!(opened.buffered(FAN_OUT));
        loop {
            let Some(reader) = self.patience.wait(opened.next()).await else { return Ok(Filled::TimeOver) };
            let Some(reader) = reader else { return Ok(Filled::Over) };
            let reader = reader?;
            let edge = reader.only().and_then(|partition| behind(layout, partition));
            let filled = self.drain(reader, taker, || edge).await?;
            if filled != Filled::Over {
                return Ok(filled);
            }
        }
    }

    /// Of the partitions that were listed, those of the interval whose series are not blocked.
    fn asked_for(&mut self, layout: &Layout, mut partitions: Vec<PartitionKey>) -> Vec<PartitionKey> {
        let (reading, now) = (self.reading, self.reading.clock.wall());
        partitions.retain(|partition| {
            if group_of(layout, partition.time_bucket, reading.request.interval).interval.is_empty() {
                return false;
            }
            let access = reading.dataset.check_access(&partition.series, now, Access::Read);
            self.visited.cost.blocked_partitions += u64::from(access.is_err());
            access.is_ok()
        });
        partitions
    }
}

/// The slices that may have something left, in the order of the read.
fn slices_left(reading: &Reading<'_>) -> Vec<Layout> {
    let request = reading.request;
    let at = request.resume.as_ref().map(|resume| resume.after.event_time.nanos());
    let meets = |layout: &&Layout| {
        let slice = layout.slice;
        let left = match (request.order, at) {
            (_, None) => true,
            (Order::OldestFirst, Some(at)) => slice.end() > at,
            // Between slices the place is the start of the one that is done with.
            (Order::NewestFirst, Some(at)) => {
                slice.start() < at || (slice.start() == at && !is_between(request))
            }
        };
        left && !slice.interval().intersect(request.interval).is_empty()
    };
    let mut slices: Vec<Layout> = reading.dataset.layouts.iter().filter(meets).copied().collect();
    if request.order == Order::NewestFirst {
        slices.reverse();
    }
    slices
}

fn is_between(request: &ReadRequest) -> bool {
    request.resume.as_ref().is_some_and(|resume| resume.event_bucket.is_none())
}

/// Behind which partition of a slice to go on, and which one has a rest before that.
fn place_in(request: &ReadRequest, layout: &Layout) -> (Option<PartitionKey>, Option<PartitionKey>) {
    let place = request.resume.as_ref().and_then(|resume| {
        let time_bucket = layout.time_bucket(resume.after.event_time)?;
        let series = resume.after.series.clone();
        Some((PartitionKey { series, time_bucket, event_bucket: resume.event_bucket? }, resume))
    });
    let Some((partition, resume)) = place else { return (None, None) };
    let is_done = resume.after.event_id.as_bytes().is_empty();
    let rest = (!is_done).then(|| partition.clone());
    (Some(partition), rest)
}

fn group_of(layout: &Layout, time_bucket: u32, interval: Interval) -> Group {
    let interval = layout.bucket_interval(time_bucket).intersect(interval);
    Group { layout: *layout, time_bucket, interval }
}

/// Nothing is left of a partition.
fn behind(layout: &Layout, partition: &PartitionKey) -> Option<Edge> {
    let start = layout.bucket_interval(partition.time_bucket).start();
    let position = edge(Timestamp::from_nanos(start).ok()?, &partition.series);
    Some(Edge { position, event_bucket: Some(partition.event_bucket) })
}

/// Nothing is left of a slice.
fn between(layout: &Layout, order: Order) -> Option<Edge> {
    let time = match order {
        Order::OldestFirst => layout.slice.end(),
        Order::NewestFirst => layout.slice.start(),
    };
    Some(Edge { position: edge(Timestamp::from_nanos(time).ok()?, &no_series().ok()?), event_bucket: None })
}

/// Stands for no series in a position between two slices.
pub(super) fn no_series() -> Result<SeriesId> {
    SeriesId::new(NO_SERIES).map_err(Error::from)
}
