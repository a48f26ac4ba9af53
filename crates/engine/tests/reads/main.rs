//! Random events, written through the engine and read in every way, against a plain sorted list.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod aggregate;
mod everything;
mod explain;
mod pages;
mod replay;
mod world;
