//! The data plane: namespaces and slices, writes and reads of events.
//!
//! In flow order: [`namespace`] and `catalog` (what exists, durable in the store's metadata), `write` (validate, place,
//! batch, store), `read` (cover, scan in parallel, merge, page). [`Engine`] is the handle to all of it.
//!
//! Knows the store only through its trait, time only through `env`, and nothing of wires, ports or tokens.

mod catalog;
mod engine;
mod error;
mod event;
pub mod metadata;
mod metrics;
pub mod namespace;
mod read;
mod request;
mod write;

pub use engine::Engine;
pub use error::{Error, Reason, Result};
pub use event::{EVENTS_MAX, Event, EventInput, ITEMS_MAX, Item, ItemInput, Refusal};
pub use namespace::{Namespace, NamespaceSpec, Shape};
pub use request::{
    Cost, EventFilter, FILTERS_MAX, PAGE_BYTES_MAX, PAGE_RECORDS_DEFAULT, PAGE_RECORDS_MAX, PartitionBytes,
    ReadPage, ReadRequest, Resume, SliceInfo, SliceState, WriteAnswer, WriteRequest,
};
pub use write::QueueCounts;
