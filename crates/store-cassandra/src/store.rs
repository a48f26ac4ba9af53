//! The store itself: checks what is asked, finds the table's statements, hands over to the part that does it.

use std::sync::Arc;

use async_trait::async_trait;
use env::Env;
use model::{PartitionKey, TableRef};
use prometheus_client::registry::Registry;
use store::{
    CasOutcome, Consistency, Durability, Effort, Enumerate, Error, ErrorKind, Histogram, MetaChange, MetaKey,
    MetaPage, MetaRecord, MetaVersion, PartitionBatch, PartitionPage, Result, Scan, ScanPage, Storage, Store,
    TableOutcome,
};
use tokio::sync::watch;

use crate::cluster::Cluster;
use crate::histogram::{Kept, Sources};
use crate::lifecycle::Lifecycle;
use crate::records::Records;
use crate::retry::Task;
use crate::scan::Columns;
use crate::signals::Signals;
use crate::statements::{Lazy, Table, Tables};
use crate::{Options, connect, delete, enumerate, measure, scan, write};

/// A store on a Cassandra cluster. Clones share one session.
#[derive(Clone)]
pub struct CassandraStore {
    shared: Arc<Shared>,
}

struct Shared {
    cluster: Arc<Cluster>,
    tables: Tables,
    lifecycle: Lifecycle,
    records: Records,
    sources: Sources,
    kept: Kept,
    ready: Lazy,
    /// Goes with the store, and tells what watches the nodes.
    here: watch::Sender<()>,
}

