//! Chunks as their users see them: what goes in comes out, what was spoiled is refused, and old bytes stay readable.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod crafted;
mod golden;
mod hostile;
mod made;
mod refused;
mod round_trip;
