//! The handle to what exists: one server's view, and the store that all servers share.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use env::Env;
use model::NamespaceName;
use store::{MetaRecord, Store};
use tokio::sync::Mutex;

use super::Dataset;
use super::known::Known;
use crate::Result;
use crate::view::{Me, Standing};

/// Records read at once while loading.
const LOAD_PAGE: usize = 1_000;

/// All namespaces, as this server knows them.
pub(crate) struct Catalog {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) env: Env,
    known: RwLock<Known>,
    /// This server among the others.
    pub(crate) me: Me,
    /// Held while the log is read or changed, so that what is known never goes back and changes of one server do not race
    /// each other. Never held over anything but metadata.
    pub(crate) changing: Mutex<()>,
    /// Held while slices are made, so that many who need one do not all make it.
    pub(crate) slicing: Mutex<()>,
    /// Held while a list of blocked ids is changed.
    pub(crate) blocking: Mutex<()>,
}

impl Catalog {
    /// Registers, then reads all that exists.
    pub(crate) async fn load(store: Arc<dyn Store>, env: Env, me: Me) -> Result<Self> {
        let catalog = Self {
            store,
            env,
            known: RwLock::default(),
            me,
            changing: Mutex::default(),
            slicing: Mutex::default(),
            blocking: Mutex::default(),
        };
        catalog.register().await?;
        catalog.refresh().await?;
        Ok(catalog)
    }

    /// Every record of a group.
    pub(crate) async fn range(&self, group: &[u8]) -> Result<Vec<MetaRecord>> {
        self.range_after(group, None).await
    }

    /// Every record of a group behind a name.
    pub(crate) async fn range_after(&self, group: &[u8], after: Option<&[u8]>) -> Result<Vec<MetaRecord>> {
        let mut records: Vec<MetaRecord> = Vec::new();
        loop {
            let last = records.last().map(|record| record.name.clone());
            let after = last.as_deref().or(after);
            let page = self.store.meta_range(group, after, LOAD_PAGE).await?;
            records.extend(page.records);
            if !page.more {
                return Ok(records);
            }
        }
    }

    /// What is known now.
    pub(crate) fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, to be changed by whoever holds `changing`.
    pub(crate) fn known_mut(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// What this server may do now.
    pub(crate) fn standing(&self) -> Standing {
        self.me.standing(self.env.clock.boot())
    }

    /// The namespace as it is known now.
    pub(crate) fn find(&self, name: &NamespaceName) -> Result<Arc<Dataset>> {
        self.known().find(name).cloned()
    }

    /// The same; one that is not known here may have been made by another server a moment ago.
    pub(crate) async fn find_or_look(&self, name: &NamespaceName) -> Result<Arc<Dataset>> {
        if let Ok(found) = self.find(name) {
            return Ok(found);
        }
        self.look_again().await;
        self.find(name)
    }

    /// The namespace as it is now, if it is still the same one: deleted and made again it is another.
    pub(crate) fn find_same(&self, name: &NamespaceName, incarnation: u32) -> Result<Arc<Dataset>> {
        self.known().find_same(&(name.clone(), incarnation)).cloned()
    }

    /// All namespaces, in the order of their names.
    pub(crate) fn all(&self) -> Vec<Arc<Dataset>> {
        self.known().live.values().cloned().collect()
    }
}
