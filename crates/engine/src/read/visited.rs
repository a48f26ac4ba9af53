//! What a page has visited, and what that cost.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::{Group, PartitionKey};

use super::count::Counted;
use super::group::GroupReader;
use crate::route::{Choice, Entry};
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
    /// By which it was routed to targets.
    pub(crate) entries: Vec<Arc<Entry>>,
    /// Partitions that were read from the origin and may have been split, by the start of their slice.
    pub(crate) noted: Vec<(i64, PartitionKey)>,
    /// Partitions that were read from targets.
    pub(crate) routed: Vec<(i64, PartitionKey)>,
    /// Partitions that should have been, and were not.
    pub(crate) fell_back: Vec<(i64, PartitionKey)>,
    /// Some were not.
    pub(crate) has_origin: bool,
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
        let start = reader.group.layout.slice.start();
        self.slices.insert(start);
        self.cost.slices = self.slices.len() as u64;
        for (at, visit) in reader.visits.iter().enumerate() {
            match &visit.routed.choice {
                Choice::Targets(entry, _) => {
                    self.cost.targets += reader.targets_of(at).len() as u64;
                    self.entries.push(Arc::clone(entry));
                    self.routed.push((start, visit.partition.clone()));
                }
                Choice::Noted => self.noted.push((start, visit.partition.clone())),
                Choice::Back(_) => {
                    self.cost.fallbacks += 1;
                    self.fell_back.push((start, visit.partition.clone()));
                }
                Choice::Origin => {}
            }
            self.has_origin |= !matches!(visit.routed.choice, Choice::Targets(..));
            self.cost.origins += u64::from(reader.reads_origin(at));
        }
        self.cost.partitions = self.cost.origins + self.cost.targets;
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

    /// Takes a group that was counted without reading its rows.
    pub(super) fn add_counted(&mut self, group: &Group, counted: Counted) {
        let start = group.layout.slice.start();
        self.slices.insert(start);
        self.cost.slices = self.slices.len() as u64;
        self.cost.targets += counted.targets;
        self.cost.partitions = self.cost.origins + self.cost.targets;
        self.cost.bytes_read += counted.bytes;
        for (partition, entry) in counted.routes {
            self.entries.push(entry);
            self.routed.push((start, partition));
        }
        self.last = None;
    }

    /// What the next page must know of the group in which this one ended. `again` bytes of it are read once more.
    pub(crate) fn scanned_bytes(&self, again: u64) -> Vec<u64> {
        let scanned = self.last.as_ref().map_or_else(Vec::new, |reader| reader.scanned_bytes(again));
        if scanned.iter().all(|bytes| *bytes == 0) { Vec::new() } else { scanned }
    }
}
