//! The services: wire to engine and back. One file a service, backfills, plans and streams beside theirs; no decisions.

mod backfill;
mod block;
mod export;
mod filter;
mod host;
mod namespace;
mod ops;
mod plan;
mod read_mode;
mod split;
mod stream;
mod timeseries;
mod tuning;

pub(crate) use block::Blocks;
pub(crate) use export::Exports;
pub(crate) use filter::Filters;
pub use host::{Host, QueueState, Readiness};
pub(crate) use namespace::Namespaces;
pub(crate) use ops::Ops;
pub(crate) use read_mode::ReadModes;
pub(crate) use split::Splits;
pub(crate) use timeseries::TimeSeries;
pub(crate) use tuning::Tuning;
