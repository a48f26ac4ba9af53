//! The handle to the data plane.

mod ask;
mod read_modes;

use std::sync::Arc;
use std::time::Duration;

use env::Env;
use model::{Interval, NamespaceName, SeriesId};
use prometheus_client::registry::Registry;
use store::Store;

use crate::block::BlockChange;
use crate::catalog::Catalog;
use crate::histograms::histograms;
use crate::metrics::{Metrics, Mode, Write};
use crate::readmode::{Comparer, Notes};
use crate::reads::Reads;
use crate::route::Router;
use crate::split::{SplitLimits, Splits};
use crate::tune::Tuner;
use crate::view::{AuditLine, Cause, Me, Member, ServerInfo, Standing};
use crate::write::{WriteQueue, write_queued, write_synced};
use crate::{
    AggregatePage, AggregateRequest, Backfill, Block, Explanation, Namespace, NamespaceSpec, NewBlock,
    QueueCounts, ReadLimits, ReadPage, ReadRequest, Result, SliceHistogram, SliceInfo, WriteAnswer,
    WriteRequest,
};

/// Namespaces, writes and reads over one store. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) store: Arc<dyn Store>,
    queue: Arc<WriteQueue>,
    reads: Arc<Reads>,
    pub(crate) splits: Arc<Splits>,
    pub(crate) tuner: Arc<Tuner>,
    router: Arc<Router>,
    comparer: Arc<Comparer>,
    metrics: Arc<Metrics>,
    env: Env,
    /// Who asks for what is changed through this handle, and why.
    pub(crate) cause: Arc<Cause>,
}

/// How an engine is opened.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Limits on reads.
    pub reads: ReadLimits,
    /// How it takes part among other servers.
    pub member: Member,
    /// Limits on splitting.
    pub splits: SplitLimits,
    /// A fault that a test has to find.
    #[cfg(feature = "seeded-bugs")]
    pub bug: Option<crate::split::Bug>,
}

impl Engine {
    /// Takes over what the store holds, as its only server.
    pub async fn open(store: Arc<dyn Store>, env: Env) -> Result<Self> {
        let member = Member { alone: true, ..Member::default() };
        Self::open_with(store, env, Options { member, ..Options::default() }).await
    }

    /// Takes part in what the store holds, by default as one server of several.
    pub async fn open_with(store: Arc<dyn Store>, env: Env, options: Options) -> Result<Self> {
        let me = Me::new(options.member, &env);
        let catalog = Arc::new(Catalog::load(Arc::clone(&store), env.clone(), me).await?);
        let limits = options.reads;
        let metrics = Arc::new(Metrics::default());
        let queue =
            WriteQueue::start(Arc::clone(&catalog), Arc::clone(&store), env.clone(), Arc::clone(&metrics));
        let router = Router::new(Arc::clone(&catalog), env.clone());
        #[cfg(feature = "seeded-bugs")]
        let router = router.with(options.bug);
        let (router, notes) = (Arc::new(router), Arc::new(Notes::default()));
        // Before the first read, so that it takes the way that it should.
        router.load_filters(true).await?;
        let outside = || (Arc::clone(&store), env.clone());
        let of = || (Arc::clone(&catalog), outside(), Arc::clone(&router));
        let (known, at, by) = of();
        let splits = Splits::new(known, at, by, Arc::clone(&notes), options.splits);
        #[cfg(feature = "seeded-bugs")]
        let splits = splits.with(options.bug);
        let splits = Arc::new(splits);
        let (known, at, by) = of();
        let comparer = Arc::new(Comparer::new(known, at, by, Arc::clone(&splits), notes));
        let reads = Reads::new(
            (Arc::clone(&catalog), outside()),
            Arc::clone(&metrics),
            Arc::clone(&comparer),
            Arc::clone(&splits),
            limits,
        );
        let tuner = Arc::new(Tuner::new(Arc::clone(&catalog)));
        let (reads, cause) = (Arc::new(reads), Arc::default());
        Ok(Self { catalog, store, queue, reads, splits, tuner, router, comparer, metrics, env, cause })
    }

    /// A handle whose changes are audited as asked for by this cause.
    #[must_use]
    pub fn because(&self, cause: Cause) -> Self {
        Self { cause: Arc::new(cause), ..self.clone() }
    }

    /// Shows what is counted and measured in `registry`. Once per registry: names would come twice.
    pub fn register_metrics(&self, registry: &mut Registry) {
        self.metrics.register(registry);
        self.splits.metrics.register(registry);
        self.tuner.metrics.register(registry);
        self.router.metrics.register(registry);
        self.comparer.metrics.register(registry);
    }

    /// Makes a namespace.
    pub async fn create_namespace(&self, name: &NamespaceName, spec: NamespaceSpec) -> Result<Namespace> {
        Ok(self.catalog.create(name, spec, &self.cause).await?.namespace.clone())
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
        Ok(self.catalog.update(name, spec, etag, &self.cause).await?.namespace.clone())
    }

