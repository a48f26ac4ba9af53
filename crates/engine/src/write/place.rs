//! Valid events to batches: one per partition, cut to what the store takes at once.

use std::collections::BTreeMap;

use model::{PartitionKey, TableRef};
use store::{PartitionBatch, limits};

use super::validate::ValidEvent;
use crate::catalog::Dataset;

/// A batch and the places in the request of the events in it.
pub(crate) struct Placed {
    pub(crate) batch: PartitionBatch,
    pub(crate) indexes: Vec<usize>,
}

/// Groups events by partition. Every slice exists. All items of an event stay in one batch.
pub(crate) fn place(dataset: &Dataset, events: Vec<(usize, ValidEvent)>) -> Vec<Placed> {
    let mut open: BTreeMap<(TableRef, PartitionKey), (Placed, u64)> = BTreeMap::new();
    let mut full = Vec::new();
    for (index, event) in events {
        let Some(layout) = dataset.layouts.find(event.time) else { continue };
        let Some(partition) = layout.place(&event.series, event.time, &event.event_id) else { continue };
        let (table, bytes) =
            (dataset.table(layout), event.rows.iter().map(model::Row::logical_bytes).sum::<u64>());
        let address = (table, partition.key);
        if open.get(&address).is_some_and(|(_, held)| held + bytes > limits::BATCH_BYTES_MAX) {
            full.extend(open.remove(&address).map(|(placed, _)| placed));
        }
        let (placed, held) = open.entry(address).or_insert_with_key(|(table, partition)| {
            let batch =
                PartitionBatch { table: table.clone(), partition: partition.clone(), rows: Vec::new() };
            (Placed { batch, indexes: Vec::new() }, 0)
        });
        placed.batch.rows.extend(event.rows);
        placed.indexes.push(index);
        *held += bytes;
    }
    full.extend(open.into_values().map(|(placed, _)| placed));
    full
}
