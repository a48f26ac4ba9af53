//! Leases, closed time and barriers with explicit ticks: what the other models take for granted, earned.
//!
//! One write, one cover. Wall clocks are off by a bounded skew, lease clocks may lose a tick, a refresh is start, read and
//! end, a publication is sent and confirmed, and a barrier passes by reports or by waiting.

mod bounds;
pub(crate) mod cases;
mod machine;
mod publisher;
mod server;
mod state;

pub use bounds::Bounds;
pub use machine::{COVER_COMPLETE, Clocks};
