//! What a group that was read tells: how much of which partition, by which route.

use split::Place;

use super::group::{GroupReader, Visit};
use super::partition::PartitionReader;
use crate::route::Choice;
use crate::{ExplainedPartition, ExplainedRoute, PartitionBytes};

impl GroupReader {
    /// The partition, where the group is read as one.
    pub(super) fn only(&self) -> Option<&model::PartitionKey> {
        match self.visits.as_slice() {
            [visit] => Some(&visit.partition),
            _ => None,
        }
    }

    /// The readers of one partition.
    fn readers_of(&self, visit: usize) -> impl Iterator<Item = &PartitionReader> {
        self.readers.iter().filter(move |(of, _)| *of == visit).map(|(_, reader)| reader)
    }

    /// The targets of a partition that the store was asked for: a page may end before it comes to the others.
    pub(super) fn targets_of(&self, visit: usize) -> Vec<u32> {
        let target = |place: &Place| match place {
            Place::Target(event_bucket) => Some(*event_bucket),
            Place::Origin => None,
        };
        self.readers_of(visit).flat_map(|reader| reader.places.iter().filter_map(target)).collect()
    }

    /// Whether the store was asked for a part of a partition where it was written.
    pub(super) fn reads_origin(&self, visit: usize) -> bool {
        self.readers_of(visit).any(|reader| reader.places.contains(&Place::Origin))
    }

    /// What was read from each partition that was read where it was written, on this page and before. What is read from
    /// targets was found wide before.
    pub(super) fn read_bytes(&self) -> impl Iterator<Item = PartitionBytes> {
        let is_origin = |visit: &Visit| !matches!(visit.routed.choice, Choice::Targets(..));
        self.visits.iter().enumerate().filter(move |(_, visit)| is_origin(visit)).map(|(at, visit)| {
            PartitionBytes {
                series: visit.partition.series.clone(),
                slice_start: self.group.layout.slice.start(),
                time_bucket: self.group.time_bucket,
                event_bucket: visit.partition.event_bucket,
                bytes: self
                    .readers_of(at)
                    .fold(visit.scanned_before, |sum, reader| sum.saturating_add(reader.bytes)),
            }
        })
    }

    /// What was done in each partition.
    pub(super) fn explained(&self) -> Vec<ExplainedPartition> {
        let explained = |(at, visit): (usize, &Visit)| ExplainedPartition {
            event_bucket: visit.partition.event_bucket,
            rows: self.readers_of(at).map(|reader| reader.rows_read() as u64).sum(),
            bytes: self.readers_of(at).map(|reader| reader.bytes).sum(),
            store_calls: self.readers_of(at).map(|reader| reader.calls).sum(),
            time_taken: self.readers_of(at).map(|reader| reader.waited).sum(),
            route: ExplainedRoute::of(&visit.routed, &self.targets_of(at)),
        };
        self.visits.iter().enumerate().map(explained).collect()
    }

    /// Rows that the store gave.
    pub(super) fn rows(&self) -> usize {
        self.readers.iter().map(|(_, reader)| reader.rows_read()).sum()
    }

    /// Bytes of the rows that were taken, on this page and before, by event bucket. The next page reads the last
    /// `again` of them once more; all of these are of one event, so of the partition that came last.
    pub(super) fn scanned_bytes(&self, again: u64) -> Vec<u64> {
        let series = |visit: Option<&Visit>| visit.map(|visit| visit.partition.series.clone());
        if series(self.visits.first()) != series(self.visits.last()) {
            return Vec::new();
        }
        let mut scanned: Vec<u64> = self.visits.iter().map(|visit| visit.scanned_before).collect();
        for (of, reader) in &self.readers {
            if let Some(bytes) = scanned.get_mut(*of) {
                *bytes = bytes.saturating_add(reader.taken_bytes);
            }
        }
        let last = self.last.and_then(|index| self.readers.get(index)).map(|(of, _)| *of);
        if let Some(bytes) = last.and_then(|of| scanned.get_mut(of)) {
            *bytes = bytes.saturating_sub(again);
        }
        scanned
    }
}
