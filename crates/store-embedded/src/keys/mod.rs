//! Everything that this store writes, one file per kind of record: encode, decode, round trip, golden.
//!
//! | where | key | record |
//! |---|---|---|
//! | file `FORMAT` beside the engine | | [`format`]: who may open the directory |
//! | a table's keyspace | partition, row position, write time, tie | [`row`]: one item of one event, or the head of many |
//! | a table's keyspace | `0xF0`, partition | [`counter`]: an upper bound of the partition's bytes |
//! | a table's keyspace | `0xF1` | [`kept`]: the exact histogram, until the next write |
//! | a table's keyspace | `0xF2` | [`counter`]: slack of partitions without a counter |
//! | a table's keyspace | `0xF3`, the whole key of a row | [`body`]: the value of a row without item key |
//! | keyspace `_meta` | group, name | [`meta`]: a metadata record |
//! | keyspace `_sys` | `sync` | [`sync_mark`]: how far the journal is known to be synced |
//!
//! A table's keyspace is named as the table: `namespace.incarnation.table`. `docs/formats/embedded.md` draws them.

pub(crate) mod body;
pub(crate) mod counter;
pub(crate) mod format;
pub(crate) mod kept;
pub(crate) mod meta;
pub(crate) mod partition;
pub(crate) mod row;
pub(crate) mod sync_mark;
pub(crate) mod text;

#[cfg(test)]
mod golden;
