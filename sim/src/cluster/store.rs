//! The cluster as a [`Store`]: every call goes through the trace, and to the file that knows how.

use async_trait::async_trait;
use model::{PartitionKey, TableRef};
use store::{
    CasOutcome, Consistency, Durability, Effort, Enumerate, Histogram, MetaChange, MetaKey, MetaPage,
    MetaRecord, MetaVersion, PartitionBatch, PartitionPage, Result, Scan, ScanPage, Storage, Store,
    TableOutcome,
};

use super::Cluster;
use super::handle::unavailable;

#[async_trait]
impl Store for Cluster {
    async fn create_table(&self, table: &TableRef, storage: &Storage) -> Result<TableOutcome> {
        let call = self.begin(format_args!("create_table {table}"));
        call.end(self.make_table(table, storage).await)
    }

    async fn drop_table(&self, table: &TableRef) -> Result<TableOutcome> {
        let call = self.begin(format_args!("drop_table {table}"));
        call.end(self.remove_table(table).await)
    }

    async fn list_tables(&self) -> Result<Vec<TableRef>> {
        let call = self.begin(format_args!("list_tables"));
        call.end(self.list().await)
    }

    async fn upsert(&self, batch: PartitionBatch, _durability: Durability) -> Result<()> {
        let (table, at, rows) = (&batch.table, &batch.partition, batch.rows.len());
        let call = self.begin(format_args!("upsert {table} {at:?} {rows} rows {:?}", batch.consistency));
        call.end(self.write_rows(batch).await)
    }

    async fn delete_partition(
        &self,
        table: &TableRef,
        partition: &PartitionKey,
        consistency: Consistency,
    ) -> Result<()> {
        let call = self.begin(format_args!("delete_partition {table} {partition:?} {consistency:?}"));
        call.end(self.delete_rows(table, partition, consistency).await)
    }

    async fn scan(&self, scan: Scan) -> Result<ScanPage> {
        let call = self.begin(format_args!("scan {scan:?}"));
        call.end_scan(self.scan_rows(scan).await)
    }

    async fn enumerate(&self, request: Enumerate) -> Result<PartitionPage> {
        let call = self.begin(format_args!("enumerate {request:?}"));
        call.end(self.list_partitions(request).await)
    }

    async fn histogram(&self, table: &TableRef, effort: Effort) -> Result<Histogram> {
        let call = self.begin(format_args!("histogram {table} {effort:?}"));
        call.end(self.measure(table, effort).await)
    }

    async fn meta_get(&self, key: &MetaKey) -> Result<Option<MetaRecord>> {
        let call = self.begin(format_args!("meta_get {key:?}"));
        call.end_records(self.record(key).await, Option::as_slice)
    }

    async fn meta_range(&self, group: &[u8], after: Option<&[u8]>, records_max: usize) -> Result<MetaPage> {
        let (in_group, behind) = (text(group), text(after.unwrap_or_default()));
        let call = self.begin(format_args!("meta_range {in_group} {behind} {records_max}"));
        call.end_records(self.records(group, after, records_max).await, |page| &page.records)
    }

    async fn meta_cas(
        &self,
        key: &MetaKey,
        expected: Option<MetaVersion>,
        change: MetaChange,
    ) -> Result<CasOutcome> {
        let value = match &change {
            MetaChange::Put(value) => text(value),
            MetaChange::Remove => "removed".into(),
        };
        let call = self.begin(format_args!("meta_cas {key:?} {expected:?} {value}"));
        call.end(self.cas(key, expected, change).await)
    }

    async fn ready(&self) -> Result<()> {
        let ready = self.with(|state, _| state.up().len() >= state.quorum());
        if ready { Ok(()) } else { Err(unavailable("writes: too few replicas run")) }
    }

    async fn disk_share(&self) -> Result<Option<f64>> {
        Ok(None)
    }
}

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
