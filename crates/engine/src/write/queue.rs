//! `WriteEventRecords`: events wait in memory, bounded by bytes and coalesced per partition, and are stored soon after.
//!
//! What the queue cannot take is refused in the answer. What it took and could not store is counted by reason: the store
//! refused it again and again, or the event grew too old while it waited. A crash loses what waits.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use env::Env;
use futures::StreamExt;
use futures::stream;
use model::{PartitionKey, Row, TableRef};
use store::{Durability, PartitionBatch, Store, limits};
use tokio::sync::Notify;

use super::place::Placed;
use super::prepare::{Prepared, prepare};
use crate::catalog::Catalog;
use crate::{Cost, Error, Reason, Result, WriteAnswer, WriteRequest};

/// Bytes that may wait.
const QUEUE_BYTES_MAX: u64 = 64 << 20;
/// Events are refused at the door if they would be too old after so long in the queue.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// How long rows wait for others of their partition.
const COALESCE: Duration = Duration::from_millis(10);
/// Partitions stored at the same time.
const FAN_OUT: usize = 64;
/// How often storing a batch is tried.
const TRIES: u32 = 5;
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
}

#[derive(Default)]
struct State {
    waiting: BTreeMap<(TableRef, PartitionKey), Waiting>,
    bytes: u64,
    counts: QueueCounts,
    /// Batches that are being stored.
    storing: usize,
}

/// Rows of one partition that wait.
struct Waiting {
    rows: Vec<Row>,
    /// Oldest event that its namespace accepts, counted back from now; zero for any.
    accept_limit: Duration,
}

/// The queue of one server.
pub(crate) struct WriteQueue {
    store: Arc<dyn Store>,
    env: Env,
    state: Mutex<State>,
    filled: Arc<Notify>,
    emptied: Notify,
}

impl Drop for WriteQueue {
    fn drop(&mut self) {
        // Lets the draining task see that the queue is gone.
        self.filled.notify_one();
    }
}

impl WriteQueue {
    /// An empty queue, and the task that drains it for as long as the queue is there.
    pub(crate) fn start(store: Arc<dyn Store>, env: Env) -> Arc<Self> {
        let queue = Arc::new(Self {
            store,
            env: env.clone(),
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
        let accept_limit = prepared.dataset.namespace.spec.accept_limit;
        let mut state = self.locked();
        let mut taken = 0;
        for Placed { batch, indexes } in prepared.placed.drain(..) {
            let bytes = batch.logical_bytes() + batch.rows.len() as u64 * ROW_OVERHEAD_BYTES;
            if state.bytes + bytes > QUEUE_BYTES_MAX {
                state.counts.refused += indexes.len() as u64;
                let message =
                    "the write queue is full; send the event again later, or use WriteEventRecordsSync";
                prepared.refused.all(&indexes, &Error::new(Reason::RateLimited, message));
                continue;
            }
            state.bytes += bytes;
            state.counts.waiting += batch.rows.len() as u64;
            taken += indexes.len();
            let fresh = Waiting { rows: Vec::new(), accept_limit };
            let waiting = state.waiting.entry((batch.table, batch.partition)).or_insert(fresh);
            waiting.rows.extend(batch.rows);
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

    async fn drain(&self) {
        let batches = self.take_batches();
        let stored = stream::iter(batches).map(|batch| self.store_batch(batch));
        stored.buffer_unordered(FAN_OUT).collect::<Vec<()>>().await;
        self.emptied.notify_waiters();
    }

    /// Empties the queue into batches that the store takes, without what has grown too old.
    fn take_batches(&self) -> Vec<PartitionBatch> {
        let now = self.env.clock.wall();
        let mut state = self.locked();
        let waiting = std::mem::take(&mut state.waiting);
        let mut batches = Vec::new();
        for ((table, partition), waiting) in waiting {
            let before = waiting.rows.len();
            let limit = i64::try_from(waiting.accept_limit.as_nanos()).unwrap_or(i64::MAX);
            let oldest = if limit == 0 { 0 } else { now.saturating_sub(limit) };
            let (rows, late): (Vec<Row>, Vec<Row>) =
                waiting.rows.into_iter().partition(|row| row.key.event_time.nanos() >= oldest);
            state.counts.lost_too_old += late.len() as u64;
            state.counts.waiting -= before as u64;
            state.bytes = state.bytes.saturating_sub(weight(&late));
            batches.extend(cut(&table, &partition, rows));
        }
        state.storing += batches.len();
        batches
    }

    /// Stores one batch, trying again while the store says that this may help.
    async fn store_batch(&self, batch: PartitionBatch) {
        let (rows, bytes) = (batch.rows.len() as u64, weight(&batch.rows));
        let mut wait = COALESCE;
        let mut stored = self.store.upsert(batch.clone(), Durability::Buffered).await;
        for _ in 1..TRIES {
            match &stored {
                Err(error) if error.is_retryable() => {
                    self.env.clock.sleep(wait).await;
                    wait *= 4;
                    stored = self.store.upsert(batch.clone(), Durability::Buffered).await;
                }
                _ => break,
            }
        }
        let mut state = self.locked();
        state.bytes = state.bytes.saturating_sub(bytes);
        state.storing -= 1;
        match stored {
            Ok(()) => state.counts.stored += rows,
            Err(error) => {
                state.counts.lost_store += rows;
                tracing::error!(rows, error = %error, "queued events were lost");
            }
        }
    }

    fn locked(&self) -> MutexGuard<'_, State> {
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
    let cost = Cost { time_taken: clock.boot().since(started), bytes_read: 0, partitions, slices };
    Ok(WriteAnswer { refused: prepared.refused.into_refusals(), accepted, cost })
}

fn weight(rows: &[Row]) -> u64 {
    rows.iter().map(|row| row.logical_bytes() + ROW_OVERHEAD_BYTES).sum()
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
            batches.push(PartitionBatch { table, partition, rows: Vec::new() });
            bytes = 0;
        }
        if let Some(batch) = batches.last_mut() {
            batch.rows.extend_from_slice(event);
            bytes += more;
        }
    }
    batches
}
