//! What `braid export` writes: a directory of Parquet files with a manifest and, where splits are to be proven a second time,
//! their records. `docs/formats/export.md` describes all of it.
//!
//! Knows files and formats, nothing of servers or stores: rows come as plain columns. The only home of Parquet.
//!
//! Reading order: [`Row`], [`ParquetFile`] (rows into one file), [`HashedFile`] (its bytes), [`Manifest`] and [`SplitLine`] (what
//! is written beside), [`Directory`] (all of it in place, so that an export that was killed goes on).
//!
//! Invariant: a file is in the manifest only when it is complete under its own name; what is not in the manifest is no part of
//! the export.

mod columns;
mod directory;
mod error;
mod hashed;
mod manifest;
mod row;
mod split;

pub use columns::ParquetFile;
pub use directory::{Directory, PartPath};
pub use error::{Error, Result};
pub use hashed::HashedFile;
pub use manifest::{
    Asked, FileEntry, Format, LeftOut, LeftOutKind, Manifest, Position, RowPosition, SplitsEntry, State,
    TableEntry, TableKind, TableState,
};
pub use row::Row;
pub use split::{CheckDigest, CheckPartition, SplitCheck, SplitLine};
