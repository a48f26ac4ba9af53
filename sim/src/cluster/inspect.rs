//! What an oracle sees of the cluster, without asking any replica: rows as they lie on all of them together, and every change of
//! some records, in the order in which they were decided.

use std::collections::BTreeMap;

use bytes::Bytes;
use model::{PartitionKey, Row, RowKey, TableRef};
use store::{Consistency, Enumerate, MetaChange, MetaKey, limits};

use super::state::State;
use super::{Cluster, held};

/// What became of a record: its new value; none where it was removed.
pub type Changed = (MetaKey, Option<Bytes>);

/// Records whose changes are kept until somebody takes them.
#[derive(Default)]
pub(super) struct Watched {
    prefixes: Vec<Vec<u8>>,
    changes: Vec<Changed>,
}

impl Watched {
    /// A change was applied.
    pub(super) fn saw(&mut self, key: &MetaKey, change: &MetaChange) {
        if self.prefixes.iter().any(|prefix| key.group.starts_with(prefix)) {
            let value = match change {
                MetaChange::Put(value) => Some(value.clone()),
                MetaChange::Remove => None,
            };
            self.changes.push((key.clone(), value));
        }
    }
}

impl Cluster {
    /// From now on keeps every change of records whose group begins with one of these.
    pub fn watch(&self, prefixes: &[&str]) {
        let prefixes = prefixes.iter().map(|prefix| prefix.as_bytes().to_vec()).collect();
        self.with(|state, _| state.watched.prefixes = prefixes);
    }

    /// The changes of watched records since they were taken last, in order.
    pub fn take_changes(&self) -> Vec<Changed> {
        self.with(|state, _| std::mem::take(&mut state.watched.changes))
    }

    /// What all replicas have of a partition together, oldest first; none where there is no such table.
    pub fn all_rows(&self, table: &TableRef, partition: &PartitionKey) -> Option<Vec<Row>> {
        self.with(|state, _| state.all_rows(table, partition))
    }

    /// The partitions of a table that any replica has.
    pub fn all_partitions(&self, table: &TableRef) -> Vec<PartitionKey> {
        let request = Enumerate {
            table: table.clone(),
            after: None,
            partitions_max: limits::ENUMERATE_MAX,
            consistency: Consistency::LocalOne,
        };
        self.with(|state, _| {
            let listed = state.replicas.iter().filter_map(|replica| replica.held.enumerate(&request).ok());
            let mut partitions: Vec<PartitionKey> = listed.flat_map(|page| page.partitions).collect();
            partitions.sort_unstable();
            partitions.dedup();
            partitions
        })
    }
}

impl State {
    pub(super) fn all_rows(&self, table: &TableRef, partition: &PartitionKey) -> Option<Vec<Row>> {
        self.tables.get(table)?;
        let mut newest: BTreeMap<RowKey, Row> = BTreeMap::new();
        for replica in &self.replicas {
            let page = replica.held.scan(&held::everything(table, partition)).ok()?;
            for row in page.rows.to_vec() {
                // As a read that asks all of them: of equal write times the greater value stays.
                let known = newest.remove(&row.key);
                let row = known.map_or_else(|| row.clone(), |known| known.merge(row.clone()));
                newest.insert(row.key.clone(), row);
            }
        }
        Some(newest.into_values().collect())
    }
}
