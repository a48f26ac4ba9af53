//! Slices and time: which are open, closed or expired, and dropping the expired ones.

use model::{Layout, Slice};
use store::MetaChange;

use super::record;
use super::{Catalog, Dataset};
use crate::{Result, SliceState};

impl Dataset {
    /// Where in its life a slice is at `now`.
    pub(crate) fn state_of(&self, slice: Slice, now: i64) -> SliceState {
        let spec = &self.namespace.spec;
        let past = |after: std::time::Duration| {
            let after = i64::try_from(after.as_nanos()).unwrap_or(i64::MAX);
            after > 0 && slice.end().saturating_add(after) <= now
        };
        if past(spec.delete_after) {
            SliceState::Expired
        } else if past(spec.close_after) {
            SliceState::Closed
        } else {
            SliceState::Open
        }
    }
}

impl Catalog {
    /// Drops slices that retention has let go; gives back how many. Their records go last, so that a crash in between
    /// is repeated and not forgotten.
    pub(crate) async fn drop_expired(&self) -> Result<usize> {
        let mut dropped = 0;
        for dataset in self.all() {
            let _changing = self.changing.lock().await;
            let Ok(present) = self.find(&dataset.namespace.name) else { continue };
            let now = self.env.clock.wall();
            let expired: Vec<Layout> = present
                .layouts
                .iter()
                .filter(|layout| present.state_of(layout.slice, now) == SliceState::Expired)
                .copied()
                .collect();
            if expired.is_empty() {
                continue;
            }
            let mut left = Dataset::clone(&present);
            for layout in &expired {
                left.remove(layout.slice.start());
            }
            self.publish(left);
            for layout in &expired {
                self.store.drop_table(&present.table(layout)).await?;
                let (name, incarnation) = (&present.namespace.name, present.namespace.incarnation);
                let key = record::slice_key(name, incarnation, layout.slice.start());
                if let Some(found) = self.store.meta_get(&key).await? {
                    self.store.meta_cas(&key, Some(found.version), MetaChange::Remove).await?;
                }
                dropped += 1;
            }
        }
        Ok(dropped)
    }
}
