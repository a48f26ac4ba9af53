//! The store on a real Cassandra: the conformance suite of the seam, and what only a cluster can get wrong.
//!
//! One node serves all tests; `node` starts it, or uses the one that runs. Nothing here is skipped where it cannot.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod batches;
mod collisions;
mod conformance;
mod deleted;
mod joining;
mod kept;
mod levels;
mod node;
mod removed;
mod servers;
mod shared;
mod signals;
