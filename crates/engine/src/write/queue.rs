//! `WriteEventRecords`: events wait in memory, bounded by bytes and coalesced per partition, and are stored soon after.
//!
//! What the queue cannot take is refused in the answer. What it took and could not store is counted by reason: the store
//! refused it again and again, the event grew too old while it waited, or its namespace was deleted. A crash loses what
//! waits.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use env::Env;
use model::{PartitionKey, Row, TableRef};
use store::Store;
use tokio::sync::Notify;

use super::place::Placed;
use super::prepare::{Prepared, prepare};
use crate::catalog::Catalog;
use crate::metrics::Metrics;
use crate::{Cost, Error, Reason, Result, WriteAnswer, WriteRequest};

/// Bytes that may wait.
const QUEUE_BYTES_MAX: u64 = 64 << 20;
/// Events are refused at the door if they would be too old after so long in the queue.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// How long rows wait for others of their partition.
pub(super) const COALESCE: Duration = Duration::from_millis(10);
/// Memory that a row takes beside its own bytes, about.
const ROW_OVERHEAD_BYTES: u64 = 160;

/// What the queue has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Rows that wait now.
    pub waiting: u64,
    /// Rows stored.
    pub stored: u64,
    /// Events refused because the queue was full.
    pub refused: u64,
    /// Rows lost because the store did not take them.
    pub lost_store: u64,
    /// Rows lost because they had grown too old.
    pub lost_too_old: u64,
    /// Rows lost because their namespace was deleted.
    pub lost_namespace: u64,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) waiting: BTreeMap<(TableRef, PartitionKey), Vec<Row>>,
    pub(super) bytes: u64,
    pub(super) counts: QueueCounts,
    /// Batches that are being stored.
    pub(super) storing: usize,
}

/// The queue of one server.
pub(crate) struct WriteQueue {
    pub(super) catalog: Arc<Catalog>,
    pub(super) store: Arc<dyn Store>,
    pub(super) env: Env,
    pub(super) metrics: Arc<Metrics>,
    state: Mutex<State>,
    filled: Arc<Notify>,
    pub(super) emptied: Notify,
}

impl Drop for WriteQueue {
    fn drop(&mut self) {
        // Lets the draining task see that the queue is gone.
        self.filled.notify_one();
    }
}

impl WriteQueue {
    /// An empty queue, and the task that drains it for as long as the queue is there.
    pub(crate) fn start(
        catalog: Arc<Catalog>,
        store: Arc<dyn Store>,
        env: Env,
        metrics: Arc<Metrics>,
    ) -> Arc<Self> {
        let queue = Arc::new(Self {
            catalog,
            store,
            env: env.clone(),
            metrics,
            state: Mutex::default(),
            filled: Arc::new(Notify::new()),
            emptied: Notify::new(),
        });
        let (weak, filled) = (Arc::downgrade(&queue), Arc::clone(&queue.filled));
        let clock = Arc::clone(&env.clock);
        env.spawn.task(
            "write-queue",
            Box::pin(async move {
                loop {
                    filled.notified().await;
                    clock.sleep(COALESCE).await;
                    let Some(queue) = weak.upgrade() else { return };
                    queue.drain().await;
                }
            }),
        );
        queue
    }

    /// Takes what fits; the rest is refused. Gives back how many events were taken.
    pub(crate) fn take(&self, prepared: &mut Prepared) -> usize {
        let mut state = self.locked();
        let mut taken = 0;
        for Placed { batch, events } in prepared.placed.drain(..) {
            let bytes = batch.logical_bytes() + batch.rows.len() as u64 * ROW_OVERHEAD_BYTES;
            if state.bytes + bytes > QUEUE_BYTES_MAX {
                state.counts.refused += events.len() as u64;
                let message =
                    "the write queue is full; send the event again later, or use WriteEventRecordsSync";
                prepared.refused.all(&events, &Error::new(Reason::RateLimited, message));
                continue;
            }
            state.bytes += bytes;
            state.counts.waiting += batch.rows.len() as u64;
            taken += events.len();
            state.waiting.entry((batch.table, batch.partition)).or_default().extend(batch.rows);
        }
        drop(state);
        self.filled.notify_one();
        taken
    }

    /// What it has done so far.
    pub(crate) fn counts(&self) -> QueueCounts {
        self.locked().counts
    }

    /// Stores all that waits now, and waits for what is being stored.
    pub(crate) async fn flush(&self) {
        loop {
            self.drain().await;
            let emptied = self.emptied.notified();
            if self.locked().storing == 0 {
                return;
            }
            emptied.await;
        }
    }

    pub(super) fn locked(&self) -> MutexGuard<'_, State> {
        // Every change below leaves the state whole, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Queues events; each is taken or refused by itself.
pub(crate) async fn write_queued(
    catalog: &Catalog,
    queue: &WriteQueue,
    clock: &dyn env::Clock,
    request: WriteRequest,
) -> Result<WriteAnswer> {
    let started = clock.boot();
    let mut prepared = prepare(catalog, clock.wall(), WAIT_MAX, request).await?;
    let (partitions, slices) = (prepared.placed.len() as u64, prepared.slices());
    let accepted = queue.take(&mut prepared);
    let cost = Cost { time_taken: clock.boot().since(started), partitions, slices, ..Cost::default() };
    prepared.refused.into_answer(accepted, cost)
}

/// Memory that rows take, about.
pub(super) fn weight(rows: &[Row]) -> u64 {
    rows.iter().map(|row| row.logical_bytes() + ROW_OVERHEAD_BYTES).sum()
}
