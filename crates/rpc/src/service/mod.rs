//! The services: wire to engine and back. One file a service, no decisions.

mod block;
mod host;
mod namespace;
mod ops;
mod stream;
mod timeseries;

pub(crate) use block::Blocks;
pub use host::{Host, Readiness};
pub(crate) use namespace::Namespaces;
pub(crate) use ops::Ops;
pub(crate) use timeseries::TimeSeries;
