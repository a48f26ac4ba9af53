//! Taking a split out of use, and deleting targets that nobody reads.

use model::PartitionKey;
use split::{Garbage, Reason};
use store::ErrorKind;

use super::held::{Held, Stop};
use super::splits::{Splits, layout_of};
use crate::Result;
use crate::catalog::{Known, SplitsChange};
use crate::view::{Cause, Decided};

impl Splits {
    /// Behind the barrier of a change that every server sees, no server reads the targets any more.
    pub(super) async fn finish_retiring(&self, held: &mut Held<'_>) -> std::result::Result<(), Stop> {
        let damaged = held.record().reason.as_ref().is_some_and(|why| why.code == Reason::Mismatch);
        let epoch = self.publish(&held.id.namespace, held.id.incarnation, damaged, None).await?;
        #[cfg(feature = "seeded-bugs")]
        let epoch = if self.has(super::bugs::Bug::RetireWithoutBarrier) { 0 } else { epoch };
        self.catalog.barrier(epoch).await?;
        self.router.forget(&held.id);
        let server = self.catalog.me.id();
        held.write(held.record().retired(self.moment(&server))).await?;
        #[cfg(feature = "seeded-bugs")]
        if self.has(super::bugs::Bug::RetireWithoutBarrier) {
            return self.clean(held).await;
        }
        Ok(())
    }

    /// One that was retired to be made anew is a candidate again.
    pub(super) async fn begin_again(&self, held: &mut Held<'_>) -> std::result::Result<(), Stop> {
        let server = self.catalog.me.id();
        held.write(held.record().begins_again(self.moment(&server))).await
    }

    /// Tells every server that splits of a namespace went out of use, perhaps because they were found to differ; the epoch in
    /// which they know.
    pub(super) async fn publish(
        &self,
        name: &model::NamespaceName,
        incarnation: u32,
        damaged: bool,
        cause: Option<&Cause>,
    ) -> Result<u64> {
        let which = (name.clone(), incarnation);
        let now = self.env.clock.wall();
        let change = if damaged { SplitsChange::Damaged(now) } else { SplitsChange::Retired };
        let decide = |known: &Known, epoch| -> Result<Decided<()>> {
            known.find_same(&which)?.change_splits(change, epoch)
        };
        Ok(self.catalog.change(cause, decide).await?.1)
    }

    /// Deletes targets that are out of use for long enough.
    pub(super) async fn clean(&self, held: &mut Held<'_>) -> std::result::Result<(), Stop> {
        let now = self.env.clock.wall();
        #[cfg(feature = "seeded-bugs")]
        let now = if self.has(super::bugs::Bug::RetireWithoutBarrier) { i64::MAX } else { now };
        let due: Vec<Garbage> =
            held.record().garbage.iter().filter(|garbage| garbage.after <= now).copied().collect();
        if due.is_empty() {
            return Ok(());
        }
        let dataset = self.catalog.find_same(&held.id.namespace, held.id.incarnation)?;
        if let Some(layout) = layout_of(&dataset, &held.id.time_slice) {
            let (table, consistency) = (dataset.wide_table(&layout), dataset.namespace.spec.consistency);
            for garbage in &due {
                for target in 0..garbage.targets {
                    let event_bucket = garbage.start_event_bucket.saturating_add(target);
                    let partition = PartitionKey { event_bucket, ..held.id.partition.clone() };
                    match self.store.delete_partition(&table, &partition, consistency).await {
                        // It was never made.
                        Err(error) if error.kind() == ErrorKind::NoTable => {}
                        deleted => deleted?,
                    }
                }
            }
        }
        held.write(held.record().cleaned(&due)).await
    }
}
