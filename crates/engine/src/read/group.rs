//! One group: the partitions of a time bucket, read in parallel and merged into one order.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;

use env::Clock;
use futures::future::try_join_all;
use futures::{StreamExt, TryStreamExt, stream};
use model::{Group, Order, PartitionKey, RowKey, SeriesId};
use split::{CoverLayout, Leg, Place};
use store::{Scan, Store};

use super::need::{Need, rows_to_ask};
use super::only::Only;
use super::partition::{Head, Part, PartitionReader, Taken};
use super::take::{before_items, behind_items};
use crate::catalog::Dataset;
use crate::query::Matcher;
use crate::route::{Choice, Plan, Routed, Router};
use crate::{Error, Reason, Result, Resume};

/// Partitions that a group may have: one page of each is held.
const PARTITIONS_MAX: usize = 512;
/// Partitions of a group that are opened at the same time.
const FAN_OUT: usize = 8;
/// Bytes that all first pages of a group may have together.
const GROUP_BYTES: u64 = 2 << 20;
/// Bytes that a partition's page has at least, where they are few, and where they are many.
const PARTITION_BYTES_MIN: u64 = 64 << 10;
const PARTITION_BYTES_FLOOR: u64 = 8 << 10;
/// So many are few.
const FEW_PARTITIONS: usize = 16;

/// Where a row stands in the total order: time, event, series, item.
type Key<'a> = (i64, &'a [u8], &'a [u8], &'a [u8]);

/// What all groups of one read share.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) store: &'a Arc<dyn Store>,
    pub(super) clock: &'a Arc<dyn Clock>,
    pub(super) dataset: &'a Dataset,
    pub(super) series: &'a [SeriesId],
    pub(super) order: Order,
    pub(super) resume: Option<&'a Resume>,
    /// Rows that the page has room for, if each event has one.
    pub(super) rows_hint: usize,
    /// It takes all that it reads, so it also ends with its bytes.
    pub(super) takes_all: bool,
    /// Which events are wanted; none for all.
    pub(super) filter: Option<&'a Arc<Matcher>>,
    pub(super) router: &'a Router,
    pub(super) plan: &'a Plan,
    /// Of which partitions; none for all.
    pub(super) only: Option<&'a Only>,
}

/// How the partitions of a group are read.
#[derive(Clone, Copy)]
struct Measure {
    partitions: usize,
    /// What is needed of each.
    need: Need,
    /// Bytes of the first page of each.
    bytes_max: u64,
    ahead: bool,
}

