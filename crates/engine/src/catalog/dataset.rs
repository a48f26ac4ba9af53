//! A namespace with its slices and blocked ids, as it was at one moment. Immutable: a change makes another one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use model::{Layout, Layouts, NamespaceName, SeriesId, TableName, TableRef, Timeline};

use super::record::{NamespaceRecord, SliceRecord, SliceStage};
use super::spans::Spans;
use crate::block::{Access, BlockList, HeadRecord};
use crate::{Namespace, Result};

/// A namespace at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Dataset {
    pub(crate) namespace: Namespace,
    pub(crate) record: NamespaceRecord,
    pub(crate) timeline: Timeline,
    /// Slices that are read and written.
    pub(crate) layouts: Layouts,
    /// Every slice that has a record and is not dropped, by its start.
    pub(crate) slices: BTreeMap<i64, SliceRecord>,
    /// Time whose slices are dropped, or being dropped.
    pub(crate) dropped: Spans,
    pub(crate) blocks: Arc<BlockList>,
    /// Where the blocks are stored; none where nothing was ever blocked.
    pub(crate) blocks_head: Option<Arc<HeadRecord>>,
}

impl Dataset {
    /// A namespace without slices.
    pub(crate) fn new(name: NamespaceName, record: NamespaceRecord) -> Result<Self> {
        Ok(Self {
            namespace: described(name, &record),
            timeline: record.timeline()?,
            record,
            layouts: Layouts::default(),
            slices: BTreeMap::new(),
            dropped: Spans::default(),
            blocks: Arc::default(),
            blocks_head: None,
        })
    }

    /// The same with another record.
    pub(crate) fn with_record(&self, record: NamespaceRecord) -> Result<Self> {
        let timeline = record.timeline()?;
        let namespace = described(self.namespace.name.clone(), &record);
        Ok(Self { namespace, record, timeline, ..self.clone() })
    }

    /// Takes over the record of a slice, unless a newer one is known.
    pub(crate) fn put_slice(&mut self, record: SliceRecord) -> Result<()> {
        let start = record.start;
        let is_newer = self.slices.get(&start).is_none_or(|known| known.epoch < record.epoch);
        let is_dropped = self.dropped.contains(start) && record.state != SliceStage::Dropped;
        if !is_newer || (is_dropped && !self.slices.contains_key(&start)) {
            return Ok(());
        }
        match record.state {
            SliceStage::Open => self.layouts.insert(record.layout()?),
            SliceStage::Making | SliceStage::Unmade => {}
            SliceStage::Dropping | SliceStage::Dropped => {
                self.layouts.remove(start);
                self.dropped.add(start, record.end());
            }
        }
        if record.state == SliceStage::Dropped {
            self.slices.remove(&start);
        } else {
            self.slices.insert(start, record);
        }
        Ok(())
    }

    /// Behind the last slice that ever was; none without any.
    pub(crate) fn end_of_slices(&self) -> Option<i64> {
        let last = self.slices.values().next_back().map(SliceRecord::end);
        last.max(self.dropped.end())
    }

    /// Since when everybody may write to the slice that starts at `start`: behind the barrier of this change.
    pub(crate) fn opened_by(&self, start: i64) -> u64 {
        self.slices.get(&start).map_or(0, |slice| slice.epoch)
    }

    /// Whether its limits were narrowed, and not every server has said yet that it knows.
    pub(crate) fn is_being_narrowed(&self) -> bool {
        let record = &self.record;
        let base = [record.base_accept, record.base_close, record.base_delete];
        base.into_iter().any(|limit| limit.is_some()) || record.base_future.is_some()
    }

    /// The widest accept limit that a server may still use without a lease; zero is none. Closed time stays behind it.
    pub(crate) fn base_accept(&self) -> Duration {
        wider(self.record.base_accept, self.record.spec.accept_limit)
    }

    /// The same of `close_after`.
    pub(crate) fn base_close(&self) -> Duration {
        wider(self.record.base_close, self.record.spec.close_after)
    }

    /// The same of `delete_after`.
    pub(crate) fn base_delete(&self) -> Duration {
        wider(self.record.base_delete, self.record.spec.delete_after)
    }

    /// The future limit that counts for writers: one that was raised only when every server knows it. Zero is none.
    pub(crate) fn future_for_writers(&self) -> Duration {
        let present = self.record.spec.future_limit;
        match self.record.base_future {
            Some((narrowest, _)) if present.is_zero() => narrowest,
            Some((narrowest, _)) if !narrowest.is_zero() => narrowest.min(present),
            _ => present,
        }
    }

    /// The widest future limit that any writer may use.
    pub(crate) fn future_of_any(&self) -> Duration {
        wider(self.record.base_future.map(|(_, widest)| widest), self.record.spec.future_limit)
    }

    /// Refuses `access` to a series that is blocked at `now`.
    pub(crate) fn check_access(&self, series: &SeriesId, now: i64, access: Access) -> Result<()> {
        self.blocks.check(&self.namespace.name, series, now, access)
    }

    /// The table of one of its slices.
    pub(crate) fn table(&self, layout: &Layout) -> TableRef {
        self.table_of(TableName::data(layout.slice))
    }

    /// The table of the targets of one of its slices, which is there once something in it was split.
    pub(crate) fn wide_table(&self, layout: &Layout) -> TableRef {
        self.table_of(TableName::wide(layout.slice))
    }

    fn table_of(&self, name: TableName) -> TableRef {
        let (namespace, incarnation) = (self.namespace.name.clone(), self.namespace.incarnation);
        TableRef { namespace, incarnation, name }
    }
}

/// The wider of a limit that may still be used and the one in force; zero is the widest.
fn wider(base: Option<Duration>, present: Duration) -> Duration {
    match base {
        Some(base) if !base.is_zero() && !present.is_zero() => base.max(present),
        Some(_) => Duration::ZERO,
        None => present,
    }
}

fn described(name: NamespaceName, record: &NamespaceRecord) -> Namespace {
    Namespace {
        name,
        incarnation: record.incarnation,
        spec: record.spec.clone(),
        created: record.created,
        etag: format!("{}-{}", record.incarnation, record.epoch),
    }
}
