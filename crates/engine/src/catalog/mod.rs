//! Durable facts: which namespaces and slices exist, with which shapes. Kept in the store's metadata, changed by
//! compare-and-set, and held in memory as snapshots that readers and writers share.

mod namespaces;
pub(crate) mod record;
mod retention;
pub(crate) mod setting;
mod slices;
mod state;

#[cfg(test)]
pub(crate) use record::NamespaceRecord;
pub(crate) use state::{Catalog, Dataset};
