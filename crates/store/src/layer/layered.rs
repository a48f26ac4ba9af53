//! [`Layered`]: a layer around a store, which is a store again. The only place where layers meet the trait.

use std::sync::Arc;

use async_trait::async_trait;
use env::BoxFuture;
use model::{PartitionKey, TableRef};

use super::{Call, Op, Outcome};
use crate::{
    CasOutcome, Consistency, Durability, Effort, Enumerate, Histogram, MetaChange, MetaKey, MetaPage,
    MetaRecord, MetaVersion, PartitionBatch, PartitionPage, Result, Scan, ScanPage, Storage, Store,
    TableOutcome,
};

/// What surrounds every call of a store.
pub trait Layer: Send + Sync + 'static {
    /// Surrounds one call. Nothing of `next` has run yet; dropping it means that nothing is done.
    ///
    /// `next` owns all it needs, so that a layer can also let it run in the background.
    fn around<T: Outcome>(
        &self,
        call: Call,
        next: BoxFuture<'static, Result<T>>,
    ) -> impl Future<Output = Result<T>> + Send;
}

/// A store with a layer around it.
pub struct Layered<L> {
    inner: Arc<dyn Store>,
    layer: L,
}

impl<L: Layer> Layered<L> {
    /// Puts `layer` around `inner`.
    pub fn new(inner: Arc<dyn Store>, layer: L) -> Self {
        Self { inner, layer }
    }

    /// Runs a call of the inner store inside the layer. `act` gets a handle of its own, so that what it makes of it
    /// borrows nothing.
    async fn call<T, F>(&self, op: Op, bytes: u64, act: impl FnOnce(Arc<dyn Store>) -> F + Send) -> Result<T>
    where
        T: Outcome,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        self.around(Call::new(op, bytes), act).await
    }

    async fn around<T, F>(&self, call: Call, act: impl FnOnce(Arc<dyn Store>) -> F + Send) -> Result<T>
    where
        T: Outcome,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        self.layer.around(call, Box::pin(act(Arc::clone(&self.inner)))).await
    }
}

#[async_trait]
impl<L: Layer> Store for Layered<L> {
    async fn create_table(&self, table: &TableRef, storage: &Storage) -> Result<TableOutcome> {
        let (table, storage) = (table.clone(), *storage);
        self.call(Op::CreateTable, 0, move |inner| async move { inner.create_table(&table, &storage).await })
            .await
    }

    async fn drop_table(&self, table: &TableRef) -> Result<TableOutcome> {
        let table = table.clone();
        self.call(Op::DropTable, 0, |inner| async move { inner.drop_table(&table).await }).await
    }

    async fn list_tables(&self) -> Result<Vec<TableRef>> {
        self.call(Op::ListTables, 0, |inner| async move { inner.list_tables().await }).await
    }

    async fn upsert(&self, batch: PartitionBatch, durability: Durability) -> Result<()> {
        let bytes = batch.logical_bytes();
        self.call(Op::Upsert, bytes, move |inner| async move { inner.upsert(batch, durability).await }).await
    }

    async fn delete_partition(
        &self,
        table: &TableRef,
        partition: &PartitionKey,
        consistency: Consistency,
    ) -> Result<()> {
        let (table, partition) = (table.clone(), partition.clone());
        self.call(Op::DeletePartition, 0, move |inner| async move {
            inner.delete_partition(&table, &partition, consistency).await
        })
        .await
    }

    async fn scan(&self, scan: Scan) -> Result<ScanPage> {
        let call = Call { rows_asked: scan.rows_max, ahead: scan.ahead, ..Call::new(Op::Scan, 0) };
        self.around(call, |inner| async move { inner.scan(scan).await }).await
    }

    async fn scan_headers(&self, scan: Scan) -> Result<ScanPage> {
        let call = Call { rows_asked: scan.rows_max, ahead: scan.ahead, ..Call::new(Op::Scan, 0) };
        self.around(call, |inner| async move { inner.scan_headers(scan).await }).await
    }

    async fn enumerate(&self, request: Enumerate) -> Result<PartitionPage> {
        self.call(Op::Enumerate, 0, |inner| async move { inner.enumerate(request).await }).await
    }

    async fn histogram(&self, table: &TableRef, effort: Effort) -> Result<Histogram> {
        let table = table.clone();
        self.call(Op::Histogram, 0, move |inner| async move { inner.histogram(&table, effort).await }).await
    }

    async fn meta_get(&self, key: &MetaKey) -> Result<Option<MetaRecord>> {
        let key = key.clone();
        self.call(Op::MetaGet, 0, |inner| async move { inner.meta_get(&key).await }).await
    }

    async fn meta_range(&self, group: &[u8], after: Option<&[u8]>, records_max: usize) -> Result<MetaPage> {
        let (group, after) = (group.to_vec(), after.map(<[u8]>::to_vec));
        self.call(Op::MetaRange, 0, move |inner| async move {
            inner.meta_range(&group, after.as_deref(), records_max).await
        })
        .await
    }

    async fn meta_cas(
        &self,
        key: &MetaKey,
        expected: Option<MetaVersion>,
        change: MetaChange,
    ) -> Result<CasOutcome> {
        let key = key.clone();
        let bytes = match &change {
            MetaChange::Put(value) => value.len() as u64,
            MetaChange::Remove => 0,
        };
        self.call(
            Op::MetaCas,
            bytes,
            move |inner| async move { inner.meta_cas(&key, expected, change).await },
        )
        .await
    }

    async fn ready(&self) -> Result<()> {
        self.call(Op::Ready, 0, |inner| async move { inner.ready().await }).await
    }

    async fn disk_share(&self) -> Result<Option<f64>> {
        self.call(Op::DiskShare, 0, |inner| async move { inner.disk_share().await }).await
    }

    async fn spreads(&self) -> Result<bool> {
        // Known without asking anybody, so no layer has anything to do with it.
        self.inner.spreads().await
    }

    fn is_remote(&self) -> bool {
        self.inner.is_remote()
    }
}

#[cfg(test)]
mod tests;