    /// Deletes a namespace with all its data.
    pub async fn delete_namespace(&self, name: &NamespaceName, etag: Option<&str>) -> Result<()> {
        let deleted = self.catalog.delete(name, etag, &self.cause).await;
        // Also where dropping a table failed the namespace is gone.
        if self.catalog.find(name).is_err() {
            self.metrics.forget(name);
            self.reads.forget(name);
            self.tuner.metrics.forget(name);
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
            storage: dataset.slices.get(&layout.slice.start()).map(|slice| slice.storage).unwrap_or_default(),
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
    /// servers when they next call [`Engine::refresh`].
    pub async fn add_blocks(&self, name: &NamespaceName, blocks: Vec<NewBlock>) -> Result<Vec<Block>> {
        self.catalog.change_blocks(name, &BlockChange::Add(blocks), &self.cause).await
    }

    /// What [`Engine::add_blocks`] would answer now, changing nothing.
    pub fn check_blocks(&self, name: &NamespaceName, blocks: Vec<NewBlock>) -> Result<Vec<Block>> {
        let (dataset, now) = (self.catalog.find(name)?, self.env.clock.wall());
        Ok(dataset.blocks.changed(&BlockChange::Add(blocks), now)?.1)
    }

    /// Removes the blocks of ids; gives back those that there were.
    pub async fn remove_blocks(&self, name: &NamespaceName, series: Vec<SeriesId>) -> Result<Vec<Block>> {
        self.catalog.change_blocks(name, &BlockChange::Remove(series), &self.cause).await
    }

    /// The blocks that are in force here, in the order of their ids.
    pub fn list_blocks(&self, name: &NamespaceName) -> Result<Vec<Block>> {
        let dataset = self.catalog.find(name)?;
        Ok(dataset.blocks.in_force(self.env.clock.wall()).cloned().collect())
    }

    /// Takes over what other servers have changed, and keeps the lease. To be called every second: that is how long another
    /// server's change takes to be in force here. Gives back how many changes were new.
    pub async fn refresh(&self) -> Result<u64> {
        self.catalog.refresh().await
    }

    /// Writes down for newcomers what has changed; to be called every second.
    pub async fn settle(&self) -> Result<()> {
        self.catalog.settle_if_due().await
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

    /// Closes time behind slices that nobody may write to any more, lets narrowed limits count everywhere once every server
    /// knows them, and forgets servers that are gone. To be called now and then.
    pub async fn close_time(&self) -> Result<()> {
        self.catalog.remove_gone().await?;
        self.catalog.narrow_limits().await?;
        self.catalog.close_slices().await?;
        self.catalog.sweep_log().await
    }

    /// Drops tables that nothing names any more; gives back how many there were. To be called once in a long while.
    pub async fn sweep_tables(&self) -> Result<usize> {
        self.catalog.sweep_tables().await
    }

    /// Closes time of a namespace as far as that can be, at most up to `wanted`: no event before the time that this gives back
    /// is accepted any more, but in backfills.
    pub async fn close_time_of(&self, name: &NamespaceName, wanted: i64) -> Result<i64> {
        self.catalog.close_time(name, wanted).await
    }

    /// Opens a range of time for events older than the accept limit, on every server; answers when they are accepted. Splits of
    /// that time go out of use first.
    pub async fn begin_backfill(&self, name: &NamespaceName, interval: Interval) -> Result<Backfill> {
        let id = self.catalog.announce_backfill(name, interval, &self.cause).await?;
        Box::pin(self.splits.give_way(name, interval)).await?;
        self.catalog.open_backfill(name, id).await?;
        Ok(Backfill { id, interval, open: true })
    }

    /// Ends a backfill.
    pub async fn end_backfill(&self, name: &NamespaceName, id: u64) -> Result<()> {
        self.catalog.end_backfill(name, id, &self.cause).await
    }

    /// The backfills of a namespace.
    pub fn list_backfills(&self, name: &NamespaceName) -> Result<Vec<Backfill>> {
        Ok(self.catalog.find(name)?.backfills())
    }

    /// All servers, as far as they are known.
    pub async fn servers(&self) -> Result<Vec<ServerInfo>> {
        self.catalog.servers().await
    }

    /// The newest changes of configuration before an epoch, newest first.
    pub async fn audit(&self, before: Option<u64>, lines_max: usize) -> Result<Vec<AuditLine>> {
        self.catalog.audit(before, lines_max).await
    }

    /// The number of the last change that this server has seen.
    pub fn epoch(&self) -> u64 {
        self.catalog.known().epoch
    }

    /// Whether this server holds a lease.
    pub fn is_leased(&self) -> bool {
        self.catalog.standing() == Standing::Leased
    }

    /// How long ago this server began to read what it knows of the others; none if it never did.
    pub fn view_age(&self) -> Option<Duration> {
        self.catalog.me.view_age(self.env.clock.boot())
    }

    /// Names this server among the others.
    pub fn server_id(&self) -> String {
        self.catalog.me.id()
    }

    /// Leaves the others: to be called when this server takes no more requests.
    pub async fn leave(&self) -> Result<()> {
        let written = self.comparer.write_down().await;
        self.catalog.leave().await?;
        written
    }
}
