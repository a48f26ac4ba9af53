//! Looking at slices: the sizes of their partitions, and what series hold of them.
//!
//! A store on one machine is read, partition by partition: exact, once for every closed slice. Of a cluster only keys are read, and
//! sizes come from what its nodes know; who wants it exact asks for it.

use ::tune::{Counted, Observation, SAMPLE_ENTRIES_MAX, Walk};
use futures::stream::{self, StreamExt, TryStreamExt};
use model::{HistogramQuality, Layout, PartitionKey, SizeHistogram};
use store::{Effort, Enumerate, ErrorKind, Histogram, HistogramSource};

use super::records::{Kept, OBSERVATIONS_KEPT, incarnation};
use super::tuner::Tuner;
use crate::Result;
use crate::catalog::{Dataset, MARGIN, nanos};
use crate::split::{Pages, Part};

/// Slices that one look walks over.
const SLICES_PER_LOOK: usize = 8;
/// Partitions of a slice that a walk goes over; a slice with more is not summed up.
const PARTITIONS_MAX: u64 = 2_000_000;
/// Partitions that are listed at once.
const PARTITIONS_PER_PAGE: usize = 1_000;
/// Partitions that are read at a time.
const READ_AT_ONCE: usize = 4;
/// From this width on, closed buckets of an open slice are looked at.
const LONG_SLICE_SECONDS: u32 = 3 * 86_400;
/// An open slice is looked at so often.
const OPEN_EVERY_SECONDS: i64 = 86_400;
/// Sizes that may still get better, as files are compacted, are looked at so often...
const BETTER_EVERY_SECONDS: i64 = 3_600;
/// ...for so long after the end of their slice.
const BETTER_FOR_SECONDS: i64 = 2 * 86_400;
/// The newest slices are those that decisions rest on.
const NEWEST_SLICES: usize = 3;

/// How a look is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thoroughly {
    /// What is new, a few slices at a time.
    No,
    /// All that is new, because somebody asks.
    Asked,
    /// The same, and the newest slices by reading all of them.
    Measured,
}

/// A slice to look at.
#[derive(Clone, Copy, Debug)]
struct Due {
    layout: Layout,
    covered_seconds: u32,
    expected: Option<store::MetaVersion>,
    measure: bool,
}

impl Tuner {
    /// Looks at slices of a namespace that were closed since, and gives back all that is known, oldest first.
    pub(super) async fn observe(
        &self,
        dataset: &Dataset,
        thoroughly: Thoroughly,
    ) -> Result<Vec<Kept<Observation>>> {
        let which = incarnation(dataset);
        let known = self.catalog.observations(&which).await?;
        let closed = self.closed_for(dataset, thoroughly).await?;
        let due = self.due(dataset, &known, closed, thoroughly);
        if due.is_empty() {
            return Ok(known);
        }
        for due in due {
            if let Some(seen) = self.observe_slice(dataset, &due).await? {
                self.catalog.keep_observation(&which, &seen, due.expected).await?;
            }
        }
        self.catalog.trim_observations(&which).await?;
        self.catalog.observations(&which).await
    }

    /// Up to where time is closed; of a long slice, or where somebody asks, as far as it can be.
    async fn closed_for(&self, dataset: &Dataset, thoroughly: Thoroughly) -> Result<i64> {
        let (closed, now) = (dataset.record.closed, self.catalog.env.clock.wall());
        if thoroughly != Thoroughly::No {
            return self.catalog.close_time(&dataset.namespace.name, now).await;
        }
        let accept = dataset.base_accept();
        let Some(open) =
            dataset.layouts.iter().find(|layout| (layout.slice.start()..layout.slice.end()).contains(&now))
        else {
            return Ok(closed);
        };
        let width = seconds(open.slice.end() - open.slice.start());
        if width < LONG_SLICE_SECONDS || accept.is_zero() {
            return Ok(closed);
        }
        let sure = now.saturating_sub(nanos(accept)).saturating_sub(nanos(MARGIN));
        let bucket = open.shape.bucket_nanos();
        let wanted = open.slice.start() + (sure - open.slice.start()).max(0) / bucket * bucket;
        let enough = i64::from(LONG_SLICE_SECONDS) * model::time::NANOS_PER_SECOND;
        if wanted - open.slice.start() < enough || wanted <= closed {
            return Ok(closed);
        }
        self.catalog.close_time(&dataset.namespace.name, wanted).await
    }

