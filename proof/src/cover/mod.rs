//! The protocol over one partition: three events, two servers, up to two workers. Closed time, reopened ranges, attempts,
//! covers, retirement, routes, pages.
//!
//! Each part has a file with what may happen there and what it does; `machine` puts them together. Keys are event times:
//! keys 0 and 1 can be closed, key 2 stays open. A row's value counts its versions, 0 is "not there".

mod bounds;
pub(crate) mod cases;
mod state;

mod backfill;
mod machine;
mod properties;
mod reader;
mod retirement;
mod server;
mod worker;
mod writer;

pub use bounds::Bounds;
pub use machine::Cover;
pub use properties::{ACKED_IN_ORIGIN, PAGES_WHOLE, TARGETS_COMPLETE};
