//! Where an event lies (`place`) and where a read must look (`cover`): two views of one rule.
//!
//! Invariant, held by a property test at every edge: for every event and every interval that contains its time, the
//! partition that `place` gives is among those that `cover` gives.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::hash::event_hash;
use crate::{EventId, Interval, SeriesId, Shape, Slice, Timestamp};

/// The address of a partition inside its table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionKey {
    /// Whose events.
    pub series: SeriesId,
    /// Ordinal of the time bucket inside the slice.
    pub time_bucket: u32,
    /// Hash bucket inside the time bucket.
    pub event_bucket: u32,
}

/// A partition: the slice (a table) and the address inside it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Partition {
    /// The slice.
    pub slice: Slice,
    /// The address inside it.
    pub key: PartitionKey,
}

/// A slice that exists, with the shape it was made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The range of time.
    pub slice: Slice,
    /// Its frozen shape.
    pub shape: Shape,
}

impl Layout {
    /// The time bucket of a time inside the slice; none outside of it.
    pub fn time_bucket(&self, time: Timestamp) -> Option<u32> {
        if !self.slice.interval().contains(time) {
            return None;
        }
        u32::try_from((time.nanos() - self.slice.start()) / self.shape.bucket_nanos()).ok()
    }

    /// The event bucket of an event id.
    pub fn event_bucket(&self, event_id: &EventId) -> u32 {
        let bucket = event_hash(event_id.as_bytes()) % u64::from(self.shape.buckets_per_id);
        u32::try_from(bucket).unwrap_or(0)
    }

    /// Where an event lies; none if its time is outside the slice.
    pub fn place(&self, series: &SeriesId, time: Timestamp, event_id: &EventId) -> Option<Partition> {
        let time_bucket = self.time_bucket(time)?;
        let event_bucket = self.event_bucket(event_id);
        let key = PartitionKey { series: series.clone(), time_bucket, event_bucket };
        Some(Partition { slice: self.slice, key })
    }

    /// The time that `time_bucket` covers.
    pub fn bucket_interval(&self, time_bucket: u32) -> Interval {
        let start = self.slice.start() + i64::from(time_bucket) * self.shape.bucket_nanos();
        Interval::ordered(start, start + self.shape.bucket_nanos()).intersect(self.slice.interval())
    }

    /// The time buckets that meet `interval`.
    fn buckets_in(&self, interval: Interval) -> Range<u32> {
        let part = self.slice.interval().intersect(interval);
        if part.is_empty() {
            return 0..0;
        }
        let ordinal = |nanos: i64| {
            let bucket = (nanos - self.slice.start()) / self.shape.bucket_nanos();
            u32::try_from(bucket).unwrap_or(u32::MAX)
        };
        ordinal(part.start())..ordinal(part.end() - 1) + 1
    }
}

/// One (slice, time bucket) that a read visits: its partitions are read together and merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The slice and its shape.
    pub layout: Layout,
    /// The time bucket.
    pub time_bucket: u32,
    /// The part of the asked interval that lies in it.
    pub interval: Interval,
}

impl Group {
    /// The partitions of `series` in this group.
    pub fn partitions(self, series: &SeriesId) -> impl Iterator<Item = Partition> {
        (0..u32::from(self.layout.shape.buckets_per_id)).map(move |event_bucket| Partition {
            slice: self.layout.slice,
            key: PartitionKey { series: series.clone(), time_bucket: self.time_bucket, event_bucket },
        })
    }
}

/// The slices of a namespace that exist, each with its shape.
///
/// ```
/// use model::{EventId, Interval, Layout, Layouts, SeriesId, ShapeSpec, Timeline, Timestamp};
///
/// let spec = ShapeSpec::default();
/// let timeline = Timeline::new(spec.seconds_per_slice)?;
/// let time = Timestamp::from_parts(1_774_656_000, 0)?; // 2026-03-28
/// let mut layouts = Layouts::default();
/// layouts.insert(Layout { slice: timeline.slice_of(time), shape: spec.freeze()? });
///
/// let series = SeriesId::new("device-7")?;
/// let placed = layouts.place(&series, time, &EventId::new("event-1")?).expect("the slice exists");
/// let asked = Interval::new(time.nanos(), time.nanos() + 1)?;
/// assert!(layouts.cover(asked).flat_map(|group| group.partitions(&series)).any(|found| found == placed));
/// # Ok::<(), model::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layouts {
    by_start: BTreeMap<i64, Layout>,
}

impl Layouts {
    /// Adds a slice. A slice that is there already keeps the shape it has: shapes are frozen.
    pub fn insert(&mut self, layout: Layout) {
        self.by_start.entry(layout.slice.start()).or_insert(layout);
    }

    /// Removes the slice that starts at `start`, after retention dropped it.
    pub fn remove(&mut self, start: i64) -> Option<Layout> {
        self.by_start.remove(&start)
    }

    /// The slice that `time` lies in, if it exists.
    pub fn find(&self, time: Timestamp) -> Option<&Layout> {
        let (_, layout) = self.by_start.range(..=time.nanos()).next_back()?;
        layout.slice.interval().contains(time).then_some(layout)
    }

    /// All slices, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Layout> {
        self.by_start.values()
    }

    /// Where an event lies; none while its slice does not exist.
    pub fn place(&self, series: &SeriesId, time: Timestamp, event_id: &EventId) -> Option<Partition> {
        self.find(time)?.place(series, time, event_id)
    }

    /// The groups that a read of `interval` visits, oldest first; reverse it to read newest first.
    ///
    /// Lazy from both ends: an interval over a million buckets costs nothing until it is walked.
    pub fn cover(&self, interval: Interval) -> impl DoubleEndedIterator<Item = Group> {
        // The slice in which the interval starts may begin before it.
        let from = self
            .by_start
            .range(..=interval.start())
            .next_back()
            .map_or_else(|| interval.start(), |found| *found.0);
        let range = from..interval.end().max(from);
        self.by_start.range(range).flat_map(move |(_, layout)| {
            layout.buckets_in(interval).map(move |time_bucket| Group {
                layout: *layout,
                time_bucket,
                interval: layout.bucket_interval(time_bucket).intersect(interval),
            })
        })
    }
}

#[cfg(test)]
mod tests;
