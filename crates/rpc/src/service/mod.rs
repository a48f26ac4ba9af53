//! The services: wire to engine and back. One file a service, backfills and streams beside theirs; no decisions.

mod backfill;
mod block;
mod filter;
mod host;
mod namespace;
mod ops;
mod read_mode;
mod split;
mod stream;
mod timeseries;

pub(crate) use block::Blocks;
pub(crate) use filter::Filters;
pub use host::{Host, Readiness};
pub(crate) use namespace::Namespaces;
pub(crate) use ops::Ops;
pub(crate) use read_mode::ReadModes;
pub(crate) use split::Splits;
pub(crate) use timeseries::TimeSeries;
