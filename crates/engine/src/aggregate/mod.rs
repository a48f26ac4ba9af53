//! Aggregations: the rows of a read, counted in place of being sent.
//!
//! The same walk as a read, with a tally in place of a page: so an answer has the same limits and tokens, and is as exact.

mod page;
mod sum;
mod tally;

pub(crate) use page::{AGGREGATE_SCAN_BYTES_MAX, aggregate_page};