    /// What to look at, newest first.
    fn due(
        &self,
        dataset: &Dataset,
        known: &[Kept<Observation>],
        closed: i64,
        thoroughly: Thoroughly,
    ) -> Vec<Due> {
        let now = self.catalog.env.clock.wall();
        let reopened = |layout: &Layout| {
            let (start, end) = (layout.slice.start(), layout.slice.end());
            dataset.record.reopened.iter().any(|range| range.start < end && start < range.end)
        };
        let begun = |layout: &&Layout| layout.slice.start() < closed && !reopened(layout);
        let mut layouts: Vec<&Layout> = dataset.layouts.iter().filter(begun).collect();
        layouts.sort_by_key(|layout| std::cmp::Reverse(layout.slice.start()));
        let of = |(at, layout): (usize, &&Layout)| {
            let due = covered(layout, closed, known);
            let seen = known.iter().find(|kept| kept.of.start == layout.slice.start()).map(|kept| &kept.of);
            let age = seen.map_or(i64::MAX, |seen| (now - seen.observed) / model::time::NANOS_PER_SECOND);
            let newest = at < NEWEST_SLICES;
            let measure = newest && thoroughly == Thoroughly::Measured;
            let is_due = match seen {
                None => due.covered_seconds > 0,
                Some(seen) if measure => seen.quality != HistogramQuality::Exact,
                Some(seen) if seen.covered_seconds < due.covered_seconds => {
                    due.covered_seconds == slice_seconds(layout) || age >= OPEN_EVERY_SECONDS
                }
                Some(seen) => {
                    let since_end = (now - layout.slice.end()) / model::time::NANOS_PER_SECOND;
                    newest
                        && seen.quality != HistogramQuality::Exact
                        && age >= BETTER_EVERY_SECONDS
                        && since_end <= BETTER_FOR_SECONDS
                }
            };
            is_due.then_some(Due { measure, ..due })
        };
        let most = if thoroughly == Thoroughly::No { SLICES_PER_LOOK } else { OBSERVATIONS_KEPT };
        layouts.iter().take(OBSERVATIONS_KEPT).enumerate().filter_map(of).take(most).collect()
    }