impl Source<'_> {
    /// Where the rows of a partition go on.
    pub(super) fn from(&self, group: &Group, partition: &PartitionKey) -> Bound<RowKey> {
        let Some(resume) = self.resume else { return Bound::Unbounded };
        let after = &resume.after;
        let item_key = if self.series.is_empty() {
            if !stands_in(resume, group, partition) {
                return Bound::Unbounded;
            }
            after.item_key.clone()
        } else {
            // The position is behind a row of one series; at its time and event, those before it in the order of the read are
            // done, and those behind it have not begun.
            match self.order.compare(&partition.series.as_str(), &after.series.as_str()) {
                Ordering::Equal => after.item_key.clone(),
                Ordering::Less => behind_items(self.order),
                Ordering::Greater => before_items(self.order),
            }
        };
        let (event_time, event_id) = (after.event_time, after.event_id.clone());
        Bound::Excluded(RowKey { event_time, event_id, item_key })
    }

    /// Finds out where a partition is read, and reads the first page of each part.
    async fn open(
        &self,
        group: &Group,
        partition: PartitionKey,
        measure: Measure,
    ) -> Result<(Visit, Vec<PartitionReader>)> {
        let mut routed = self.router.route(self.plan, self.dataset, &group.layout, &partition).await;
        let here = || vec![vec![Leg { place: Place::Origin, interval: group.interval }]];
        let (mut ways, layout) = match &routed.choice {
            Choice::Targets(_, cover) => (cover.ways(group.interval, self.order), cover.layout),
            _ => (here(), CoverLayout::Rows),
        };
        if ways.len() > PARTITIONS_MAX / measure.partitions {
            // A page of each is held.
            (routed.choice, ways) = (Choice::Origin, here());
        }
        let count = ways.len();
        let share = Measure {
            need: measure.need.share(count),
            bytes_max: (measure.bytes_max / count as u64).max(PARTITION_BYTES_FLOOR),
            ..measure
        };
        let mut opened = ways.into_iter().map(|legs| self.open_way(group, &partition, (legs, layout), share));
        let readers = match (count, opened.next()) {
            (1, Some(only)) => vec![only.await?],
            (_, first) => try_join_all(first.into_iter().chain(opened)).await?,
        };
        Ok((Visit { partition, routed, scanned_before: 0 }, readers))
    }

    /// Reads the first page of parts that follow each other.
    async fn open_way(
        &self,
        group: &Group,
        partition: &PartitionKey,
        (legs, layout): (Vec<Leg>, CoverLayout),
        measure: Measure,
    ) -> Result<PartitionReader> {
        let part = |leg: Leg| match leg.place {
            Place::Origin => Part {
                place: leg.place,
                table: self.dataset.table(&group.layout),
                partition: partition.clone(),
                interval: leg.interval,
                layout: CoverLayout::Rows,
            },
            Place::Target(event_bucket) => Part {
                place: leg.place,
                table: self.dataset.wide_table(&group.layout),
                partition: PartitionKey { event_bucket, ..partition.clone() },
                interval: leg.interval,
                layout,
            },
        };
        let mut rest: VecDeque<Part> = legs.into_iter().map(part).collect();
        let whole = Leg { place: Place::Origin, interval: group.interval };
        let Part { place, table, partition: first, interval, layout } =
            rest.pop_front().unwrap_or_else(|| part(whole));
        let from = self.from(group, partition);
        #[cfg(feature = "seeded-bugs")]
        let from = if self.misreads(group, partition, &first) { Bound::Unbounded } else { from };
        let scan = Scan {
            table,
            order: self.order,
            interval,
            from,
            partition: first,
            rows_max: rows_to_ask(measure.need.rows()).min(self.rows_hint),
            bytes_max: measure.bytes_max,
            consistency: self.dataset.namespace.spec.consistency,
            hedge_after: self.dataset.namespace.spec.hedge_after(),
            ahead: measure.ahead,
        };
        let outside = (Arc::clone(self.store), Arc::clone(self.clock));
        let begun = match (&scan.from, layout) {
            (Bound::Excluded(place), CoverLayout::Packed { .. }) => {
                self.router.chunks.take(&scan.table, &scan.partition, place)
            }
            _ => None,
        };
        let wanted = (measure.need, self.filter.cloned(), begun);
        let reader = PartitionReader::open(outside, (scan, place, layout), rest, wanted).await?;
        #[cfg(feature = "seeded-bugs")]
        let reader = if self.mixes() { reader.beside(part(whole)) } else { reader };
        Ok(reader)
    }

    /// Bytes that earlier pages have read from `partitions` of `group`.
    fn scanned_before(&self, group: &Group, partitions: &[PartitionKey]) -> Vec<u64> {
        let here = |resume: &&Resume| {
            let bucket = group.layout.time_bucket(resume.after.event_time);
            // A token has room for the partitions of one series.
            let known = match (self.series, partitions) {
                ([], [one]) => stands_in(resume, group, one),
                ([_], _) => bucket == Some(group.time_bucket),
                _ => false,
            };
            known && resume.scanned_bytes.len() == partitions.len()
        };
        let known = self.resume.filter(here);
        known.map_or_else(|| vec![0; partitions.len()], |resume| resume.scanned_bytes.clone())
    }
}

/// Whether a read by partition stands inside of this one.
pub(super) fn stands_in(resume: &Resume, group: &Group, partition: &PartitionKey) -> bool {
    let after = &resume.after;
    after.series == partition.series
        && resume.event_bucket == Some(partition.event_bucket)
        && group.layout.time_bucket(after.event_time) == Some(partition.time_bucket)
}

/// A partition of the group: how it is read, and by whom.
pub(super) struct Visit {
    pub(super) partition: PartitionKey,
    pub(super) routed: Routed,
    /// Bytes that earlier pages have read of it.
    pub(super) scanned_before: u64,
}

/// A group whose rows come merged.
pub(super) struct GroupReader {
    pub(super) group: Group,
    /// One per event bucket of each series.
    pub(super) visits: Vec<Visit>,
    /// One for each of them, or several where it was split; with the place of its partition.
    pub(super) readers: Vec<(usize, PartitionReader)>,
    /// Readers that have a row, the one with the next row last. So as long as one partition goes on, a row costs one
    /// comparison with the runner-up, and none where no other is left.
    turns: Vec<usize>,
    /// Whose row was taken last.
    pub(super) last: Option<usize>,
    /// That one is still the last of `turns` and may belong elsewhere.
    unsettled: bool,
    order: Order,
    /// Logical bytes that the store read.
    pub(super) bytes: u64,
}

impl GroupReader {
    /// Reads the first page of every partition of the group; `ahead` of need where the future may be left unpolled.
    pub(super) async fn open(source: &Source<'_>, group: Group, ahead: bool) -> Result<Self> {
        let keys = |series| group.partitions(series).map(|partition| partition.key);
        let mut partitions: Vec<_> = source.series.iter().flat_map(keys).collect();
        if let Some(only) = source.only {
            partitions.retain(|partition| only.has(&group, partition));
        }
        Self::open_partitions(source, group, partitions, ahead).await
    }

