//! Counting a time bucket by the headers of its chunks: where all of it is packed, nobody has to read what is in them.
//!
//! Partitions are counted side by side and not merged, so such a bucket is counted whole or not at all; then the ordinary read does it.

use std::collections::BTreeMap;
use std::sync::Arc;

use chunk::Header;
use futures::{StreamExt, TryStreamExt, stream};
use model::{Group, PartitionKey, TableRef};
use split::{CoverLayout, Leg, Place};
use store::Scan;

use super::group::Source;
use super::walk::Walk;
use crate::Result;
use crate::course::{Course, HeaderCourse};
use crate::route::{Choice, Entry};

/// Partitions of a bucket that are counted so.
const PARTITIONS_MAX: usize = 64;
/// Chunks of a bucket that are; more are read in pages that can end.
const CHUNKS_MAX: usize = 65_536;
/// Targets of a bucket that are counted at the same time: a page of headers of each is held.
const LEGS_AT_ONCE: usize = 4;
/// Bytes of headers that are asked for at once.
const PAGE_BYTES: u64 = 1 << 20;
/// Chunks that lie in two stretches, or not wholly inside of the read, are fetched one by one. So few of a target may be, or one of so
/// many that were met: else the ordinary read, which fetches many at once, is faster.
const TAKEN_APART_MIN: usize = 8;
const MET_FOR_EACH_TAKEN_APART: usize = 8;

/// What a taker wants to know of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counting {
    /// How many there are.
    Events,
    /// How many there are in each stretch of time of so many nanoseconds.
    Stretches(i64),
}

/// Events that were counted: by the start of their stretch, or all under 0.
pub(crate) type Counts = BTreeMap<i64, u64>;

impl Counting {
    fn stretch(self, time: i64) -> i64 {
        match self {
            Self::Events => 0,
            Self::Stretches(width) => time - time.rem_euclid(width.max(1)),
        }
    }

    /// The stretch that all events of a chunk lie in.
    fn stretch_of(self, header: &Header) -> Option<i64> {
        let [oldest, newest] =
            [&header.oldest, &header.newest].map(|key| self.stretch(key.event_time.nanos()));
        (oldest == newest).then_some(oldest)
    }
}

/// What was counted, and by which routes.
pub(super) struct Counted {
    pub(super) counts: Counts,
    pub(super) routes: Vec<(PartitionKey, Arc<Entry>)>,
    pub(super) targets: u64,
    pub(super) bytes: u64,
}

/// What was counted in one target, or in several.
#[derive(Default)]
struct CountedLegs {
    counts: Counts,
    bytes: u64,
    chunks: usize,
    /// Of these, how many a header was not enough for.
    taken_apart: usize,
}

impl CountedLegs {
    /// Whether the ordinary read does it better.
    const fn is_too_much(&self) -> bool {
        self.chunks > CHUNKS_MAX
            || self.taken_apart > TAKEN_APART_MIN + self.chunks / MET_FOR_EACH_TAKEN_APART
    }
}

/// A partition in its targets.
struct Packed {
    partition: PartitionKey,
    entry: Arc<Entry>,
    legs: Vec<Leg>,
}

impl Walk<'_> {
    /// Counts a bucket whose partitions are all packed; none where one is not, where headers are not enough for too many chunks, or
    /// where it takes so long that the ordinary read, which can end anywhere, has to have its turn.
    pub(super) async fn count_group(&mut self, group: &Group, counting: Counting) -> Result<Option<Counted>> {
        let Some(packed) = self.source.all_packed(group).await else { return Ok(None) };
        let source = self.source;
        let legs_of = |one: &Packed| one.legs.iter().map(|leg| source.headers(group, one, *leg)).collect();
        let legs: Vec<Vec<Scan>> = packed.iter().map(legs_of).collect();
        let targets = packed.iter().map(|one| one.legs.len() as u64).sum();
        let counted = source.count(legs.into_iter().flatten(), counting);
        let Some(counted) = self.patience.wait_half(counted).await else { return Ok(None) };
        let routes = packed.into_iter().map(|one| (one.partition, one.entry)).collect();
        let in_bucket =
            |legs: CountedLegs| Counted { counts: legs.counts, bytes: legs.bytes, targets, routes };
        Ok(counted?.map(in_bucket))
    }
}

