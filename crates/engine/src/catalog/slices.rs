//! Making slices: on demand when an event needs one, and ahead of time.
//!
//! Both ways go through [`Catalog::ensure_slices`], so that however many want a slice at once, one is made.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{Layout, Timestamp};
use store::{CasOutcome, Enumerate, ErrorKind, MetaChange, Storage};

use super::record::{self, SliceRecord};
use super::{Catalog, Dataset};
use crate::{Error, Reason, Result};

/// Slices that a namespace may have.
pub(crate) const SLICES_MAX: usize = 400;

/// What became of slices that were wanted.
pub(crate) struct Ensured {
    /// The namespace with all that exist now.
    pub(crate) dataset: Arc<Dataset>,
    /// How many this call made; those of others do not count.
    pub(crate) made: usize,
    /// Times whose slice could not be made, and why.
    pub(crate) refused: BTreeMap<Timestamp, Error>,
}

impl Catalog {
    /// Makes the slices of these times where they do not exist; each is made or refused by itself. Fails only if the
    /// namespace is no longer the one that `wanted_by` was.
    pub(crate) async fn ensure_slices(&self, wanted_by: &Dataset, times: &[Timestamp]) -> Result<Ensured> {
        let _changing = self.changing.lock().await;
        let (name, incarnation) = (&wanted_by.namespace.name, wanted_by.namespace.incarnation);
        let dataset = self.find_same(name, incarnation)?;
        let mut ensured = Ensured { dataset, made: 0, refused: BTreeMap::new() };
        for time in times {
            if ensured.dataset.layouts.find(*time).is_some() {
                continue;
            }
            match self.make_slice(&ensured.dataset, *time).await {
                Ok((layout, storage, made)) => {
                    let mut dataset = Dataset::clone(&ensured.dataset);
                    dataset.insert(layout, storage);
                    // At once: a caller that is dropped behind this leaves a slice that everybody knows.
                    ensured.dataset = self.publish(dataset);
                    ensured.made += usize::from(made);
                }
                Err(error) => {
                    ensured.refused.insert(*time, error);
                }
            }
        }
        Ok(ensured)
    }

    /// The slice of `time`, how its table is kept, and whether this call made it.
    ///
    /// The record comes first and freezes shape and storage; whoever finds it made by somebody else takes those. A crash
    /// before the table was made is settled by the next load.
    async fn make_slice(&self, dataset: &Dataset, time: Timestamp) -> Result<(Layout, Storage, bool)> {
        let name = &dataset.namespace.name;
        if dataset.layouts.iter().count() >= SLICES_MAX {
            let message = format!(
                "namespace `{}` has {SLICES_MAX} slices, the most it may have; widen them or shorten retention",
                name.as_str()
            );
            return Err(Error::new(Reason::RateLimited, message));
        }
        let slice = dataset.timeline.slice_of(time);
        let mut layout = Layout { slice, shape: dataset.record.shape_at(slice.start())? };
        let mut storage = dataset.namespace.spec.storage;
        let key = record::slice_key(name, dataset.namespace.incarnation, slice.start());
        let change = MetaChange::Put(record::encode(&SliceRecord::new(&layout, storage))?);
        let mut made = None;
        match self.store.meta_cas(&key, None, change).await? {
            CasOutcome::Applied(version) => made = Some(version),
            CasOutcome::Conflict(Some(theirs)) => {
                let theirs: SliceRecord = record::decode(&theirs.value)?;
                (layout.shape, storage) = (theirs.shape(), theirs.storage);
            }
            CasOutcome::Conflict(None) => {}
        }
        match self.store.create_table(&dataset.table(&layout), &storage).await {
            Ok(_) => Ok((layout, storage, made.is_some())),
            Err(error) if error.kind() == ErrorKind::Invalid => {
                // The store has all the tables it may have. A record without a table would keep the next start from
                // loading, so it goes again.
                if made.is_some() {
                    self.store.meta_cas(&key, made, MetaChange::Remove).await?;
                }
                Err(Error::from(error).with_reason(Reason::RateLimited))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Makes the next slice of every namespace whose present one is half over and has data; gives back how many were
    /// made. One that fails does not keep the others from theirs.
    pub(crate) async fn make_slices_ahead(&self) -> Result<usize> {
        let (mut made, mut failed) = (0, None);
        for dataset in self.all() {
            match self.make_next(&dataset).await {
                Ok(count) => made += count,
                // Deleted meanwhile, or at a limit: whoever writes there is told what to do.
                Err(error) if matches!(error.reason(), Reason::NamespaceNotFound | Reason::RateLimited) => {
                    let namespace = dataset.namespace.name.as_str();
                    tracing::debug!(namespace, %error, "no slice was made ahead");
                }
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(made), Err)
    }

    async fn make_next(&self, dataset: &Dataset) -> Result<usize> {
        let Some((present, next)) = due(dataset, self.env.clock.wall()) else { return Ok(0) };
        // Also the present slice may have been made ahead. Without a look inside, a namespace that nobody writes to
        // would get slices for ever.
        let any = Enumerate {
            table: dataset.table(&present),
            after: None,
            partitions_max: 1,
            consistency: dataset.namespace.spec.consistency,
        };
        match self.store.enumerate(any).await {
            Ok(found) if found.partitions.is_empty() => return Ok(0),
            Ok(_) => {}
            Err(error) => {
                self.find_same(&dataset.namespace.name, dataset.namespace.incarnation)?;
                return Err(error.into());
            }
        }
        let ensured = self.ensure_slices(dataset, &[next]).await?;
        ensured.refused.into_values().next().map_or(Ok(ensured.made), Err)
    }
}

/// The slice that `now` lies in and the start of the next one, if the first is half over and the second does not exist.
fn due(dataset: &Dataset, now: i64) -> Option<(Layout, Timestamp)> {
    let now = Timestamp::checked(now)?;
    let present = dataset.layouts.find(now)?;
    let slice = present.slice;
    let half = slice.start() + (slice.end() - slice.start()) / 2;
    let next = Timestamp::checked(slice.end())?;
    (now.nanos() >= half && dataset.layouts.find(next).is_none()).then_some((*present, next))
}
