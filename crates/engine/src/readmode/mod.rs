//! How reads of a namespace move from origins to targets, step by step.
//!
//! `compare` reads pages both ways after the answer, `confirm` looks again at what differs and takes the split out of use,
//! `evidence` counts what was seen on all servers, `gates` says whether that is enough for the next step (pure), `mode` makes
//! the step, `sweep` reads every split both ways for namespaces that are rarely read.
//!
//! Invariant: nothing here delays or fails a read. What cannot be compared now is skipped and counted.

mod compare;
mod confirm;
mod evidence;
mod gates;
mod metrics;
mod mismatch;
mod mode;
mod sides;
mod sweep;

pub(crate) use compare::{Comparer, Served, split_partitions};
pub use evidence::Evidence;
pub(crate) use evidence::Notes;
pub use gates::Gate;
pub use mismatch::{Mismatch, MismatchSide};
pub use mode::ReadModeInfo;
pub use sweep::Swept;
