//! How a partition is read page by page, whatever the layout in which it keeps its rows.
//!
//! A [`Course`] says what to ask the store next and takes its answers; what has [`Arrived`] is given as [`PageRows`], in the order of
//! the read. Of rows the store's answer is the page; of chunks each one is, unpacked when its turn comes. Nothing here talks to a
//! store: whoever reads decides when to ask, how far ahead, and what an error means.

mod ahead;
mod arrived;
mod asked;
mod cache;
mod chunks;
mod filter;
mod headers;
mod rows;
#[cfg(test)]
mod tests;

pub(crate) use ahead::{Ahead, begun};
pub(crate) use arrived::Arrived;
pub(crate) use asked::{Course, Wanted};
pub(crate) use cache::ChunkCache;
pub(crate) use headers::HeaderCourse;
pub(crate) use rows::PageRows;
