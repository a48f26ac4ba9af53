//! The simulator: a world in which the real code runs on time, randomness, machines and a store that a seed decides.
//!
//! [`world`] has the machines: clocks that are wrong, tasks that stop with their machine, pauses of everything on it.
//! [`cluster`] is the store: replicas that lag, fail and get hints, and changes whose outcome nobody knows. [`Trace`]
//! is what happened, as one number, so that two runs can be told apart.
//!
//! Nothing here decides what is right or wrong in a run; nothing outside depends on this crate. Invariant: a run reads
//! no clock, no randomness and no order of threads but those of its seed, so the same seed gives the same trace.

pub mod cluster;
pub mod play;
mod trace;
pub mod world;

pub use cluster::Cluster;
pub use trace::Trace;
pub use world::{Machine, World};
