//! The suite that holds a backend to the contract of [`Store`](crate::Store).
//!
//! A backend runs all of it with one call, [`conformance_suite!`](crate::conformance_suite), and gets one test per
//! case. The cases know nothing of the backend: each works in tables and metadata groups of its own with fresh names,
//! so they may run at once and against a shared store that holds other things.
//!
//! One file a topic. Invariant, held by a test: every case of a topic is listed in the macro.
#![expect(clippy::indexing_slicing, reason = "the suite runs only in tests, where a panic is the report")]

pub mod batches;
pub mod concurrency;
pub mod delete;
pub mod enumerate;
mod fixture;
pub mod histogram;
pub mod keys;
pub mod limits;
pub mod meta;
pub mod meta_range;
pub mod overwrite;
mod parallel;
pub mod random;
mod reference;
pub mod scan;
pub mod scan_paging;
mod suite;
pub mod tables;
pub mod wishes;

pub use fixture::{Fixture, row};
