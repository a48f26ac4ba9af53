//! The filters of all slices that have splits, and how they are kept up to date.
//!
//! A version in the metadata rises before a split of the slice can be completed; whoever has read the records behind that
//! version has it in its filter. So one range tells what has changed, and only that is read. All filters are swapped at once.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use model::{NamespaceName, TableName};
use split::{SplitId, State};

use super::filter::{Filter, hash_of};
use crate::Result;
use crate::catalog::record::decode;
use crate::catalog::{Catalog, Dataset};

/// An incarnation of a namespace.
pub(crate) type Incarnation = (NamespaceName, u32);
/// Filters by the start of their slice.
pub(crate) type SliceFilters = BTreeMap<i64, Arc<Filter>>;

type All = BTreeMap<Incarnation, Arc<SliceFilters>>;

/// All filters of a server.
#[derive(Default)]
pub(crate) struct Filters {
    all: RwLock<Arc<All>>,
    /// Held while they are read anew.
    loading: tokio::sync::Mutex<()>,
}

impl Filters {
    /// All of them, as they are now.
    pub(crate) fn all(&self) -> Arc<All> {
        Arc::clone(&self.all.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Those of one namespace; none where nothing of it was ever split.
    pub(crate) fn of(&self, dataset: &Dataset) -> Option<Arc<SliceFilters>> {
        let which = (dataset.namespace.name.clone(), dataset.namespace.incarnation);
        self.all.read().unwrap_or_else(PoisonError::into_inner).get(&which).cloned()
    }

    /// Adds a split of this server, at once.
    pub(crate) fn insert(&self, id: &SplitId, slice_start: i64, filter: impl FnOnce() -> Filter) {
        let (which, split) = ((id.namespace.clone(), id.incarnation), hash_of(&id.partition));
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(present) = all.get(&which).and_then(|slices| slices.get(&slice_start)) {
            return present.insert(split);
        }
        let fresh = filter();
        fresh.insert(split);
        let slices = Arc::make_mut(&mut all).entry(which).or_default();
        Arc::make_mut(slices).insert(slice_start, Arc::new(fresh));
    }

    /// Reads what has changed, or everything; gives back how many filters were read.
    pub(crate) async fn load(&self, catalog: &Catalog, everything: bool) -> Result<usize> {
        let _loading = self.loading.lock().await;
        let (before, mut now, mut read) = (self.all(), All::new(), 0);
        for changed in catalog.split_versions().await? {
            let Some(dataset) = catalog.known().incarnation(&changed.which).cloned() else { continue };
            let Some(start) = start_of(&dataset, &changed.table) else { continue };
            let kept = before.get(&changed.which).and_then(|slices| slices.get(&start));
            let kept = kept.filter(|filter| !everything && filter.version == changed.version).cloned();
            let filter = match kept {
                Some(filter) => filter,
                None => {
                    read += 1;
                    let loaded = catalog.env.clock.boot();
                    let splits = catalog.split_hashes(&changed.which, &changed.table).await?;
                    Arc::new(Filter::new(changed.table.clone(), &splits, changed.version, loaded))
                }
            };
            Arc::make_mut(now.entry(changed.which).or_default()).insert(start, filter);
        }
        *self.all.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(now);
        Ok(read)
    }
}

/// Where the slice with this table starts; none where it is gone.
fn start_of(dataset: &Dataset, table: &str) -> Option<i64> {
    let slices = dataset.layouts.iter().map(|layout| layout.slice);
    slices.into_iter().find(|slice| TableName::data(*slice).as_str() == table).map(model::Slice::start)
}

impl Catalog {
    /// What of the splits of a slice a filter has to know: those that are completed, or may be before the version rises again.
    async fn split_hashes(&self, which: &Incarnation, table: &str) -> Result<Vec<u64>> {
        let mut hashes = Vec::new();
        for group in self.groups_of_slice(which, table).await? {
            for stored in self.range(group.as_bytes()).await? {
                let record: split::Record = decode(&stored.value)?;
                let is_wanted = matches!(
                    record.state,
                    State::Planned | State::Copying | State::Verifying | State::Completed
                );
                hashes.extend(record.id().filter(|_| is_wanted).map(|id| hash_of(&id.partition)));
            }
        }
        Ok(hashes)
    }
}
