//! Writes: validate, accept window, place, batch per partition, store, accept window again. Durable writes wait for the store; queued ones wait in
//! memory and are stored soon after.

mod accept;
mod ask;
mod drain;
mod durable;
mod place;
mod prepare;
mod queue;
mod validate;
mod window;

pub(crate) use ask::ask_as_write;
pub(crate) use durable::write_synced;
pub use queue::QueueCounts;
pub(crate) use queue::{WriteQueue, write_queued};