impl Source<'_> {
    /// The partitions of a group, if all of them are read from packed targets alone.
    async fn all_packed(&self, group: &Group) -> Option<Vec<Packed>> {
        let keys = |series| group.partitions(series).map(|partition| partition.key);
        let partitions: Vec<PartitionKey> = self.series.iter().flat_map(keys).collect();
        if self.only.is_some() || partitions.is_empty() || partitions.len() > PARTITIONS_MAX {
            return None;
        }
        let mut packed = Vec::with_capacity(partitions.len());
        for partition in partitions {
            let routed = self.router.route(self.plan, self.dataset, &group.layout, &partition).await;
            let Choice::Targets(entry, cover) = routed.choice else { return None };
            let legs: Vec<Leg> = cover.ways(group.interval, self.order).into_iter().flatten().collect();
            let is_packed = matches!(cover.layout, CoverLayout::Packed { .. });
            if !is_packed || legs.iter().any(|leg| leg.place == Place::Origin) {
                return None;
            }
            packed.push(Packed { partition, entry, legs });
        }
        Some(packed)
    }

    /// Counts what scans meet in targets; none where that is too much.
    async fn count(
        &self,
        legs: impl Iterator<Item = Scan>,
        counting: Counting,
    ) -> Result<Option<CountedLegs>> {
        let legs = legs.map(|leg| self.count_leg(leg, counting));
        let mut counted = stream::iter(legs).buffer_unordered(LEGS_AT_ONCE);
        let mut all = CountedLegs::default();
        while let Some(leg) = counted.try_next().await? {
            if leg.is_too_much() {
                return Ok(None);
            }
            leg.counts.into_iter().for_each(|(at, events)| *all.counts.entry(at).or_default() += events);
            all.bytes += leg.bytes;
            all.chunks += leg.chunks;
            if all.chunks > CHUNKS_MAX {
                return Ok(None);
            }
        }
        Ok(Some(all))
    }

    /// Counts what a scan meets in one target, until that is too much.
    async fn count_leg(&self, scan: Scan, counting: Counting) -> Result<CountedLegs> {
        let mut counted = CountedLegs::default();
        let mut course: HeaderCourse = Course::headers(scan);
        while course.goes_on() && !counted.is_too_much() {
            let page = self.store.scan_headers(course.ask()).await?;
            counted.bytes += page.bytes;
            for (header, is_whole) in course.take(&page)? {
                counted.chunks += 1;
                if let Some(stretch) = counting.stretch_of(&header).filter(|_| is_whole) {
                    *counted.counts.entry(stretch).or_default() += u64::from(header.events);
                    continue;
                }
                counted.taken_apart += 1;
                if counted.is_too_much() {
                    return Ok(counted);
                }
                let body = self.store.scan(course.body_of(&header)).await?;
                counted.bytes += body.bytes;
                for time in course.times(&body)? {
                    *counted.counts.entry(counting.stretch(time)).or_default() += 1;
                }
            }
        }
        Ok(counted)
    }

    fn headers(&self, group: &Group, one: &Packed, leg: Leg) -> Scan {
        let event_bucket = match leg.place {
            Place::Target(event_bucket) => event_bucket,
            Place::Origin => one.partition.event_bucket,
        };
        let table: TableRef = self.dataset.wide_table(&group.layout);
        Scan {
            table,
            partition: PartitionKey { event_bucket, ..one.partition.clone() },
            order: self.order,
            interval: leg.interval,
            from: self.from(group, &one.partition),
            rows_max: 1,
            bytes_max: PAGE_BYTES,
            consistency: self.dataset.namespace.spec.consistency,
            hedge_after: self.dataset.namespace.spec.hedge_after(),
            ahead: false,
        }
    }
}
