//! The handle to the data plane.

use std::sync::Arc;

use env::Env;
use model::{NamespaceName, SeriesId};
use prometheus_client::registry::Registry;
use store::Store;

use crate::block::BlockChange;
use crate::catalog::Catalog;
use crate::histograms::histograms;
use crate::metrics::{Metrics, Mode, Write};
use crate::reads::Reads;
use crate::write::{WriteQueue, write_queued, write_synced};
use crate::{
    AggregatePage, AggregateRequest, Block, Explanation, Namespace, NamespaceSpec, NewBlock, QueueCounts,
    ReadLimits, ReadPage, ReadRequest, Result, SliceHistogram, SliceInfo, WriteAnswer, WriteRequest,
};

/// Namespaces, writes and reads over one store. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    catalog: Arc<Catalog>,
    store: Arc<dyn Store>,
    queue: Arc<WriteQueue>,
    reads: Arc<Reads>,
    metrics: Arc<Metrics>,
    env: Env,
}

impl Engine {
    /// Loads the catalog from the store.
    pub async fn open(store: Arc<dyn Store>, env: Env) -> Result<Self> {
        Self::open_with(store, env, ReadLimits::default()).await
    }

    /// The same, with other limits on reads.
    pub async fn open_with(store: Arc<dyn Store>, env: Env, limits: ReadLimits) -> Result<Self> {
        let catalog = Arc::new(Catalog::load(Arc::clone(&store), env.clone()).await?);
        let metrics = Arc::new(Metrics::default());
        let queue =
            WriteQueue::start(Arc::clone(&catalog), Arc::clone(&store), env.clone(), Arc::clone(&metrics));
        let (of, at, counted) = (Arc::clone(&catalog), Arc::clone(&store), Arc::clone(&metrics));
        let reads = Arc::new(Reads::new(of, at, env.clone(), counted, limits));
        Ok(Self { catalog, store, queue, reads, metrics, env })
    }

    /// Shows what is counted and measured in `registry`. Once per registry: names would come twice.
    pub fn register_metrics(&self, registry: &mut Registry) {
        self.metrics.register(registry);
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
        let deleted = self.catalog.delete(name, etag).await;
        // Also where dropping a table failed the namespace is gone.
        if self.catalog.find(name).is_err() {
            self.metrics.forget(name);
            self.reads.forget(name);
        }
        deleted
    }

    /// The slices of a namespace, oldest first.
    pub fn list_slices(&self, name: &NamespaceName) -> Result<Vec<SliceInfo>> {
        let dataset = self.catalog.find(name)?;
        let now = self.env.clock.wall();
        let info = |layout: &model::Layout| SliceInfo {
            table: dataset.table(layout).name.as_str().to_owned(),
            slice: layout.slice,
            shape: layout.shape,
            storage: dataset.storages.get(&layout.slice.start()).copied().unwrap_or_default(),
            state: dataset.state_of(layout.slice, now),
        };
        Ok(dataset.layouts.iter().map(info).collect())
    }

    /// How large the partitions of one slice are, or those of all slices, oldest first: as the store knows it, or measured by
    /// reading all of it.
    pub async fn partition_histogram(
        &self,
        name: &NamespaceName,
        table: Option<&str>,
        measure: bool,
    ) -> Result<Vec<SliceHistogram>> {
        histograms(&self.catalog, name, table, measure).await
    }

    /// Writes events and answers when they are durable. An event that grew too old before the answer is refused with
    /// `BACKEND_TIMEOUT`: it may be stored.
    pub async fn write_synced(&self, request: WriteRequest) -> Result<WriteAnswer> {
        let (namespace, events) = (request.namespace.clone(), request.events.len());
        let write = write_synced(&self.catalog, &self.store, &*self.env.clock, request);
        self.counted(Mode::Synced, &namespace, events, write).await
    }

    /// Queues events and answers at once. They are lost if the process dies before they are stored.
    pub async fn write_queued(&self, request: WriteRequest) -> Result<WriteAnswer> {
        let (namespace, events) = (request.namespace.clone(), request.events.len());
        let write = write_queued(&self.catalog, &self.queue, &*self.env.clock, request);
        self.counted(Mode::Queued, &namespace, events, write).await
    }

    async fn counted(
        &self,
        mode: Mode,
        namespace: &NamespaceName,
        events: usize,
        write: impl Future<Output = Result<WriteAnswer>>,
    ) -> Result<WriteAnswer> {
        let started = self.env.clock.boot();
        let result = write.await;
        let took = self.env.clock.boot().since(started);
        self.metrics.wrote(&self.catalog, &Write { namespace, mode, events, took }, &result);
        result
    }

    /// Stores what is queued now; to be called before a shutdown.
    pub async fn flush_queue(&self) {
        self.queue.flush().await;
    }

    /// What the queue has done so far.
    pub fn queue_counts(&self) -> QueueCounts {
        self.queue.counts()
    }

    /// Reads one page of one, several or all series.
    pub async fn read(&self, request: ReadRequest) -> Result<ReadPage> {
        self.reads.read(request).await
    }

    /// Counts or sums up the events that a read would give.
    pub async fn aggregate(&self, request: AggregateRequest) -> Result<AggregatePage> {
        self.reads.aggregate(request).await
    }

    /// Reads one page and tells what that took.
    pub async fn explain(&self, request: ReadRequest) -> Result<Explanation> {
        self.reads.explain(request).await
    }

    /// Blocks ids, in place of what was said of them before; gives back the blocks. In force here at once, and on other
    /// servers when they next call [`Engine::refresh_blocks`].
    pub async fn add_blocks(&self, name: &NamespaceName, blocks: Vec<NewBlock>) -> Result<Vec<Block>> {
        self.catalog.change_blocks(name, &BlockChange::Add(blocks)).await
    }

    /// What [`Engine::add_blocks`] would answer now, changing nothing.
    pub fn check_blocks(&self, name: &NamespaceName, blocks: Vec<NewBlock>) -> Result<Vec<Block>> {
        let (dataset, now) = (self.catalog.find(name)?, self.env.clock.wall());
        Ok(dataset.blocks.changed(&BlockChange::Add(blocks), now)?.1)
    }

    /// Removes the blocks of ids; gives back those that there were.
    pub async fn remove_blocks(&self, name: &NamespaceName, series: Vec<SeriesId>) -> Result<Vec<Block>> {
        self.catalog.change_blocks(name, &BlockChange::Remove(series)).await
    }

    /// The blocks that are in force here, in the order of their ids.
    pub fn list_blocks(&self, name: &NamespaceName) -> Result<Vec<Block>> {
        let dataset = self.catalog.find(name)?;
        Ok(dataset.blocks.in_force(self.env.clock.wall()).cloned().collect())
    }

    /// Takes over what other servers have changed of blocked ids; gives back in how many namespaces. To be called every
    /// second: that is how long another server's change takes to be in force here.
    pub async fn refresh_blocks(&self) -> Result<usize> {
        self.catalog.refresh_blocks().await
    }

    /// Makes the next slice of every namespace that is written to, once half of its present one is over; gives back how
    /// many were made. To be called now and then: often enough that it meets the second half of the narrowest slice.
    pub async fn make_slices_ahead(&self) -> Result<usize> {
        self.catalog.make_slices_ahead().await
    }

    /// Drops slices that retention has let go; gives back how many. To be called now and then.
    pub async fn drop_expired(&self) -> Result<usize> {
        self.catalog.drop_expired().await
    }
}