impl CassandraStore {
    /// Joins a cluster and makes the metadata keyspace if it is not there.
    ///
    /// Fails as unavailable while no node answers, and only then. Whatever else is wrong stays so until somebody changes
    /// it, and nothing was touched: settings, TLS, user, rights, a data centre that is not there, another layout version.
    pub async fn connect(options: &Options, env: Env) -> Result<Self> {
        let cluster = connect::connect(options, env).await?;
        let text = format!("SELECT version FROM \"{}\".layout WHERE part = ?", cluster.names.metadata());
        let shared = Shared {
            tables: Tables::new(cluster.names.clone(), cluster.profiles.clone(), options.tables_max),
            lifecycle: Lifecycle::new(&cluster, options.tables_max),
            records: Records::new(&cluster),
            sources: Sources::new(options.histograms.clone()),
            kept: Kept::new(&cluster),
            ready: Lazy::new(&cluster.profiles.metadata, text),
            here: watch::Sender::default(),
            cluster: Arc::new(cluster),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Shows in `registry` what became of hedges, how the nodes are and what they warn of, and begins to ask them every 15 seconds, until the last
    /// clone of this store is gone. Once per registry: names would come twice.
    pub fn register_metrics(&self, registry: &mut Registry) {
        let signals = Signals::default();
        signals.register(registry);
        self.shared.cluster.warnings.register(registry);
        self.shared.cluster.hedges.register(registry);
        let (cluster, stopped) = (Arc::downgrade(&self.shared.cluster), self.shared.here.subscribe());
        let following = signals.follow(cluster, stopped);
        self.shared.cluster.env.spawn.task("braid-cassandra-signals", Box::pin(following));
    }

    fn table(&self, name: &TableRef) -> Result<Arc<Table>> {
        self.shared.tables.of(name)
    }

    /// Forgets the statements of a table that turned out to be gone.
    ///
    /// A node that was away while a table was made says that there is none until it has learnt of it. The table's row
    /// knows better; what was asked of such a node fails as `kind`.
    async fn noting<T>(&self, table: &TableRef, kind: ErrorKind, result: Result<T>) -> Result<T> {
        let error = match result {
            Err(error) if error.kind() == ErrorKind::NoTable => error,
            result => return result,
        };
        self.shared.tables.forget(table);
        if self.shared.lifecycle.is_live(&self.shared.cluster, table).await? {
            let message = format!("a node of the cluster does not know table `{table}` yet; try again");
            return Err(Error::new(kind, message).caused_by(error));
        }
        Err(error)
    }
}

impl std::fmt::Debug for CassandraStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CassandraStore").finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for CassandraStore {
    async fn create_table(&self, table: &TableRef, storage: &Storage) -> Result<TableOutcome> {
        self.shared.lifecycle.create(&self.shared.cluster, table, storage).await
    }

    async fn drop_table(&self, table: &TableRef) -> Result<TableOutcome> {
        let outcome = self.shared.lifecycle.drop(&self.shared.cluster, table).await;
        self.shared.tables.forget(table);
        outcome
    }

    async fn list_tables(&self) -> Result<Vec<TableRef>> {
        self.shared.lifecycle.list(&self.shared.cluster).await
    }

    // Every acknowledged write is on as many replicas as the consistency says; when a node syncs its log is the
    // cluster's setting.
    async fn upsert(&self, batch: PartitionBatch, _durability: Durability) -> Result<()> {
        batch.check()?;
        let table = self.table(&batch.table)?;
        let written = if batch.rows.is_empty() {
            measure::assert_there(&self.shared.cluster, &table).await
        } else {
            write::upsert(&self.shared.cluster, &table, &batch).await
        };
        // Of several mutations some may be there.
        self.noting(&batch.table, ErrorKind::Unknown, written).await
    }

    async fn delete_partition(
        &self,
        table: &TableRef,
        partition: &PartitionKey,
        consistency: Consistency,
    ) -> Result<()> {
        let (name, table) = (table, self.table(table)?);
        let deleted = delete::delete(&self.shared.cluster, &table, partition, consistency).await;
        self.noting(name, ErrorKind::Unknown, deleted).await
    }

    async fn scan(&self, request: Scan) -> Result<ScanPage> {
        request.check()?;
        let table = self.table(&request.table)?;
        let found = scan::scan(&self.shared.cluster, &table, &request, Columns::All).await;
        self.noting(&request.table, ErrorKind::Unavailable, found).await
    }

    async fn scan_headers(&self, request: Scan) -> Result<ScanPage> {
        request.check()?;
        let table = self.table(&request.table)?;
        let found = scan::scan(&self.shared.cluster, &table, &request, Columns::Headers).await;
        self.noting(&request.table, ErrorKind::Unavailable, found).await
    }

    async fn enumerate(&self, request: Enumerate) -> Result<PartitionPage> {
        request.check()?;
        let table = self.table(&request.table)?;
        let found = enumerate::enumerate(&self.shared.cluster, &table, &request).await;
        self.noting(&request.table, ErrorKind::Unavailable, found).await
    }

    async fn histogram(&self, table: &TableRef, effort: Effort) -> Result<Histogram> {
        let (name, table) = (table, self.table(table)?);
        let found = match effort {
            Effort::Cheap => self.shared.sources.ask(&self.shared.cluster, &table).await,
            Effort::Measure => measure::exact(&self.shared.cluster, &table).await,
        };
        let found = self.noting(name, ErrorKind::Unavailable, found).await?;
        self.shared.kept.keep(&self.shared.cluster, &table, &found).await;
        Ok(found)
    }

    async fn meta_get(&self, key: &MetaKey) -> Result<Option<MetaRecord>> {
        store::check_meta_key(key)?;
        self.shared.records.get(&self.shared.cluster, key).await
    }

    async fn meta_range(&self, group: &[u8], after: Option<&[u8]>, records_max: usize) -> Result<MetaPage> {
        store::check_meta_range(group, after, records_max)?;
        self.shared.records.range(&self.shared.cluster, group, after, records_max).await
    }

    async fn meta_cas(
        &self,
        key: &MetaKey,
        expected: Option<MetaVersion>,
        change: MetaChange,
    ) -> Result<CasOutcome> {
        store::check_meta_key(key)?;
        if let MetaChange::Put(value) = &change {
            store::check_meta_value(value)?;
        }
        self.shared.records.cas(&self.shared.cluster, key, expected, change).await
    }

    async fn ready(&self) -> Result<()> {
        let task = Task { what: "answer whether it is ready", table: None, writes: false };
        self.shared.cluster.small(task, &self.shared.ready, &("all",)).await.map(drop)
    }

    // The disks are those of the nodes, and a driver sees none of them.
    async fn disk_share(&self) -> Result<Option<f64>> {
        Ok(None)
    }

    async fn spreads(&self) -> Result<bool> {
        Ok(self.shared.cluster.has_more_nodes_than_replicas())
    }

    fn is_remote(&self) -> bool {
        true
    }
}
