//! Tuning through the engine: months on a simulated clock, on the memory store.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod estimates;
mod policies;
mod published;
mod world;
