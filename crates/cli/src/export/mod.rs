//! Exporting: rows of a namespace into a directory that other tools read, with a manifest, so that an export that was killed goes
//! on where it was.
//!
//! Reading order: `order` (an export from what was asked to its end), `source` (the calls it makes), `plan` (its tables, its splits),
//! `choice` (which partitions of a table), `table` (the rows of one, part by part), `wire` (rows as they arrive), `part` (a file of
//! any format), `events` (rows as events, for NDJSON and CSV), `splits` (their records), `share` (how far a table has come), `progress`.
//!
//! Invariant: what the manifest names is complete; whatever ends an export, the same command goes on behind it.

mod choice;
mod events;
mod order;
mod part;
mod plan;
mod progress;
mod share;
mod source;
mod splits;
mod table;
#[cfg(test)]
mod testing;
mod wire;

pub(crate) use order::{Order, PART_BYTES_DEFAULT, PART_BYTES_MIN, SERIES_MAX, SPLITS_MAX, export};
