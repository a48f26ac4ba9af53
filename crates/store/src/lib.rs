//! The seam between Braid and whatever keeps its data.
//!
//! [`Store`] is the one trait; its docs are the contract that a backend author needs. [`MemoryStore`] is the
//! plainest backend. Metrics, time-outs, throttles and faults are layers around any store. The `conformance`
//! module (feature `conformance`) is the suite that every backend runs with one call.
//!
//! This crate names no backend: no Cassandra, no CQL, no engine, no file.

#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod histogram;
pub mod layer;
mod memory;
mod meta;
mod request;
mod setting;
mod traits;

pub use error::{Error, ErrorKind, Result};
pub use histogram::{Histogram, HistogramSource};
pub use memory::MemoryStore;
pub use meta::{
    CasOutcome, MetaChange, MetaKey, MetaPage, MetaRecord, MetaVersion, check_meta_key, check_meta_range,
    check_meta_value,
};
pub use request::{
    Durability, Effort, Enumerate, PartitionBatch, PartitionPage, Scan, ScanPage, TableOutcome, limits,
};
pub use setting::{Compaction, Compression, Consistency, Named, Storage};
pub use traits::Store;
