//! Time, machines and what runs on them.
//!
//! [`World::run`] runs a scenario from its seed on one thread, on time that stands still while anybody works and jumps
//! ahead when all wait. A [`Machine`] is one server as the code on it sees it: an [`env::Env`] whose clocks drift and
//! jump, and whose tasks are paused and die together. Invariant: no task of a machine is polled while it is paused, and
//! none is polled or started again after it crashed.
//!
//! The runtime itself draws lots in two places, from a seed that only its unstable builds can set: `tokio::select!` without
//! `biased`, and the order in which several receivers of a `tokio::sync::watch` wake. Code that runs here uses neither.

mod clock;
mod life;
mod machine;
mod run;
mod spawn;
mod task;

pub use clock::{RATE_PPM_MAX, TrueClock};
pub use machine::{Crashed, Hardware, Machine};
pub use run::{Elapsed, Failure, World};
