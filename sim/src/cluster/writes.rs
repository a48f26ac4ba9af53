//! Changes of rows, writes and deletions: sent to every replica at once, acknowledged when enough of them have it. A large batch
//! goes in steps of whole events, as the contract lets a cluster do.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use model::{EventId, PartitionKey, Row, TableRef, Timestamp};
use store::limits::DELETE_AHEAD;
use store::{Consistency, Error, ErrorKind, PartitionBatch, Result};

use super::Cluster;
use super::dice::Fate;
use super::handle::{unavailable, unknown};
use super::state::State;
use super::timeline::{Deletion, Message, RowChange, Write};

/// A batch of no more bytes is all or nothing.
const WHOLE_BYTES_MAX: u64 = 256 << 10;

/// Of a late write, so many of a thousand messages are lost, and as many arrive in time all the same.
const LATE_LOST: u16 = 250;
const LATE_IN_TIME: u16 = 333;

/// What became of a write when it was sent.
enum Sent {
    /// Nothing was sent; the caller hears so then.
    Not(Duration, Error),
    /// The caller hears then that nobody knows.
    Unheard(Duration),
    Waits(Waits),
}

/// A write whose caller waits.
struct Waits {
    write: Arc<Write>,
    /// When the replicas get it, if they are up.
    arrivals: Vec<Duration>,
    /// How many must have it.
    needed: usize,
    /// How long the acknowledgement takes.
    answer: Duration,
    deadline: Duration,
}

enum Standing {
    Enough,
    NotYet,
    NoTable,
}

impl Cluster {
    pub(super) async fn write_rows(&self, batch: PartitionBatch) -> Result<()> {
        batch.check()?;
        if batch.logical_bytes() <= WHOLE_BYTES_MAX {
            return self.change_rows(RowChange::Upsert(batch)).await;
        }
        let mut begun = false;
        for step in steps(batch) {
            match self.change_rows(RowChange::Upsert(step)).await {
                Ok(()) => begun = true,
                // The steps before have left their events behind.
                Err(error) if begun && error.kind() == ErrorKind::Unavailable => {
                    return Err(unknown("upsert"));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Deletes a partition, by the clock of the cluster.
    pub(super) async fn delete_rows(
        &self,
        table: &TableRef,
        partition: &PartitionKey,
        consistency: Consistency,
    ) -> Result<()> {
        let ahead = i64::try_from(DELETE_AHEAD.as_micros()).unwrap_or(i64::MAX);
        let time = (self.wall() / 1_000).saturating_add(ahead);
        let (table, partition) = (table.clone(), partition.clone());
        self.change_rows(RowChange::Delete(Deletion { table, partition, time, consistency })).await
    }

    async fn change_rows(&self, change: RowChange) -> Result<()> {
        let call = change.call();
        match self.with(|state, now| state.send(now, change)) {
            Sent::Not(at, error) => {
                self.sleep_until(at).await;
                Err(error)
            }
            Sent::Unheard(at) => {
                self.sleep_until(at).await;
                Err(unknown(call))
            }
            Sent::Waits(waits) => self.wait_for(waits).await,
        }
    }

    async fn wait_for(&self, waits: Waits) -> Result<()> {
        for at in waits.arrivals.iter().filter(|at| **at <= waits.deadline) {
            self.sleep_until(*at).await;
            match self.with(|state, _| state.standing(&waits)) {
                Standing::Enough => {
                    self.sleep_until(self.now() + waits.answer).await;
                    return Ok(());
                }
                Standing::NoTable => return Err(Error::no_table(waits.write.change.table())),
                Standing::NotYet => {}
            }
        }
        self.sleep_until(waits.deadline).await;
        Err(unknown(waits.write.change.call()))
    }
}

impl State {
    fn send(&mut self, now: Duration, change: RowChange) -> Sent {
        let (up, needed) = (self.up(), self.needed(change.consistency()));
        let answer = self.lag_of_most(&up, needed);
        let fate = self.dice.fate(self.faults.rows);
        if up.len() < needed || fate == Fate::Refuse {
            return Sent::Not(now + answer, unavailable(change.call()));
        }
        let Some(generation) = self.tables.get(change.table()).copied() else {
            return Sent::Not(now + answer, Error::no_table(change.table()));
        };
        let unheard = now + self.dice.up_to(self.options.timeout);
        if fate == Fate::LoseCall {
            return Sent::Unheard(unheard);
        }
        let write = Write::new(self.number(), change, generation);
        let mut arrivals: Vec<Duration> = Vec::with_capacity(self.replicas.len());
        for replica in 0..self.replicas.len() {
            let Some(at) = self.arrival(now, replica, fate) else {
                continue;
            };
            self.timeline.send(at, Message::Rows { replica, write: Arc::clone(&write) });
            arrivals.push(at);
        }
        if fate != Fate::Pass {
            return Sent::Unheard(unheard);
        }
        arrivals.sort_unstable();
        Sent::Waits(Waits { write, arrivals, needed, answer, deadline: now + self.options.timeout })
    }

    /// When a message of this write reaches a replica; none if it never does.
    fn arrival(&self, now: Duration, replica: usize, fate: Fate) -> Option<Duration> {
        let in_time = now + self.lag_of(replica);
        if fate != Fate::Late {
            return Some(in_time);
        }
        if self.dice.chance(LATE_LOST) {
            return None;
        }
        let late = now + self.dice.up_to(self.faults.late_rows_most);
        Some(if self.dice.chance(LATE_IN_TIME) { in_time } else { late })
    }

    fn standing(&self, waits: &Waits) -> Standing {
        if self.tables.get(waits.write.change.table()) != Some(&waits.write.generation) {
            return Standing::NoTable;
        }
        if waits.write.landed() >= waits.needed { Standing::Enough } else { Standing::NotYet }
    }
}

/// Cuts a batch between events, so that no step but one with a single event is too large.
fn steps(batch: PartitionBatch) -> Vec<PartitionBatch> {
    let PartitionBatch { table, partition, rows, consistency } = batch;
    let mut events: BTreeMap<(Timestamp, EventId), Vec<Row>> = BTreeMap::new();
    for row in rows {
        events.entry((row.key.event_time, row.key.event_id.clone())).or_default().push(row);
    }
    let mut steps: Vec<PartitionBatch> = Vec::new();
    for rows in events.into_values() {
        let bytes: u64 = rows.iter().map(Row::logical_bytes).sum();
        match steps.last_mut() {
            Some(step) if step.logical_bytes() + bytes <= WHOLE_BYTES_MAX => step.rows.extend(rows),
            _ => {
                let (table, partition) = (table.clone(), partition.clone());
                steps.push(PartitionBatch { table, partition, rows, consistency });
            }
        }
    }
    steps
}
