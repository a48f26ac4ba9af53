//! What exists: namespaces and slices, with which shapes. `record` is the stored form; `known` and `dataset` are what one
//! server knows of it, as immutable snapshots that readers and writers share; the rest decides changes and makes them through
//! the log of `view`.

mod backfill;
mod closed;
mod dataset;
mod drops;
mod known;
mod namespaces;
pub(crate) mod record;
mod retention;
pub(crate) mod setting;
mod slices;
mod spans;
mod splits;
mod state;
mod tuned;

pub use backfill::Backfill;
pub(crate) use dataset::Dataset;
pub(crate) use known::{Incarnation, Known, incarnation_of, name_of};
#[cfg(test)]
pub(crate) use record::NamespaceRecord;
pub(crate) use retention::{MARGIN, is_past, nanos};
pub(crate) use slices::dropped;
pub(crate) use spans::Spans;
pub(crate) use splits::{ModeChange, SplitsChange};
pub(crate) use state::Catalog;
