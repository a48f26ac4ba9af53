//! Reading bodies beside their heads: values that lie apart from their rows (`keys::body`), in the order of the rows.
//!
//! A head without its body, or with one of another length, is damage. A body without a head is passed over: programs from before
//! there were bodies leave some where they delete or write again.

use std::cmp::Ordering;

use fjall::{Iter, Readable, Snapshot, UserValue};
use model::Order;
use store::{Error, ErrorKind, Result};

use crate::cancel::Cancelled;
use crate::engine::read_failed;
use crate::keys::body;
use crate::tables::Table;

/// Bodies of the rows of one scan.
pub(crate) struct Bodies<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) table: &'a Table,
    pub(crate) order: Order,
    /// The keys between which the rows lie.
    pub(crate) rows: (Vec<u8>, Vec<u8>),
    pub(crate) cancelled: &'a Cancelled,
    /// None until the first head is met: most partitions have none.
    pub(crate) entries: Option<Iter>,
}

impl Bodies<'_> {
    /// The stored body of the head under `row_key`, which lies behind all that were asked for before.
    pub(crate) fn of(&mut self, row_key: &[u8]) -> Result<UserValue> {
        let (from, to) = &self.rows;
        let range = || self.snapshot.range(&self.table.keyspace, body::key(from)..body::key(to));
        let entries = self.entries.get_or_insert_with(range);
        loop {
            let entry = match self.order {
                Order::OldestFirst => entries.next(),
                Order::NewestFirst => entries.next_back(),
            };
            let (key, stored) = entry.ok_or_else(damaged)?.into_inner().map_err(read_failed)?;
            let place = body::row_key(&key).ok_or_else(damaged)?.cmp(row_key);
            match (place, self.order) {
                (Ordering::Equal, _) => return Ok(stored),
                (Ordering::Less, Order::OldestFirst) | (Ordering::Greater, Order::NewestFirst) => {
                    self.cancelled.check()?;
                }
                (Ordering::Less | Ordering::Greater, _) => return Err(damaged()),
            }
        }
    }
}

/// The stored body of the head under `row_key`, looked for by itself.
pub(crate) fn one(snapshot: &Snapshot, table: &Table, row_key: &[u8]) -> Result<UserValue> {
    snapshot.get(&table.keyspace, body::key(row_key)).map_err(read_failed)?.ok_or_else(damaged)
}

/// The value in a stored body, which its head says to have so many bytes.
pub(crate) fn value(stored: &[u8], bytes: u32) -> Result<&[u8]> {
    body::decode(stored, bytes).ok_or_else(damaged)
}

/// A head without the body that it says it has.
fn damaged() -> Error {
    Error::new(
        ErrorKind::Corrupt,
        "the value of a packed row is not there or not as it was stored; restore the data directory",
    )
}

#[cfg(test)]
mod tests;
