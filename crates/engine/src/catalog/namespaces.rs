//! Making, changing and deleting namespaces.

use std::sync::Arc;

use model::NamespaceName;
use store::{CasOutcome, MetaChange, MetaRecord};

use super::record::{self, NamespaceRecord, SegmentRecord};
use super::{Catalog, Dataset};
use crate::{Error, NamespaceSpec, Reason, Result};

impl Catalog {
    /// Makes a namespace. One that was deleted before gets the next incarnation.
    pub(crate) async fn create(&self, name: &NamespaceName, spec: NamespaceSpec) -> Result<Arc<Dataset>> {
        spec.check()?;
        let _changing = self.changing.lock().await;
        let stored = self.store.meta_get(&record::namespace_key(name)).await?;
        let before =
            stored.as_ref().map(|found| record::decode::<NamespaceRecord>(&found.value)).transpose()?;
        if before.as_ref().is_some_and(|record| !record.deleted) {
            let message =
                format!("namespace `{}` exists; change it instead, or choose another name", name.as_str());
            return Err(Error::new(Reason::NamespaceExists, message));
        }
        let incarnation = before.map_or(1, |record| record.incarnation + 1);
        let made = NamespaceRecord::new(incarnation, self.env.clock.wall(), spec);
        let dataset = self.put(name, stored.as_ref(), made).await?;
        Ok(self.publish(dataset))
    }

    /// Changes a namespace to `spec`. A new shape takes effect where the last existing slice ends.
    pub(crate) async fn update(
        &self,
        name: &NamespaceName,
        spec: NamespaceSpec,
        etag: Option<&str>,
    ) -> Result<Arc<Dataset>> {
        spec.check()?;
        let _changing = self.changing.lock().await;
        let present = self.find(name)?;
        check_etag(&present, etag)?;
        let mut changed = present.record.clone();
        if spec.shape != changed.spec.shape {
            change_shape(&mut changed, &present, spec.shape);
        }
        changed.spec = spec;
        let stored = self.stored(name, &present).await?;
        let mut dataset = self.put(name, Some(&stored), changed).await?;
        (dataset.layouts, dataset.storages) = (present.layouts.clone(), present.storages.clone());
        (dataset.blocks, dataset.blocks_version) = (Arc::clone(&present.blocks), present.blocks_version);
        Ok(self.publish(dataset))
    }

    /// Deletes a namespace. It is gone for everybody before the first table is dropped.
    pub(crate) async fn delete(&self, name: &NamespaceName, etag: Option<&str>) -> Result<()> {
        let _blocking = self.blocking.lock().await;
        let _changing = self.changing.lock().await;
        let present = self.find(name)?;
        check_etag(&present, etag)?;
        let stored = self.stored(name, &present).await?;
        let gone = NamespaceRecord { deleted: true, ..present.record.clone() };
        self.put(name, Some(&stored), gone).await?;
        self.forget(name);
        for layout in present.layouts.iter() {
            self.store.drop_table(&present.table(layout)).await?;
        }
        self.drop_blocks(&present.namespace).await
    }

    async fn stored(&self, name: &NamespaceName, present: &Dataset) -> Result<MetaRecord> {
        let stored = self.store.meta_get(&record::namespace_key(name)).await?;
        stored.filter(|found| found.version == present.version).ok_or_else(|| mismatch(name))
    }

    async fn put(
        &self,
        name: &NamespaceName,
        before: Option<&MetaRecord>,
        record: NamespaceRecord,
    ) -> Result<Dataset> {
        let change = MetaChange::Put(record::encode(&record)?);
        let expected = before.map(|found| found.version);
        match self.store.meta_cas(&record::namespace_key(name), expected, change).await? {
            CasOutcome::Applied(version) => Dataset::new(name.clone(), record, version),
            CasOutcome::Conflict(_) => Err(mismatch(name)),
        }
    }
}

/// Adds the segment in which the new shape holds, or replaces one that no slice has used yet.
fn change_shape(record: &mut NamespaceRecord, present: &Dataset, shape: crate::Shape) {
    let last_end = present.layouts.iter().next_back().map(|layout| layout.slice.end());
    let newest = record.segments.last().map_or(0, |segment| segment.from);
    match last_end {
        Some(end) if end > newest => record.segments.push(SegmentRecord { from: end, shape }),
        _ => {
            record.segments.pop();
            record.segments.push(SegmentRecord { from: newest, shape });
        }
    }
}

fn check_etag(present: &Dataset, etag: Option<&str>) -> Result<()> {
    match etag {
        Some(asked) if asked != present.namespace.etag => Err(mismatch(&present.namespace.name)),
        _ => Ok(()),
    }
}

fn mismatch(name: &NamespaceName) -> Error {
    let message =
        format!("namespace `{}` changed since it was read; read it again and repeat", name.as_str());
    Error::new(Reason::EtagMismatch, message)
}
