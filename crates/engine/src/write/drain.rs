//! Emptying the queue: rows of one partition become batches, are looked at once more, and stored.

use futures::StreamExt;
use futures::stream;
use model::{PartitionKey, Row, TableRef};
use store::{Consistency, Durability, PartitionBatch, limits};

use super::accept::Accepting;
use super::queue::{COALESCE, WriteQueue, weight};
use crate::metrics::Dropped;

/// Partitions stored at the same time.
const FAN_OUT: usize = 64;
/// How often storing a batch is tried.
const TRIES: u32 = 5;

impl WriteQueue {
    /// Stores all that waits now.
    pub(super) async fn drain(&self) {
        let batches = self.take_batches();
        let stored = stream::iter(batches).map(|batch| self.store_batch(batch));
        stored.buffer_unordered(FAN_OUT).collect::<Vec<()>>().await;
        self.emptied.notify_waiters();
    }

    /// Empties the queue into batches that the store takes.
    fn take_batches(&self) -> Vec<PartitionBatch> {
        let mut state = self.locked();
        let waiting = std::mem::take(&mut state.waiting);
        let mut batches = Vec::new();
        for ((table, partition), rows) in waiting {
            state.counts.waiting -= rows.len() as u64;
            batches.extend(cut(&table, &partition, rows));
        }
        state.storing += batches.len();
        batches
    }

    /// Stores one batch, trying again while the store says that this may help. Before every try, and once more behind the
    /// last, what is no longer accepted is dropped and counted.
    async fn store_batch(&self, mut batch: PartitionBatch) {
        let bytes = weight(&batch.rows);
        let mut wait = COALESCE;
        for tried in 1..=TRIES {
            self.catalog.settled_standing().await;
            self.sift(&mut batch);
            if batch.rows.is_empty() {
                break;
            }
            match self.store.upsert(batch.clone(), Durability::Buffered).await {
                Ok(()) => {
                    self.sift(&mut batch);
                    self.locked().counts.stored += batch.rows.len() as u64;
                    break;
                }
                Err(error) if error.is_retryable() && tried < TRIES => {
                    self.env.clock.sleep(wait).await;
                    wait *= 4;
                }
                Err(error) => {
                    // The table may be missing because the namespace is.
                    self.sift(&mut batch);
                    self.lose(Dropped::Store, batch.rows.len(), &error);
                    break;
                }
            }
        }
        let mut state = self.locked();
        state.bytes = state.bytes.saturating_sub(bytes);
        state.storing -= 1;
    }

    /// Drops rows that must not be stored any more; the others ask for what their namespace asks for by now.
    fn sift(&self, batch: &mut PartitionBatch) {
        let before = batch.rows.len();
        let (name, incarnation) = (&batch.table.namespace, batch.table.incarnation);
        match Accepting::at(&self.catalog, name, incarnation, self.env.clock.wall()) {
            Ok(accepting) => {
                batch.consistency = accepting.consistency();
                batch.rows.retain(|row| accepting.takes(row.key.event_time));
                let late = before - batch.rows.len();
                self.lose(Dropped::TooOld, late, &"they grew too old in the queue; raise accept_limit");
            }
            Err(gone) => {
                batch.rows.clear();
                self.lose(Dropped::NamespaceDeleted, before, &gone);
            }
        }
    }

    /// Counts lost rows.
    fn lose(&self, reason: Dropped, rows: usize, why: &dyn std::fmt::Display) {
        if rows == 0 {
            return;
        }
        let lost = rows as u64;
        let mut state = self.locked();
        match reason {
            Dropped::Store => state.counts.lost_store += lost,
            Dropped::TooOld => state.counts.lost_too_old += lost,
            Dropped::NamespaceDeleted => state.counts.lost_namespace += lost,
        }
        drop(state);
        self.metrics.dropped(reason, lost);
        tracing::warn!(rows, %why, "queued events were lost");
    }
}

/// Cuts rows into batches within the store's limits; rows of one event stay together unless it alone is larger.
fn cut(table: &TableRef, partition: &PartitionKey, rows: Vec<Row>) -> Vec<PartitionBatch> {
    let mut batches: Vec<PartitionBatch> = Vec::new();
    let mut bytes = u64::MAX;
    for event in
        rows.chunk_by(|a, b| a.key.event_time == b.key.event_time && a.key.event_id == b.key.event_id)
    {
        let more: u64 = event.iter().map(Row::logical_bytes).sum();
        let full = bytes.saturating_add(more) > limits::BATCH_BYTES_MAX
            || batches.last().is_some_and(|batch| batch.rows.len() + event.len() > limits::BATCH_ROWS_MAX);
        if full {
            let (table, partition) = (table.clone(), partition.clone());
            batches.push(PartitionBatch {
                table,
                partition,
                rows: Vec::new(),
                consistency: Consistency::default(),
            });
            bytes = 0;
        }
        if let Some(batch) = batches.last_mut() {
            batch.rows.extend_from_slice(event);
            bytes += more;
        }
    }
    batches
}
