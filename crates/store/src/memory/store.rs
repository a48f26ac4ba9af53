//! [`MemoryStore`]: the trait over ordered maps.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use model::{PartitionKey, Row, RowKey, SizeHistogram, TableRef};

use super::scan;
use crate::{
    CasOutcome, Consistency, Durability, Effort, Enumerate, Error, Histogram, MetaChange, MetaKey, MetaPage,
    MetaRecord, MetaVersion, PartitionBatch, PartitionPage, Result, Scan, ScanPage, Storage, Store,
    TableOutcome, check_meta_key, check_meta_range, check_meta_value, limits,
};

type Table = BTreeMap<PartitionKey, BTreeMap<RowKey, Row>>;
type Group = BTreeMap<Bytes, MetaRecord>;

/// A store in memory. Clones share what it holds.
#[derive(Clone, Default)]
pub struct MemoryStore {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    tables: BTreeMap<TableRef, Table>,
    groups: BTreeMap<Bytes, Group>,
    disk_share: Option<f64>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on it says that so much of its disk is used: for tests of whoever heeds that. None, as at first: it
    /// has no disk.
    pub fn set_disk_share(&self, share: Option<f64>) {
        self.locked().disk_share = share;
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        // Nothing under this lock can panic half way through a change, so what a poisoned lock guards is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

impl State {
    fn table(&self, table: &TableRef) -> Result<&Table> {
        self.tables.get(table).ok_or_else(|| Error::no_table(table))
    }

    fn upsert(&mut self, batch: PartitionBatch) -> Result<()> {
        let table = self.tables.get_mut(&batch.table).ok_or_else(|| Error::no_table(&batch.table))?;
        if batch.rows.is_empty() {
            return Ok(());
        }
        let partition = table.entry(batch.partition).or_default();
        for row in batch.rows {
            let row = match partition.remove(&row.key) {
                Some(older) => older.merge(row),
                None => row,
            };
            partition.insert(row.key.clone(), row);
        }
        Ok(())
    }

    fn delete_partition(&mut self, table: &TableRef, partition: &PartitionKey) -> Result<()> {
        let rows = self.tables.get_mut(table).ok_or_else(|| Error::no_table(table))?;
        rows.remove(partition);
        Ok(())
    }

    fn enumerate(&self, request: &Enumerate) -> Result<PartitionPage> {
        let table = self.table(&request.table)?;
        let from = request.after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut keys = table.range((from, Bound::Unbounded)).map(|(key, _)| key);
        let partitions: Vec<PartitionKey> = keys.by_ref().take(request.partitions_max).cloned().collect();
        Ok(PartitionPage { partitions, more: keys.next().is_some() })
    }

    fn histogram(&self, table: &TableRef) -> Result<Histogram> {
        let mut sizes = SizeHistogram::default();
        for partition in self.table(table)?.values() {
            sizes.record(partition.values().map(Row::logical_bytes).sum());
        }
        Ok(Histogram::exact(sizes))
    }

    fn meta_range(&self, group: &[u8], after: Option<&[u8]>, records_max: usize) -> MetaPage {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let Some(group) = self.groups.get(group) else {
            return MetaPage { records: Vec::new(), more: false };
        };
        let records = group.range::<[u8], _>((from, Bound::Unbounded)).map(|(_, record)| record);
        let mut page = MetaPage { records: Vec::new(), more: false };
        let mut bytes = 0;
        for record in records {
            if page.records.len() == records_max || bytes >= limits::META_RANGE_BYTES_MAX {
                page.more = true;
                break;
            }
            bytes += record.value.len();
            page.records.push(record.clone());
        }
        page
    }

    fn meta_cas(&mut self, key: &MetaKey, expected: Option<MetaVersion>, change: MetaChange) -> CasOutcome {
        let group = self.groups.entry(key.group.clone()).or_default();
        let current = group.get(&key.name);
        let version = current.map(|record| record.version);
        if version != expected {
            return CasOutcome::Conflict(current.cloned());
        }
        let version = MetaVersion(version.map_or(0, |version| version.0) + 1);
        match change {
            MetaChange::Put(value) => {
                let name = key.name.clone();
                group.insert(name.clone(), MetaRecord { name, version, value });
            }
            MetaChange::Remove => {
                group.remove(&key.name);
            }
        }
        CasOutcome::Applied(version)
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn create_table(&self, table: &TableRef, _storage: &Storage) -> Result<TableOutcome> {
        let mut state = self.locked();
        if state.tables.contains_key(table) {
            return Ok(TableOutcome::Already);
        }
        state.tables.insert(table.clone(), Table::new());
        Ok(TableOutcome::Done)
    }

    async fn drop_table(&self, table: &TableRef) -> Result<TableOutcome> {
        Ok(match self.locked().tables.remove(table) {
            Some(_) => TableOutcome::Done,
            None => TableOutcome::Already,
        })
    }

    async fn list_tables(&self) -> Result<Vec<TableRef>> {
        Ok(self.locked().tables.keys().cloned().collect())
    }

    async fn upsert(&self, batch: PartitionBatch, _durability: Durability) -> Result<()> {
        batch.check()?;
        self.locked().upsert(batch)
    }

    async fn delete_partition(
        &self,
        table: &TableRef,
        partition: &PartitionKey,
        _consistency: Consistency,
    ) -> Result<()> {
        self.locked().delete_partition(table, partition)
    }

    async fn scan(&self, scan: Scan) -> Result<ScanPage> {
        scan.check()?;
        let state = self.locked();
        let partition = state.table(&scan.table)?.get(&scan.partition);
        Ok(partition.map(|rows| scan::page(rows, &scan)).unwrap_or_default())
    }

    async fn enumerate(&self, request: Enumerate) -> Result<PartitionPage> {
        request.check()?;
        self.locked().enumerate(&request)
    }

    async fn histogram(&self, table: &TableRef, _effort: Effort) -> Result<Histogram> {
        self.locked().histogram(table)
    }

    async fn meta_get(&self, key: &MetaKey) -> Result<Option<MetaRecord>> {
        check_meta_key(key)?;
        Ok(self.locked().groups.get(&key.group).and_then(|group| group.get(&key.name)).cloned())
    }

    async fn meta_range(&self, group: &[u8], after: Option<&[u8]>, records_max: usize) -> Result<MetaPage> {
        check_meta_range(group, after, records_max)?;
        Ok(self.locked().meta_range(group, after, records_max))
    }

    async fn meta_cas(
        &self,
        key: &MetaKey,
        expected: Option<MetaVersion>,
        change: MetaChange,
    ) -> Result<CasOutcome> {
        check_meta_key(key)?;
        if let MetaChange::Put(value) = &change {
            check_meta_value(value)?;
        }
        Ok(self.locked().meta_cas(key, expected, change))
    }

    async fn ready(&self) -> Result<()> {
        Ok(())
    }

    async fn disk_share(&self) -> Result<Option<f64>> {
        Ok(self.locked().disk_share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn clones_share_what_the_store_holds() {
        let (one, key) = (MemoryStore::new(), MetaKey::new("group", "name"));
        let other = one.clone();
        one.meta_cas(&key, None, MetaChange::Put(Bytes::from_static(b"x"))).await.unwrap();
        assert_eq!(other.meta_get(&key).await.unwrap().unwrap().value, "x");
        assert_eq!(MemoryStore::new().meta_get(&key).await.unwrap(), None);
    }

    #[tokio::test]
    async fn the_share_of_its_disk_is_what_a_test_says() {
        let store = MemoryStore::new();
        assert_eq!(store.disk_share().await.unwrap(), None);
        store.set_disk_share(Some(0.9));
        assert_eq!(store.disk_share().await.unwrap(), Some(0.9));
    }
}
