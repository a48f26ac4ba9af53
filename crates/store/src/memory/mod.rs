//! The plainest backend: ordered maps behind one lock, gone when the process ends.
//!
//! It is the reference that other backends are compared with, and what tests above the store run on. No faults, no
//! delays, no durability: those are layers or other backends. Invariant: every call takes the lock once and never
//! waits while it holds it, so each call is atomic.

mod scan;
mod store;

pub use store::MemoryStore;
