//! A store to which rows have to travel: it says so, and a scan is a task of its own, which does not begin where nobody waits for it
//! any more.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use engine::{Engine, Member, Options};
use env::Env;
use model::{PartitionKey, TableRef};
use store::{
    CasOutcome, Consistency, Durability, Effort, Enumerate, ErrorKind, Histogram, MemoryStore, MetaChange,
    MetaKey, MetaPage, MetaRecord, MetaVersion, PartitionBatch, PartitionPage, Result, Scan, ScanPage,
    Storage, Store, TableOutcome,
};
use tokio::sync::oneshot;

use crate::world::World;

/// A scan that has begun: of which table, and whether the read may look away from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Begun {
    pub(crate) table: String,
    pub(crate) ahead: bool,
}

/// Everything else is as in memory.
#[derive(Clone)]
pub(crate) struct Elsewhere {
    inner: Arc<MemoryStore>,
    begun: Arc<Mutex<Vec<Begun>>>,
}

impl Elsewhere {
    pub(crate) fn new(inner: &Arc<MemoryStore>) -> Self {
        Self { inner: Arc::clone(inner), begun: Arc::default() }
    }

    /// The scans since the last call, in the order in which they began.
    pub(crate) fn begun(&self) -> Vec<Begun> {
        std::mem::take(&mut self.begun.lock().unwrap())
    }

    /// The only server is another one, whose store is this.
    pub(crate) async fn opened(&self, world: World) -> World {
        let env = Env { clock: Arc::new(world.clock.clone()), ..Env::system() };
        let member = Member { alone: true, ..Member::default() };
        let options = Options { member, ..Options::default() };
        let engine = Engine::open_with(Arc::new(self.clone()), env, options).await.unwrap();
        World { engine, ..world }
    }
}

#[async_trait]
impl Store for Elsewhere {
    async fn create_table(&self, table: &TableRef, storage: &Storage) -> Result<TableOutcome> {
        self.inner.create_table(table, storage).await
    }

    async fn drop_table(&self, table: &TableRef) -> Result<TableOutcome> {
        self.inner.drop_table(table).await
    }

    async fn list_tables(&self) -> Result<Vec<TableRef>> {
        self.inner.list_tables().await
    }

    async fn upsert(&self, batch: PartitionBatch, durability: Durability) -> Result<()> {
        self.inner.upsert(batch, durability).await
    }

    async fn delete_partition(
        &self,
        table: &TableRef,
        partition: &PartitionKey,
        consistency: Consistency,
    ) -> Result<()> {
        self.inner.delete_partition(table, partition, consistency).await
    }

    async fn scan(&self, scan: Scan) -> Result<ScanPage> {
        let (inner, begun) = (Arc::clone(&self.inner), Arc::clone(&self.begun));
        let (answer, heard) = oneshot::channel();
        let travels = async move {
            if answer.is_closed() {
                return;
            }
            let table = scan.table.name.as_str().to_owned();
            begun.lock().unwrap().push(Begun { table, ahead: scan.ahead });
            // Whoever asked has turns before the answer comes.
            for _ in 0..4 {
                tokio::task::yield_now().await;
            }
            let _unheard = answer.send(inner.scan(scan).await);
        };
        Env::system().spawn.task("scan", Box::pin(travels));
        heard.await.map_err(|error| store::Error::new(ErrorKind::Unavailable, error.to_string()))?
    }

    async fn enumerate(&self, request: Enumerate) -> Result<PartitionPage> {
        self.inner.enumerate(request).await
    }

    async fn histogram(&self, table: &TableRef, effort: Effort) -> Result<Histogram> {
        self.inner.histogram(table, effort).await
    }

    async fn meta_get(&self, key: &MetaKey) -> Result<Option<MetaRecord>> {
        self.inner.meta_get(key).await
    }

    async fn meta_range(&self, group: &[u8], after: Option<&[u8]>, records_max: usize) -> Result<MetaPage> {
        self.inner.meta_range(group, after, records_max).await
    }

    async fn meta_cas(
        &self,
        key: &MetaKey,
        expected: Option<MetaVersion>,
        change: MetaChange,
    ) -> Result<CasOutcome> {
        self.inner.meta_cas(key, expected, change).await
    }

    async fn ready(&self) -> Result<()> {
        self.inner.ready().await
    }

    async fn disk_share(&self) -> Result<Option<f64>> {
        self.inner.disk_share().await
    }

    fn is_remote(&self) -> bool {
        true
    }
}
