//! The handle to the data plane.

use std::sync::Arc;

use env::Env;
use model::NamespaceName;
use store::Store;

use crate::catalog::Catalog;
use crate::read::read_page;
use crate::write::{WriteQueue, write_queued, write_synced};
use crate::{
    Namespace, NamespaceSpec, QueueCounts, ReadPage, ReadRequest, Result, SliceInfo, WriteAnswer,
    WriteRequest,
};

/// Namespaces, writes and reads over one store. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    catalog: Arc<Catalog>,
    store: Arc<dyn Store>,
    queue: Arc<WriteQueue>,
    env: Env,
}

impl Engine {
    /// Loads the catalog from the store.
    pub async fn open(store: Arc<dyn Store>, env: Env) -> Result<Self> {
        let catalog = Arc::new(Catalog::load(Arc::clone(&store), env.clone()).await?);
        let queue = WriteQueue::start(Arc::clone(&store), env.clone());
        Ok(Self { catalog, store, queue, env })
    }

    /// Makes a namespace.
    pub async fn create_namespace(&self, name: &NamespaceName, spec: NamespaceSpec) -> Result<Namespace> {
        Ok(self.catalog.create(name, spec).await?.namespace.clone())
    }

    /// A namespace as it is now.
    pub fn get_namespace(&self, name: &NamespaceName) -> Result<Namespace> {
        Ok(self.catalog.find(name)?.namespace.clone())
    }

    /// All namespaces, in the order of their names.
    pub fn list_namespaces(&self) -> Vec<Namespace> {
        self.catalog.all().iter().map(|dataset| dataset.namespace.clone()).collect()
    }

    /// Changes a namespace; with an etag only if that names its present state. Slices that exist keep their shape.
    pub async fn update_namespace(
        &self,
        name: &NamespaceName,
        spec: NamespaceSpec,
        etag: Option<&str>,
    ) -> Result<Namespace> {
        Ok(self.catalog.update(name, spec, etag).await?.namespace.clone())
    }

    /// Deletes a namespace with all its data.
    pub async fn delete_namespace(&self, name: &NamespaceName, etag: Option<&str>) -> Result<()> {
        self.catalog.delete(name, etag).await
    }

    /// The slices of a namespace, oldest first.
    pub fn list_slices(&self, name: &NamespaceName) -> Result<Vec<SliceInfo>> {
        let dataset = self.catalog.find(name)?;
        let now = self.env.clock.wall();
        let info = |layout: &model::Layout| SliceInfo {
            table: dataset.table(layout).name.as_str().to_owned(),
            slice: layout.slice,
            shape: layout.shape,
            state: dataset.state_of(layout.slice, now),
        };
        Ok(dataset.layouts.iter().map(info).collect())
    }

    /// Writes events and answers when they are durable.
    pub async fn write_synced(&self, request: WriteRequest) -> Result<WriteAnswer> {
        write_synced(&self.catalog, &self.store, &*self.env.clock, request).await
    }

    /// Queues events and answers at once. They are lost if the process dies before they are stored.
    pub async fn write_queued(&self, request: WriteRequest) -> Result<WriteAnswer> {
        write_queued(&self.catalog, &self.queue, &*self.env.clock, request).await
    }

    /// Stores what is queued now; to be called before a shutdown.
    pub async fn flush_queue(&self) {
        self.queue.flush().await;
    }

    /// What the queue has done so far.
    pub fn queue_counts(&self) -> QueueCounts {
        self.queue.counts()
    }

    /// Reads one page of a series.
    pub async fn read(&self, request: ReadRequest) -> Result<ReadPage> {
        let started = self.env.clock.boot();
        let mut page = read_page(&self.catalog, &self.store, self.env.clock.wall(), request).await?;
        page.cost.time_taken = self.env.clock.boot().since(started);
        Ok(page)
    }

    /// Drops slices that retention has let go; gives back how many. To be called now and then.
    pub async fn drop_expired(&self) -> Result<usize> {
        self.catalog.drop_expired().await
    }
}
