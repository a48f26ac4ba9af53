//! Damage that no store should do: a stored row becomes another one, or rows are gone, on all replicas at once, so that none
//! can mend it.

use bytes::Bytes;
use model::{PartitionKey, Row, TableRef};

use super::Cluster;
use super::state::State;

/// What becomes of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Corruption {
    /// One bit of its value changes.
    Flip,
    /// It is gone.
    Drop,
    /// Another partition has it, too.
    Double(PartitionKey),
    /// Another partition has it instead.
    Misplace(PartitionKey),
    /// All rows of its partition are gone.
    Vanish,
}

impl Cluster {
    /// Damages the row at `place` of a partition, counted around; says whether there was any.
    pub fn corrupt(
        &self,
        table: &TableRef,
        partition: &PartitionKey,
        place: usize,
        how: &Corruption,
    ) -> bool {
        self.with(|state, now| {
            let done = state.corrupt(table, partition, place, how).is_some();
            state
                .trace
                .record(now, format_args!("cluster: {table} {partition:?} is damaged by {how:?}: {done}"));
            done
        })
    }
}

impl State {
    fn corrupt(
        &mut self,
        table: &TableRef,
        partition: &PartitionKey,
        place: usize,
        how: &Corruption,
    ) -> Option<()> {
        let mut rows = self.all_rows(table, partition).filter(|rows| !rows.is_empty())?;
        let place = place % rows.len();
        match how {
            Corruption::Flip => {
                let row = rows.get_mut(place)?;
                let mut value = row.value.to_vec();
                *value.first_mut()? ^= 1;
                row.value = Bytes::from(value);
            }
            Corruption::Drop => drop(rows.remove(place)),
            Corruption::Vanish => rows.clear(),
            Corruption::Double(other) => {
                let row = rows.get(place)?.clone();
                self.add(table, other, row)?;
            }
            Corruption::Misplace(other) => {
                let row = rows.remove(place);
                self.add(table, other, row)?;
            }
        }
        self.put(table, partition, &rows);
        Some(())
    }

    fn add(&mut self, table: &TableRef, partition: &PartitionKey, row: Row) -> Option<()> {
        let mut rows = self.all_rows(table, partition)?;
        rows.push(row);
        self.put(table, partition, &rows);
        Some(())
    }

    fn put(&self, table: &TableRef, partition: &PartitionKey, rows: &[Row]) {
        for replica in &self.replicas {
            // The table exists, and a store in memory has no other way to fail.
            let _always = replica.held.replace(table, partition, rows);
        }
    }
}
