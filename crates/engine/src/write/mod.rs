//! Writes: validate, accept window, place, batch per partition, store.

mod durable;
mod place;
mod validate;

pub(crate) use durable::write_synced;
