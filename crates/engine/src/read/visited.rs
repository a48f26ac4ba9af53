//! What a page has visited, and what that cost.

use std::collections::BTreeSet;

use super::group::GroupReader;
use crate::{Cost, ExplainedGroup, PartitionBytes};

/// Collects while a page is read.
#[derive(Default)]
pub(crate) struct Visited {
    pub(crate) cost: Cost,
    pub(crate) partitions: Vec<PartitionBytes>,
    /// Rows that the store gave.
    pub(super) rows: usize,
    pub(super) groups: usize,
    /// Each group, where that was asked for.
    pub(super) explained: Option<Vec<ExplainedGroup>>,
    slices: BTreeSet<i64>,
    /// The group in which it ended.
    last: Option<GroupReader>,
}

impl Visited {
    /// Nothing yet; each group is told of later if `explains`.
    pub(super) fn new(explains: bool) -> Self {
        Self { explained: explains.then(Vec::new), ..Self::default() }
    }

    /// Takes a group that will be read no further.
    pub(super) fn add(&mut self, reader: GroupReader, table: impl FnOnce() -> String) {
        self.slices.insert(reader.group.layout.slice.start());
        self.cost.slices = self.slices.len() as u64;
        self.cost.partitions += reader.partitions();
        self.cost.bytes_read += reader.bytes;
        self.rows += reader.rows();
        self.groups += 1;
        self.partitions.extend(reader.read_bytes().filter(|partition| partition.bytes > 0));
        if let Some(explained) = &mut self.explained {
            let partitions = reader.explained();
            explained.push(ExplainedGroup { table: table(), group: reader.group, partitions });
        }
        self.last = Some(reader);
    }

    /// What the next page must know of the group in which this one ended. `again` bytes of it are read once more.
    pub(crate) fn scanned_bytes(&self, again: u64) -> Vec<u64> {
        let scanned = self.last.as_ref().map_or_else(Vec::new, |reader| reader.scanned_bytes(again));
        if scanned.iter().all(|bytes| *bytes == 0) { Vec::new() } else { scanned }
    }
}
