//! Deleting a partition: its keys are read in steps, and the committer removes those of a step as it writes rows.
//!
//! The memory of a step is limited, whatever the partition holds. A crash between two steps leaves a part of the rows;
//! deleting again removes it. Only the last step is synced, and all before it with it. Where the value of a row lies apart, its body
//! goes in the step of the row, and a step is one batch of the engine: no crash leaves one without the other.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use fjall::{Database, Readable};
use store::{Error, ErrorKind, Result};

use crate::EmbeddedStore;
use crate::cancel::Cancelled;
use crate::change::{Change, Removal};
use crate::engine::read_failed;
use crate::keys::{body, partition, row};
use crate::tables::Table;

/// No further key once one step has so many.
const STEP_KEYS_MAX: usize = 4_096;
/// No further key once those of a step have so many bytes.
const STEP_BYTES_MAX: usize = 1 << 20;

/// What one step removes.
#[derive(Debug, Default)]
struct Step {
    keys: Vec<Bytes>,
    bytes: usize,
    /// Whether keys may follow: a limit ended the step.
    more: bool,
}

impl Step {
    fn add(&mut self, key: Bytes) {
        self.bytes += key.len();
        self.keys.push(key);
    }
}

/// Reads the keys of the partition with `prefix` from `from` on until a limit is reached.
fn step(
    database: &Database,
    table: &Table,
    prefix: &[u8],
    from: &[u8],
    cancelled: &Cancelled,
) -> Result<Step> {
    let mut step = Step::default();
    // Copied: a key of the engine's may hold on to the block in which it lies, with all values there.
    let mut copies = BytesMut::new();
    for entry in database.snapshot().range(&table.keyspace, from..&*partition::behind(prefix)) {
        if step.keys.len() >= STEP_KEYS_MAX || step.bytes >= STEP_BYTES_MAX {
            step.more = true;
            break;
        }
        cancelled.check()?;
        let key = entry.key().map_err(read_failed)?;
        // Before its row: the last key of a step is that of a row, behind which the next one begins.
        if row::has_body(&key) {
            body::encode_key(&key, &mut copies);
            step.add(copies.split().freeze());
        }
        copies.extend_from_slice(&key);
        step.add(copies.split().freeze());
    }
    Ok(step)
}

impl EmbeddedStore {
    /// Removes all rows of the partition with `prefix`.
    pub(crate) async fn delete(&self, table: Arc<Table>, prefix: Vec<u8>) -> Result<()> {
        let (mut from, mut begun) = (prefix.clone(), false);
        loop {
            let step = self.remove_step(&table, &prefix, from).await;
            let last = step.map_err(|error| if begun { unknown(error) } else { error })?;
            let Some(last) = last else {
                return Ok(());
            };
            // The shortest key behind the last one that was removed: keys of this step need not be passed over again.
            from = [&*last, &[0]].concat();
            begun = true;
        }
    }

    /// Removes the keys of one step; the last of them where more may follow.
    async fn remove_step(&self, table: &Arc<Table>, prefix: &[u8], from: Vec<u8>) -> Result<Option<Bytes>> {
        let (of, start) = (Arc::clone(table), prefix.to_vec());
        let read = self.read(move |engine, cancelled| step(&engine.database, &of, &start, &from, cancelled));
        let Step { keys, bytes, more } = read.await?;
        let last = keys.last().filter(|_| more).cloned();
        let room = self.room(bytes as u64).await?;
        let (table, prefix) = (Arc::clone(table), prefix.to_vec());
        self.ask(|reply| Change::Remove(Removal { table, prefix, keys, last: !more, reply, room })).await?;
        Ok(last)
    }
}

/// What fails behind the first step has left a part of the rows behind.
fn unknown(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Unavailable => {
            let message = format!("a part of the partition is deleted ({error}); delete it again");
            Error::new(ErrorKind::Unknown, message).caused_by(error)
        }
        _ => error,
    }
}
