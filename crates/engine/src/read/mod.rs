//! Reads: cover, scan the partitions of each group in parallel, merge, page.
//!
//! Memory per request is bounded: a few pages of the store per partition of a few groups, and one page of events.

mod events;
mod group;
mod page;
mod partition;
mod patience;
mod span;

pub(crate) use page::read_page;
