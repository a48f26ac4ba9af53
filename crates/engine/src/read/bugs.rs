//! Faults of reads that are put in on purpose; `crates/engine/src/split/bugs.rs` names them.

use model::{Group, PartitionKey};

use super::group::Source;
use super::walk::{Reading, Walked};
use crate::Resume;
use crate::split::Bug;

impl Walked {
    /// A position that says in which target it lies.
    pub(super) fn spoilt(&self, reading: &Reading<'_>, next: Resume) -> Resume {
        if !reading.router.has(Bug::PhysicalToken) || reading.request.series.is_empty() {
            return next;
        }
        let after = &next.after;
        let place = reading.dataset.layouts.place(&after.series, after.event_time, &after.event_id);
        let is_here = |id: &split::SplitId| place.as_ref().is_some_and(|place| place.key == id.partition);
        let entry = self.visited.entries.iter().find(|entry| is_here(&entry.id));
        let target = entry.and_then(|entry| entry.cover.as_ref()).map(|cover| cover.start_event_bucket);
        Resume { event_bucket: target, ..next }
    }
}

impl Source<'_> {
    /// Whether the place that a position names is not one of those that are read here.
    pub(super) fn misreads(&self, group: &Group, partition: &PartitionKey, read: &PartitionKey) -> bool {
        let Some(resume) = self.resume.filter(|_| self.router.has(Bug::PhysicalToken)) else { return false };
        let after = &resume.after;
        let place = group.layout.place(&after.series, after.event_time, &after.event_id);
        let is_here = place.is_some_and(|place| place.key == *partition);
        is_here && !self.series.is_empty() && resume.event_bucket.is_some() && read == partition
    }

    /// Whether a page whose targets fail goes on from the origin.
    pub(super) fn mixes(&self) -> bool {
        self.router.has(Bug::MixedFallback)
    }
}