    /// Looks at one slice; none if it is gone.
    async fn observe_slice(&self, dataset: &Dataset, due: &Due) -> Result<Option<Observation>> {
        let (layout, table) = (due.layout, dataset.table(&due.layout));
        let known = match self.catalog.store.histogram(&table, Effort::Cheap).await {
            Ok(known) => known,
            Err(error) if error.kind() == ErrorKind::NoTable => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let is_local = matches!(known.source, HistogramSource::Scan | HistogramSource::Counters);
        let counted = if is_local || due.measure { Counted::Bytes } else { Counted::Partitions };
        let walk = match self.walk(dataset, due, counted).await {
            Ok(walk) => walk,
            Err(error) if error.kind() == ErrorKind::NoTable => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let (width, bucket) = (slice_seconds(&layout), layout.shape.seconds_per_bucket);
        let walked = walk.map(|walk| walk.finish(width, bucket, due.covered_seconds));
        let found =
            sizes(known, counted, walked.as_ref().map(|(sizes, _)| sizes), due.covered_seconds < width);
        Ok(Some(Observation {
            table: table.name.as_str().to_owned(),
            start: layout.slice.start(),
            seconds_per_slice: width,
            seconds_per_bucket: bucket,
            buckets_per_id: layout.shape.buckets_per_id,
            covered_seconds: due.covered_seconds,
            observed: self.catalog.env.clock.wall(),
            quality: found.quality,
            source: found.source.as_str().to_owned(),
            nodes_missing: u32::try_from(found.nodes_missing).unwrap_or(u32::MAX),
            summary: found.summary,
            sizes: found.sizes,
            series: walked.map(|(_, series)| series),
        }))
    }

    /// Goes over the partitions of what is covered; none where there are too many.
    async fn walk(&self, dataset: &Dataset, due: &Due, counted: Counted) -> store::Result<Option<Walk>> {
        let consistency = dataset.namespace.spec.consistency;
        let mut request = Enumerate {
            table: dataset.table(&due.layout),
            after: None,
            partitions_max: PARTITIONS_PER_PAGE,
            consistency,
        };
        let buckets = due.covered_seconds / due.layout.shape.seconds_per_bucket.max(1);
        let mut walk = Walk::new(counted, SAMPLE_ENTRIES_MAX);
        loop {
            let page = self.catalog.store.enumerate(request.clone()).await?;
            request.after = page.partitions.last().cloned();
            let covered = page.partitions.into_iter().filter(|partition| partition.time_bucket < buckets);
            let read = covered.map(|partition| self.sized(&request, partition, counted));
            let sized: Vec<(PartitionKey, u64)> =
                stream::iter(read).buffered(READ_AT_ONCE).try_collect().await?;
            sized.iter().for_each(|(partition, bytes)| walk.add(partition, *bytes));
            if walk.partitions() > PARTITIONS_MAX {
                return Ok(None);
            }
            if !page.more {
                return Ok(Some(walk));
            }
        }
    }

    /// A partition with its bytes, where these count.
    async fn sized(
        &self,
        of: &Enumerate,
        partition: PartitionKey,
        counted: Counted,
    ) -> store::Result<(PartitionKey, u64)> {
        if counted == Counted::Partitions {
            return Ok((partition, 0));
        }
        let interval = model::Interval::ALL;
        let part = Part {
            table: of.table.clone(),
            partition: partition.clone(),
            interval,
            consistency: of.consistency,
            layout: split::CoverLayout::Rows,
        };
        let mut pages = Pages::all(&self.catalog.store, part);
        let mut bytes = 0;
        while let Some(page) = pages.next().await? {
            bytes += page.bytes;
            self.throttle.take(&*self.catalog.env.clock, page.bytes).await;
        }
        Ok((partition, bytes))
    }
}

/// The sizes that count: those that were read, else those that the store knows. What it knows of a whole table says less of a part.
fn sizes(known: Histogram, counted: Counted, read: Option<&SizeHistogram>, is_part: bool) -> Histogram {
    match read {
        Some(read) if counted == Counted::Bytes => Histogram::exact(read.clone()),
        _ if is_part => Histogram { quality: HistogramQuality::Estimated, ..known },
        _ => known,
    }
}

/// How much of a slice is closed, in whole buckets.
fn covered(layout: &Layout, closed: i64, known: &[Kept<Observation>]) -> Due {
    let slice = layout.slice;
    let bucket = layout.shape.bucket_nanos();
    let span = (closed.min(slice.end()) - slice.start()).max(0) / bucket * bucket;
    let expected = known.iter().find(|kept| kept.of.start == slice.start()).map(|kept| kept.version);
    // A short slice counts when it is over.
    let whole = closed >= slice.end();
    let long = seconds(span) >= LONG_SLICE_SECONDS;
    let covered_seconds = if whole || long { seconds(span) } else { 0 };
    Due { layout: *layout, covered_seconds, expected, measure: false }
}

fn slice_seconds(layout: &Layout) -> u32 {
    seconds(layout.slice.end() - layout.slice.start())
}

fn seconds(nanos: i64) -> u32 {
    u32::try_from(nanos / model::time::NANOS_PER_SECOND).unwrap_or(u32::MAX)
}
