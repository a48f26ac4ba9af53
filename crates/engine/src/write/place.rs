//! Valid events to batches: one per partition, cut to what the store takes at once.

use std::collections::BTreeMap;

use model::{PartitionKey, TableRef, Timestamp};
use store::{PartitionBatch, limits};

use super::prepare::Refused;
use super::validate::ValidEvent;
use crate::catalog::Dataset;
use crate::{Error, Reason};

/// A batch and the events in it.
pub(crate) struct Placed {
    pub(crate) batch: PartitionBatch,
    pub(crate) events: Vec<PlacedEvent>,
}

/// What is remembered of an event once its rows are in a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedEvent {
    /// Its place in the request.
    pub(crate) index: usize,
    pub(crate) time: Timestamp,
}

/// Groups events by partition; all items of an event stay in one batch. An event whose slice was dropped this very moment
/// is refused.
pub(crate) fn place(
    dataset: &Dataset,
    events: Vec<(usize, ValidEvent)>,
    refused: &mut Refused,
) -> Vec<Placed> {
    let mut open: BTreeMap<(TableRef, PartitionKey), (Placed, u64)> = BTreeMap::new();
    let mut full = Vec::new();
    for (index, event) in events {
        let layout = dataset.layouts.find(event.time);
        let placed = layout
            .and_then(|layout| Some((layout, layout.place(&event.series, event.time, &event.event_id)?)));
        let Some((layout, partition)) = placed else {
            let message = "the slice of the event was dropped while it was written; send it again";
            refused.one(index, Error::new(Reason::BackendOverloaded, message));
            continue;
        };
        let (table, bytes) =
            (dataset.table(layout), event.rows.iter().map(model::Row::logical_bytes).sum::<u64>());
        let address = (table, partition.key);
        if open.get(&address).is_some_and(|(_, held)| held + bytes > limits::BATCH_BYTES_MAX) {
            full.extend(open.remove(&address).map(|(placed, _)| placed));
        }
        let (placed, held) = open.entry(address).or_insert_with_key(|(table, partition)| {
            let batch = PartitionBatch {
                table: table.clone(),
                partition: partition.clone(),
                rows: Vec::new(),
                consistency: dataset.namespace.spec.consistency,
            };
            (Placed { batch, events: Vec::new() }, 0)
        });
        placed.batch.rows.extend(event.rows);
        placed.events.push(PlacedEvent { index, time: event.time });
        *held += bytes;
    }
    full.extend(open.into_values().map(|(placed, _)| placed));
    full
}

#[cfg(test)]
mod tests {
    use model::{EventId, NamespaceName, SeriesId};

    use super::*;

    #[test]
    fn an_event_without_a_slice_is_refused_not_forgotten() {
        let record = crate::catalog::NamespaceRecord::new(1, 0, crate::NamespaceSpec::default());
        let dataset = Dataset::new(NamespaceName::new("n").unwrap(), record).unwrap();
        let event = ValidEvent {
            series: SeriesId::new("s").unwrap(),
            time: Timestamp::MIN,
            event_id: EventId::new("e").unwrap(),
            rows: Vec::new(),
        };
        let mut refused = Refused::default();
        assert!(place(&dataset, vec![(4, event)], &mut refused).is_empty());
        let refusals = refused.into_answer(1, crate::Cost::default()).unwrap().refused;
        assert_eq!(
            refusals.first().map(|refusal| (refusal.index, refusal.reason)),
            Some((4, Reason::BackendOverloaded))
        );
    }
}
