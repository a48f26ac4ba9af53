//! What one server knows of all namespaces: the sum of the changes up to one epoch. Pure.
//!
//! A change is a list of records to put; which kind a record is, its group tells. Invariant: an object never goes back to
//! an older change, in whatever order records and entries come in.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::NamespaceName;

use super::Dataset;
use super::record::{self, NamespaceRecord, SliceRecord};
use crate::block::{BlockList, HeadRecord};
use crate::view::{Entry, Put};
use crate::{Error, Reason, Result};

/// An incarnation of a namespace.
pub(crate) type Incarnation = (NamespaceName, u32);

/// All namespaces.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Whether all that was stored has been read once.
    pub(crate) is_loaded: bool,
    /// Of the last change.
    pub(crate) epoch: u64,
    pub(crate) live: BTreeMap<NamespaceName, Arc<Dataset>>,
    /// Deleted ones whose tables are not dropped yet.
    pub(crate) leaving: BTreeMap<Incarnation, Arc<Dataset>>,
    /// The last record of those that were deleted.
    pub(crate) deleted: BTreeMap<NamespaceName, NamespaceRecord>,
}

impl Known {
    /// The record of a namespace, deleted or not.
    pub(crate) fn record(&self, name: &NamespaceName) -> Option<&NamespaceRecord> {
        self.live.get(name).map(|dataset| &dataset.record).or_else(|| self.deleted.get(name))
    }

    /// The namespace of this name.
    pub(crate) fn find(&self, name: &NamespaceName) -> Result<&Arc<Dataset>> {
        self.live.get(name).ok_or_else(|| {
            let message = format!("namespace `{}` does not exist; create it first", name.as_str());
            Error::new(Reason::NamespaceNotFound, message)
        })
    }

    /// The namespace of this name, if it is still the same one: deleted and made again it is another.
    pub(crate) fn find_same(&self, which: &Incarnation) -> Result<&Arc<Dataset>> {
        self.same(which).ok_or_else(|| {
            let message = format!(
                "namespace `{}` was deleted meanwhile, with what was written to it; make sure that it exists and \
                 send the events again",
                which.0.as_str()
            );
            Error::new(Reason::NamespaceNotFound, message)
        })
    }

    fn same(&self, which: &Incarnation) -> Option<&Arc<Dataset>> {
        self.live.get(&which.0).filter(|found| found.namespace.incarnation == which.1)
    }

    /// One incarnation, live or leaving.
    pub(crate) fn incarnation(&self, which: &Incarnation) -> Option<&Arc<Dataset>> {
        self.same(which).or_else(|| self.leaving.get(which))
    }

    /// Takes over a change. `lists` are the blocked ids that each of its puts names.
    pub(crate) fn apply(&mut self, entry: &Entry, lists: Vec<Option<BlockList>>) -> Result<()> {
        for (put, list) in entry.puts.iter().zip(lists) {
            self.put(put, list)?;
        }
        self.epoch = self.epoch.max(entry.epoch);
        Ok(())
    }

    fn put(&mut self, put: &Put, blocks: Option<BlockList>) -> Result<()> {
        let value = put.value.get().as_bytes();
        if put.group.as_bytes() == record::namespaces_group() {
            return self.put_namespace(name_of(&put.name)?, record::decode(value)?);
        }
        if let Some(which) = record::incarnation_of_slices(&put.group) {
            return self.put_slice(&incarnation_of(which)?, record::decode(value)?);
        }
        if HeadRecord::is_group(&put.group) {
            return self.put_blocks(&incarnation_of(&put.name)?, HeadRecord::decode(value)?, blocks);
        }
        if crate::tune::is_group(&put.group) {
            return Ok(());
        }
        let message = format!("the change log names a `{}`; a newer version may have written it", put.group);
        Err(Error::new(Reason::ChecksumMismatch, message))
    }

    /// Takes over the record of a namespace.
    pub(crate) fn put_namespace(&mut self, name: NamespaceName, record: NamespaceRecord) -> Result<()> {
        let before = self.record(&name);
        if before
            .is_some_and(|before| before.incarnation == record.incarnation && before.epoch >= record.epoch)
            || before.is_some_and(|before| before.incarnation > record.incarnation)
        {
            return Ok(());
        }
        let kept = |incarnation: u32| record.leaving.contains(&incarnation);
        let present = self.live.remove(&name);
        if let Some(old) = &present
            && (record.deleted || old.namespace.incarnation != record.incarnation)
            && kept(old.namespace.incarnation)
        {
            self.leaving.insert((name.clone(), old.namespace.incarnation), Arc::clone(old));
        }
        self.leaving.retain(|(other, incarnation), _| *other != name || kept(*incarnation));
        if record.deleted {
            self.deleted.insert(name, record);
            return Ok(());
        }
        self.deleted.remove(&name);
        let same = present.filter(|old| old.namespace.incarnation == record.incarnation);
        let dataset = match same {
            Some(old) => old.with_record(record)?,
            None => Dataset::new(name.clone(), record)?,
        };
        self.live.insert(name, Arc::new(dataset));
        Ok(())
    }

    /// Takes over the record of a slice. One of an incarnation that is gone is of no use to anybody.
    pub(crate) fn put_slice(&mut self, which: &Incarnation, record: SliceRecord) -> Result<()> {
        self.change(which, |dataset| dataset.put_slice(record))
    }

    /// Takes over a list of blocked ids; without the list itself only where it is.
    pub(crate) fn put_blocks(
        &mut self,
        which: &Incarnation,
        head: HeadRecord,
        list: Option<BlockList>,
    ) -> Result<()> {
        self.change(which, |dataset| {
            let newer = dataset.blocks_head.as_ref().is_none_or(|known| known.change < head.change);
            if newer && let Some(list) = list {
                (dataset.blocks, dataset.blocks_head) = (Arc::new(list), Some(Arc::new(head)));
            }
            Ok(())
        })
    }

    fn change(&mut self, which: &Incarnation, act: impl FnOnce(&mut Dataset) -> Result<()>) -> Result<()> {
        let live = self.live.get_mut(&which.0).filter(|dataset| dataset.namespace.incarnation == which.1);
        match live.or_else(|| self.leaving.get_mut(which)) {
            Some(dataset) => act(Arc::make_mut(dataset)),
            None => Ok(()),
        }
    }
}

/// A namespace's name, as a record has it.
pub(crate) fn name_of(text: &str) -> Result<NamespaceName> {
    let unreadable = |_| Error::new(Reason::ChecksumMismatch, "a namespace has an unreadable name");
    NamespaceName::new(text).map_err(unreadable)
}

/// An incarnation, as a record names it.
pub(crate) fn incarnation_of(text: &str) -> Result<Incarnation> {
    let parts = text.rsplit_once('.').and_then(|(name, number)| Some((name, number.parse().ok()?)));
    let unreadable = || Error::new(Reason::ChecksumMismatch, "a record names an unreadable namespace");
    let (name, number) = parts.ok_or_else(unreadable)?;
    Ok((name_of(name)?, number))
}
