//! Making slices: on demand when an event needs one, and ahead of time.
//!
//! Three steps: the log says that the slice is being made, which freezes its shape; then its table is made; then the log says
//! that it is open. Whoever finds a slice half made goes on with it. The first event is acknowledged behind the barrier of
//! the last step, so that no server can miss it in a read.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{Layout, Timestamp};
use store::{Enumerate, ErrorKind};

use super::known::{Incarnation, Known};
use super::record::{self, SliceRecord, SliceStage};
use super::{Catalog, Dataset};
use crate::view::{Decided, Put};
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
    /// namespace is no longer the one that `wanted_by` was, or nothing can be made at all.
    pub(crate) async fn ensure_slices(&self, wanted_by: &Dataset, times: &[Timestamp]) -> Result<Ensured> {
        let _slicing = self.slicing.lock().await;
        let which = (wanted_by.namespace.name.clone(), wanted_by.namespace.incarnation);
        let dataset = self.find_same(&which.0, which.1)?;
        if times.iter().all(|time| dataset.layouts.find(*time).is_some()) {
            return Ok(Ensured { dataset, made: 0, refused: BTreeMap::new() });
        }
        let (begun, _) = self.change(None, |known, epoch| begin(known, epoch, &which, times)).await?;
        let mut refused = begun.refused;
        let mut made = BTreeMap::new();
        for (time, slice) in begun.making {
            let table = dataset.table(&slice.layout()?);
            let stage = match self.store.create_table(&table, &slice.storage).await {
                Ok(_) => SliceStage::Open,
                // The store has all the tables it may have.
                Err(error) if error.kind() == ErrorKind::Invalid => {
                    refused.insert(time, Error::from(error).with_reason(Reason::RateLimited));
                    SliceStage::Unmade
                }
                Err(error) => {
                    refused.insert(time, error.into());
                    continue;
                }
            };
            made.insert(slice.start, stage);
        }
        let (count, _) = self.change(None, |known, epoch| finish(known, epoch, &which, &made)).await?;
        let dataset = self.find_same(&which.0, which.1)?;
        Ok(Ensured { dataset, made: count, refused })
    }

    /// Makes the next slice of every namespace whose present one is half over and has data, and finishes those that somebody
    /// has begun and not come to finish; gives back how many were made. One that fails does not keep the others from theirs.
    pub(crate) async fn make_slices_ahead(&self) -> Result<usize> {
        let (mut made, mut failed) = (0, None);
        for dataset in self.all() {
            match self.make_due(&dataset).await {
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

    async fn make_due(&self, dataset: &Dataset) -> Result<usize> {
        Ok(self.make_begun(dataset).await? + self.make_next(dataset).await?)
    }

    async fn make_begun(&self, dataset: &Dataset) -> Result<usize> {
        let begun = dataset.slices.values().filter(|slice| slice.state == SliceStage::Making);
        let times: Vec<Timestamp> = begun.filter_map(|slice| Timestamp::checked(slice.start)).collect();
        if times.is_empty() {
            return Ok(0);
        }
        let ensured = self.ensure_slices(dataset, &times).await?;
        ensured.refused.into_values().next().map_or(Ok(ensured.made), Err)
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
        if let Some(refused) = ensured.refused.into_values().next() {
            return Err(refused);
        }
        // Now, so that the first event in it waits for nobody, and needs no metadata.
        self.barrier(ensured.dataset.opened_by(next.nanos())).await?;
        Ok(ensured.made)
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

/// Slices whose tables are to be made.
struct Begun {
    making: Vec<(Timestamp, SliceRecord)>,
    refused: BTreeMap<Timestamp, Error>,
}

/// Slices of these times that are not open begin to be made, with the shape that holds now.
fn begin(known: &Known, epoch: u64, which: &Incarnation, times: &[Timestamp]) -> Result<Decided<Begun>> {
    let dataset = known.find_same(which)?;
    let mut begun = Begun { making: Vec::new(), refused: BTreeMap::new() };
    let mut puts = Vec::new();
    let mut count = dataset.slices.len();
    for time in times {
        let slice = dataset.timeline.slice_of(*time);
        let present = dataset.slices.get(&slice.start());
        match present.map(|record| record.state) {
            Some(SliceStage::Open) => {}
            Some(SliceStage::Making) => begun.making.extend(present.cloned().map(|record| (*time, record))),
            Some(SliceStage::Dropping | SliceStage::Dropped) => {
                begun.refused.insert(*time, dropped(dataset, *time));
            }
            None if dataset.dropped.contains(slice.start()) => {
                begun.refused.insert(*time, dropped(dataset, *time));
            }
            None | Some(SliceStage::Unmade) => {
                if present.is_none() && count >= SLICES_MAX {
                    begun.refused.insert(*time, too_many(dataset));
                    continue;
                }
                count += usize::from(present.is_none());
                let layout = Layout { slice, shape: dataset.record.shape_at(slice.start())? };
                let fresh = SliceRecord::new(&layout, dataset.namespace.spec.storage);
                let record = SliceRecord { state: SliceStage::Making, epoch, ..fresh };
                puts.push(put(which, &record)?);
                begun.making.push((*time, record));
            }
        }
    }
    Ok(Decided { puts, answer: begun })
}

/// Slices that were being made are as far as `made` says; gives back how many are open by that.
fn finish(
    known: &Known,
    epoch: u64,
    which: &Incarnation,
    made: &BTreeMap<i64, SliceStage>,
) -> Result<Decided<usize>> {
    let dataset = known.find_same(which)?;
    let (mut puts, mut opened) = (Vec::new(), 0);
    for (start, stage) in made {
        let making = dataset.slices.get(start).filter(|record| record.state == SliceStage::Making);
        if let Some(record) = making {
            puts.push(put(which, &SliceRecord { state: *stage, epoch, ..record.clone() })?);
            opened += usize::from(*stage == SliceStage::Open);
        }
    }
    Ok(Decided { puts, answer: opened })
}

/// A put of one slice.
pub(super) fn put(which: &Incarnation, record: &SliceRecord) -> Result<Put> {
    Put::new(&record::slice_key(&which.0, which.1, record.start), record)
}

fn too_many(dataset: &Dataset) -> Error {
    let message = format!(
        "namespace `{}` has {SLICES_MAX} slices, the most it may have; widen them or shorten retention",
        dataset.namespace.name.as_str()
    );
    Error::new(Reason::RateLimited, message)
}

/// Time that retention has dropped takes no writes, for ever.
pub(crate) fn dropped(dataset: &Dataset, time: Timestamp) -> Error {
    let label = dataset.timeline.slice_of(time).label();
    let message =
        format!("the slice data_{label} was dropped by retention; its time takes no events any more");
    Error::new(Reason::EventTooOld, message)
}
