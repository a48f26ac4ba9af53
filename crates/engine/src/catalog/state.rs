//! What memory holds of the catalog: one immutable snapshot per namespace, swapped whole.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use env::Env;
use model::{Layout, Layouts, NamespaceName, SeriesId, TableName, TableRef, Timeline};
use store::{MetaRecord, MetaVersion, Storage, Store};
use tokio::sync::Mutex;

use super::record::{self, NamespaceRecord, SliceRecord};
use crate::block::{Access, BlockList};
use crate::{Error, Namespace, Reason, Result};

/// Records read at once while loading.
const LOAD_PAGE: usize = 1_000;

/// A namespace with its slices, as it was at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Dataset {
    pub(crate) namespace: Namespace,
    pub(crate) record: NamespaceRecord,
    pub(crate) version: MetaVersion,
    pub(crate) timeline: Timeline,
    pub(crate) layouts: Layouts,
    /// How the table of each slice is kept, by the slice's start.
    pub(crate) storages: BTreeMap<i64, Storage>,
    pub(crate) blocks: Arc<BlockList>,
    /// Of the stored list that `blocks` is; none where nothing was ever blocked.
    pub(crate) blocks_version: Option<MetaVersion>,
}

impl Dataset {
    pub(crate) fn new(name: NamespaceName, record: NamespaceRecord, version: MetaVersion) -> Result<Self> {
        let namespace = Namespace {
            name,
            incarnation: record.incarnation,
            spec: record.spec.clone(),
            created: record.created,
            etag: format!("{}-{}", record.incarnation, version.0),
        };
        let timeline = record.timeline()?;
        let (layouts, storages) = (Layouts::default(), BTreeMap::new());
        let (blocks, blocks_version) = (Arc::default(), None);
        Ok(Self { namespace, record, version, timeline, layouts, storages, blocks, blocks_version })
    }

    /// Adds a slice and how its table is kept.
    pub(crate) fn insert(&mut self, layout: Layout, storage: Storage) {
        self.layouts.insert(layout);
        self.storages.entry(layout.slice.start()).or_insert(storage);
    }

    /// Removes a slice.
    pub(crate) fn remove(&mut self, start: i64) {
        self.layouts.remove(start);
        self.storages.remove(&start);
    }

    /// Refuses `access` to a series that is blocked at `now`.
    pub(crate) fn check_access(&self, series: &SeriesId, now: i64, access: Access) -> Result<()> {
        self.blocks.check(&self.namespace.name, series, now, access)
    }

    /// The table of one of its slices.
    pub(crate) fn table(&self, layout: &Layout) -> TableRef {
        TableRef {
            namespace: self.namespace.name.clone(),
            incarnation: self.namespace.incarnation,
            name: TableName::data(layout.slice),
        }
    }
}

/// All namespaces.
pub(crate) struct Catalog {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) env: Env,
    live: RwLock<BTreeMap<NamespaceName, Arc<Dataset>>>,
    /// Held while anything is made, changed or dropped, so that changes of one server do not race each other.
    pub(crate) changing: Mutex<()>,
    /// Held while a list of blocked ids is read or changed; taken before `changing`.
    pub(crate) blocking: Mutex<()>,
}

impl Catalog {
    /// Loads everything that exists. Tables that a crash left unmade are made.
    pub(crate) async fn load(store: Arc<dyn Store>, env: Env) -> Result<Self> {
        let catalog = Self {
            store,
            env,
            live: RwLock::default(),
            changing: Mutex::default(),
            blocking: Mutex::default(),
        };
        for stored in catalog.range(record::namespaces_group()).await? {
            let namespace: NamespaceRecord = record::decode(&stored.value)?;
            if namespace.deleted {
                continue;
            }
            let name = std::str::from_utf8(&stored.name).ok().and_then(|name| NamespaceName::new(name).ok());
            let unreadable = || Error::new(Reason::ChecksumMismatch, "a namespace has an unreadable name");
            let mut dataset = Dataset::new(name.ok_or_else(unreadable)?, namespace, stored.version)?;
            catalog.load_slices(&mut dataset).await?;
            catalog.publish(dataset);
        }
        catalog.refresh_blocks().await?;
        Ok(catalog)
    }

    async fn load_slices(&self, dataset: &mut Dataset) -> Result<()> {
        let (name, incarnation) = (&dataset.namespace.name, dataset.namespace.incarnation);
        for stored in self.range(record::slices_group(name, incarnation).as_bytes()).await? {
            let slice: SliceRecord = record::decode(&stored.value)?;
            let time = model::Timestamp::from_nanos(slice.start)?;
            let layout = Layout { slice: dataset.timeline.slice_of(time), shape: slice.shape() };
            self.store.create_table(&dataset.table(&layout), &slice.storage).await?;
            dataset.insert(layout, slice.storage);
        }
        Ok(())
    }

    /// Every record of a group.
    pub(crate) async fn range(&self, group: &[u8]) -> Result<Vec<MetaRecord>> {
        let mut records: Vec<MetaRecord> = Vec::new();
        loop {
            let after = records.last().map(|record| record.name.clone());
            let page = self.store.meta_range(group, after.as_deref(), LOAD_PAGE).await?;
            records.extend(page.records);
            if !page.more {
                return Ok(records);
            }
        }
    }

    /// The namespace as it is now.
    pub(crate) fn find(&self, name: &NamespaceName) -> Result<Arc<Dataset>> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        live.get(name).cloned().ok_or_else(|| {
            let message = format!("namespace `{}` does not exist; create it first", name.as_str());
            Error::new(Reason::NamespaceNotFound, message)
        })
    }

    /// The namespace as it is now, if it is still the same one: deleted and made again it is another.
    pub(crate) fn find_same(&self, name: &NamespaceName, incarnation: u32) -> Result<Arc<Dataset>> {
        let found = self.find(name).ok().filter(|found| found.namespace.incarnation == incarnation);
        found.ok_or_else(|| {
            let message = format!(
                "namespace `{}` was deleted meanwhile, with what was written to it; make sure that it exists and \
                 send the events again",
                name.as_str()
            );
            Error::new(Reason::NamespaceNotFound, message)
        })
    }

    /// All namespaces, in the order of their names.
    pub(crate) fn all(&self) -> Vec<Arc<Dataset>> {
        self.live.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Makes a snapshot the present one.
    pub(crate) fn publish(&self, dataset: Dataset) -> Arc<Dataset> {
        let dataset = Arc::new(dataset);
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        live.insert(dataset.namespace.name.clone(), Arc::clone(&dataset));
        dataset
    }

    /// Forgets a namespace.
    pub(super) fn forget(&self, name: &NamespaceName) {
        self.live.write().unwrap_or_else(PoisonError::into_inner).remove(name);
    }
}
