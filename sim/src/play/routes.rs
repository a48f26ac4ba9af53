//! Which way the split partitions of one read came, page by page: from their origin or from their targets.

use std::collections::BTreeSet;

use engine::{Engine, PartitionBytes, ReadPage};
use model::{Layout, NamespaceName};
use split::SplitId;

use super::stage::Stage;

/// The ways of one read.
#[derive(Default)]
pub(super) struct Routes {
    from_origin: BTreeSet<SplitId>,
    from_targets: BTreeSet<SplitId>,
}

impl Routes {
    /// Takes over a page: each split that one of its events lies in was read one way or the other.
    pub(super) fn take(&mut self, stage: &Stage, space: &str, page: &ReadPage) {
        let had_switched = self.have_switched();
        let of_space = |id: &SplitId| id.namespace.as_str() == space;
        let splits = stage.records.completed().into_iter().map(|(id, _)| id).filter(of_space);
        for id in splits.filter(|_| !page.events.is_empty()) {
            let Some(layout) = layout_of(stage, &id) else { continue };
            let is_in = |event: &engine::Event| {
                let place = layout.place(&event.series, event.time, &event.to_event_id());
                place.is_some_and(|place| place.key == id.partition)
            };
            if !page.events.iter().any(is_in) {
                continue;
            }
            if page.partitions.iter().any(|read| is_of(read, &id, &layout)) {
                self.from_origin.insert(id);
            } else if page.cost.targets > 0 {
                self.from_targets.insert(id);
            }
        }
        stage.ledger.count(|counts| {
            counts.target_pages += u64::from(page.cost.targets > 0);
            counts.fallback_pages += u64::from(page.cost.fallbacks > 0);
            counts.switched += u64::from(!had_switched && self.have_switched());
        });
    }

    /// Whether events of one partition came both ways.
    fn have_switched(&self) -> bool {
        !self.from_origin.is_disjoint(&self.from_targets)
    }
}

/// The slice of a split, if any server shows it.
pub(super) fn layout_of(stage: &Stage, id: &SplitId) -> Option<Layout> {
    let of = |engine: Engine| {
        let name: &NamespaceName = &id.namespace;
        engine.get_namespace(name).ok().filter(|space| space.incarnation == id.incarnation)?;
        let slices = engine.list_slices(name).ok()?;
        let found = slices.iter().find(|info| info.table == id.time_slice)?;
        Some(Layout { slice: found.slice, shape: found.shape })
    };
    stage.servers.iter().filter_map(|server| server.engine()).find_map(of)
}

/// Whether this is what was read from the origin of a split.
pub(super) fn is_of(read: &PartitionBytes, id: &SplitId, layout: &Layout) -> bool {
    let partition = &id.partition;
    read.series == partition.series
        && read.slice_start == layout.slice.start()
        && read.time_bucket == partition.time_bucket
        && read.event_bucket == partition.event_bucket
}
