//! Dropping slices that retention has let go, and what deleted namespaces leave behind.
//!
//! The log says first that a slice goes; behind the barrier of that nobody reads or writes it, and its table is dropped; then
//! the log says that it is gone, for ever. Whoever finds a slice half dropped goes on with it. Retention can be extended
//! until the first of these steps: it is decided on the newest state.

use std::sync::Arc;

use model::Layout;
use store::TableOutcome;

use super::known::{Incarnation, Known};
use super::namespaces;
use super::record::{NamespaceRecord, SliceRecord, SliceStage};
use super::retention::{MARGIN, is_past, nanos};
use super::slices::put;
use super::{Catalog, Dataset};
use crate::Result;
use crate::view::Decided;

/// Slices that one change lets go.
const SLICES_PER_CHANGE: usize = 64;

impl Catalog {
    /// Drops slices that retention has let go, and tables of deleted namespaces; gives back how many slices were dropped.
    pub(crate) async fn drop_expired(&self) -> Result<usize> {
        // By the earliest of all clocks: one that runs ahead must not drop what others still write.
        let now = self.earliest_clock().await?.saturating_sub(nanos(MARGIN));
        if !expired(&self.known(), now).is_empty() {
            self.change(None, |known, epoch| let_go(known, epoch, now)).await?;
        }
        let going = going(&self.known());
        let mut dropped = Vec::new();
        for (which, slice) in going {
            let Some(dataset) = self.known().incarnation(&which).cloned() else { continue };
            self.barrier(slice.epoch).await?;
            self.drop_tables(&dataset, &slice.layout()?).await?;
            dropped.push((which, slice.start));
        }
        let mut count = 0;
        for some in dropped.chunks(SLICES_PER_CHANGE) {
            count += self.change(None, |known, epoch| gone(known, epoch, some)).await?.0;
        }
        let leaving: Vec<Arc<Dataset>> = self.known().leaving.values().cloned().collect();
        for dataset in leaving {
            self.clear(&dataset).await?;
        }
        Ok(count)
    }

    /// Drops the tables of a slice, and what is stored of its splits.
    async fn drop_tables(&self, dataset: &Dataset, layout: &Layout) -> Result<()> {
        let (table, which) =
            (dataset.table(layout), (&dataset.namespace.name, dataset.namespace.incarnation));
        self.store.drop_table(&dataset.wide_table(layout)).await?;
        self.store.drop_table(&table).await?;
        self.forget_splits(&(which.0.clone(), which.1), table.name.as_str()).await
    }

    /// Drops what a deleted namespace leaves behind.
    pub(super) async fn clear(&self, left: &Dataset) -> Result<()> {
        let which = (left.namespace.name.clone(), left.namespace.incarnation);
        let deleted = self.known().record(&which.0).map_or(0, |record| record.epoch);
        self.barrier(deleted).await?;
        for slice in left.slices.values() {
            self.drop_tables(left, &slice.layout()?).await?;
        }
        // What is only in the log would be written after it was dropped.
        self.settle_now().await?;
        self.drop_blocks(left).await?;
        self.forget_evidence(&which, u64::MAX).await?;
        self.forget_mismatches(&which).await?;
        self.forget_tuning(&which).await?;
        self.change(None, |known, epoch| left_for_good(known, epoch, &which)).await?;
        Ok(())
    }

    /// Drops tables that no slice has: of slices that are gone, or of namespaces that are. A server that was slow to make
    /// one leaves it behind. Gives back how many there were.
    pub(crate) async fn sweep_tables(&self) -> Result<usize> {
        let tables = self.store.list_tables().await?;
        // What is listed was named by the log before; so the newest state knows of it, or it is gone.
        self.refresh().await?;
        let mut swept = 0;
        for table in tables {
            let which = (table.namespace.clone(), table.incarnation);
            let dataset = self.known().incarnation(&which).cloned();
            let is_of_a_slice = dataset.is_some_and(|dataset| {
                let names = |slice: &SliceRecord| {
                    let of = |layout| [dataset.table(&layout), dataset.wide_table(&layout)];
                    slice.layout().is_ok_and(|layout| of(layout).contains(&table))
                };
                dataset.slices.values().any(names)
            });
            if !is_of_a_slice && self.store.drop_table(&table).await? == TableOutcome::Done {
                swept += 1;
            }
        }
        Ok(swept)
    }
}

/// Slices that retention has let go at `now`, a few at a time.
fn expired(known: &Known, now: i64) -> Vec<(Incarnation, SliceRecord)> {
    let of = |dataset: &Arc<Dataset>| {
        let which = (dataset.namespace.name.clone(), dataset.namespace.incarnation);
        // A server without a lease may still write by a wider one.
        let after = dataset.base_delete();
        let is_expired =
            |slice: &&SliceRecord| slice.state != SliceStage::Dropping && is_past(slice.end(), after, now);
        let slices: Vec<SliceRecord> = dataset.slices.values().filter(is_expired).cloned().collect();
        slices.into_iter().map(move |slice| (which.clone(), slice))
    };
    known.live.values().flat_map(of).take(SLICES_PER_CHANGE).collect()
}

fn let_go(known: &Known, epoch: u64, now: i64) -> Result<Decided<()>> {
    let dropping = |(which, slice): (Incarnation, SliceRecord)| {
        // One whose table was never made is gone at once.
        let state =
            if slice.state == SliceStage::Unmade { SliceStage::Dropped } else { SliceStage::Dropping };
        put(&which, &SliceRecord { state, epoch, ..slice })
    };
    let puts: Result<Vec<_>> = expired(known, now).into_iter().map(dropping).collect();
    Ok(Decided { puts: puts?, answer: () })
}

/// Slices whose tables have to be dropped.
fn going(known: &Known) -> Vec<(Incarnation, SliceRecord)> {
    let of = |dataset: &Arc<Dataset>| {
        let which = (dataset.namespace.name.clone(), dataset.namespace.incarnation);
        let slices: Vec<SliceRecord> =
            dataset.slices.values().filter(|slice| slice.state == SliceStage::Dropping).cloned().collect();
        slices.into_iter().map(move |slice| (which.clone(), slice))
    };
    known.live.values().flat_map(of).collect()
}

/// These are dropped; gives back how many by this change.
fn gone(known: &Known, epoch: u64, dropped: &[(Incarnation, i64)]) -> Result<Decided<usize>> {
    let mut puts = Vec::new();
    for (which, start) in dropped {
        let slice = known.incarnation(which).and_then(|dataset| dataset.slices.get(start));
        if let Some(slice) = slice.filter(|slice| slice.state == SliceStage::Dropping) {
            puts.push(put(which, &SliceRecord { state: SliceStage::Dropped, epoch, ..slice.clone() })?);
        }
    }
    let answer = puts.len();
    Ok(Decided { puts, answer })
}

/// Nothing is left of this incarnation.
fn left_for_good(known: &Known, epoch: u64, which: &Incarnation) -> Result<Decided<()>> {
    let record = known.record(&which.0).filter(|record| record.leaving.contains(&which.1));
    let Some(record) = record else { return Ok(Decided { puts: Vec::new(), answer: () }) };
    let leaving = record.leaving.iter().copied().filter(|incarnation| *incarnation != which.1).collect();
    namespaces::put(&which.0, &NamespaceRecord { epoch, leaving, ..record.clone() }, ())
}
