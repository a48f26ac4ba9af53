//! Some partitions out of those that a request covers. Pure.

use std::collections::BTreeSet;

use model::{Group, PartitionKey};

/// Partitions, by the start of their slice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Only {
    partitions: BTreeSet<(i64, PartitionKey)>,
}

impl Only {
    /// These.
    pub(crate) fn new(partitions: impl IntoIterator<Item = (i64, PartitionKey)>) -> Self {
        Self { partitions: partitions.into_iter().collect() }
    }

    /// Whether a partition of a group is among them.
    pub(super) fn has(&self, group: &Group, partition: &PartitionKey) -> bool {
        self.partitions.contains(&(group.layout.slice.start(), partition.clone()))
    }

    /// Whether any lies in the slice that starts there, in this time bucket.
    pub(super) fn meets(&self, group: &Group) -> bool {
        let start = group.layout.slice.start();
        self.partitions
            .iter()
            .any(|(slice, partition)| *slice == start && partition.time_bucket == group.time_bucket)
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(i64, PartitionKey)> {
        self.partitions.iter()
    }

    /// Whether an event of this partition is wanted.
    pub(crate) fn holds(&self, slice_start: i64, partition: &PartitionKey) -> bool {
        self.partitions.contains(&(slice_start, partition.clone()))
    }
}