    /// The same for these partitions of the group.
    pub(super) async fn open_partitions(
        source: &Source<'_>,
        group: Group,
        partitions: Vec<PartitionKey>,
        ahead: bool,
    ) -> Result<Self> {
        let count = partitions.len().max(1);
        if count > PARTITIONS_MAX {
            let message = format!(
                "the series have {count} partitions in one time bucket, more than the {PARTITIONS_MAX} that can be \
                 merged; search fewer series at a time"
            );
            return Err(Error::new(Reason::ReadBudgetExceeded, message));
        }
        let scanned_before = source.scanned_before(&group, &partitions);
        let least = if count <= FEW_PARTITIONS { PARTITION_BYTES_MIN } else { PARTITION_BYTES_FLOOR };
        let measure = Measure {
            partitions: count,
            need: Need::of_page(source.rows_hint, source.takes_all).share(count),
            bytes_max: (GROUP_BYTES / count as u64).max(least),
            ahead,
        };
        let opened = partitions.into_iter().map(|partition| source.open(&group, partition, measure));
        let opened: Vec<(Visit, Vec<PartitionReader>)> = if count <= FAN_OUT {
            // Without a queue, which would wake this task for nothing, and another thread to take it over.
            try_join_all(opened).await?
        } else {
            stream::iter(opened).buffered(FAN_OUT).try_collect().await?
        };
        let (mut visits, mut readers) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for ((visit, of_it), scanned_before) in opened.into_iter().zip(scanned_before) {
            readers.extend(of_it.into_iter().map(|reader| (visits.len(), reader)));
            visits.push(Visit { scanned_before, ..visit });
        }
        let mut reader = Self {
            group,
            bytes: readers.iter().map(|(_, reader)| reader.bytes).sum(),
            turns: Vec::with_capacity(readers.len()),
            visits,
            readers,
            last: None,
            unsettled: false,
            order: source.order,
        };
        for index in 0..reader.readers.len() {
            reader.queue(index);
        }
        Ok(reader)
    }

    fn reader(&self, index: usize) -> Option<&PartitionReader> {
        self.readers.get(index).map(|(_, reader)| reader)
    }

    /// Whether [`Self::settle`] has to ask the store.
    pub(super) fn has_to_wait(&self) -> bool {
        let next = self.turns.last().filter(|_| self.unsettled).and_then(|index| self.reader(*index));
        next.is_some_and(PartitionReader::page_is_over)
    }

    /// Whether [`Self::settle`] has anything to do.
    pub(super) const fn is_unsettled(&self) -> bool {
        self.unsettled
    }

    /// Makes [`Self::head`] show the next row.
    pub(super) async fn settle(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.unsettled) {
            return Ok(());
        }
        let Some(index) = self.turns.pop() else { return Ok(()) };
        if let Some((_, reader)) = self.readers.get_mut(index) {
            self.bytes += reader.turn_page().await?;
        }
        self.queue(index);
        Ok(())
    }

    /// The next row in order.
    pub(super) fn head(&self) -> Option<Head<'_>> {
        self.turns.last().and_then(|index| self.reader(*index)).and_then(PartitionReader::head)
    }

    /// The row that was taken last; none once its page was turned.
    pub(super) fn last_taken(&self) -> Option<Head<'_>> {
        self.last.and_then(|index| self.reader(index)).and_then(PartitionReader::last_taken)
    }

    /// Goes on behind the next rows, which are of one event.
    pub(super) fn take(&mut self, taken: Taken) {
        self.last = self.turns.last().copied();
        if let Some((_, reader)) = self.last.and_then(|index| self.readers.get_mut(index)) {
            reader.take(taken);
            // Alone on its page, a partition stays where it is.
            self.unsettled = self.turns.len() > 1 || !reader.has_head();
        }
    }

    /// Gives a reader its turn, if it has a row.
    fn queue(&mut self, index: usize) {
        let Some(key) = self.key_of(index) else { return };
        let is_later =
            |other: &usize| self.key_of(*other).is_some_and(|other| self.order.compare(&other, &key).is_gt());
        let turn = match self.turns.last() {
            Some(runner_up) if !is_later(runner_up) => self.turns.partition_point(is_later),
            _ => self.turns.len(),
        };
        self.turns.insert(turn, index);
    }

    fn key_of(&self, index: usize) -> Option<Key<'_>> {
        let Head { view, series, .. } = self.reader(index)?.head()?;
        Some((view.event_time.nanos(), view.event_id, series.as_str().as_bytes(), view.item_key))
    }
}
