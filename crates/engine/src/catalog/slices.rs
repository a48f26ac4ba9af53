//! Making slices: on demand when an event needs one, and ahead of time.

use std::sync::Arc;

use model::{Layout, NamespaceName, Timestamp};
use store::{CasOutcome, MetaChange};

use super::record::{self, SliceRecord};
use super::{Catalog, Dataset};
use crate::{Error, Reason, Result};

/// Slices that a namespace may have.
pub(crate) const SLICES_MAX: usize = 400;

impl Catalog {
    /// Makes the slices of these times where they do not exist, and gives back the namespace with them.
    ///
    /// The record comes first and freezes the shape; whoever finds it made by somebody else takes that one. A crash
    /// before the table was made is settled by the next load.
    pub(crate) async fn ensure_slices(
        &self,
        name: &NamespaceName,
        times: &[Timestamp],
    ) -> Result<Arc<Dataset>> {
        let _changing = self.changing.lock().await;
        let present = self.find(name)?;
        let mut dataset = Dataset::clone(&present);
        for time in times {
            if dataset.layouts.find(*time).is_some() {
                continue;
            }
            if dataset.layouts.iter().count() >= SLICES_MAX {
                let message = format!(
                    "namespace `{}` has {SLICES_MAX} slices, the most it may have; widen them or shorten retention",
                    name.as_str()
                );
                return Err(Error::new(Reason::RateLimited, message));
            }
            let layout = self.make_slice(&dataset, *time).await?;
            dataset.layouts.insert(layout);
        }
        Ok(self.publish(dataset))
    }

    async fn make_slice(&self, dataset: &Dataset, time: Timestamp) -> Result<Layout> {
        let slice = dataset.timeline.slice_of(time);
        let mut layout = Layout { slice, shape: dataset.record.shape_at(slice.start())? };
        let key = record::slice_key(&dataset.namespace.name, dataset.namespace.incarnation, slice.start());
        let change = MetaChange::Put(record::encode(&SliceRecord::new(&layout))?);
        if let CasOutcome::Conflict(Some(made)) = self.store.meta_cas(&key, None, change).await? {
            layout.shape = record::decode::<SliceRecord>(&made.value)?.shape();
        }
        self.store.create_table(&dataset.table(&layout)).await?;
        Ok(layout)
    }
}
