//! Faults on purpose: what a store, a network or a machine can do to a caller, within the contract.
//!
//! For tests and the simulator. Which call meets which fault comes from a [`FaultPlan`]: a script that is consumed in
//! order, and chances drawn from the seeded randomness, so a run repeats. Invariant: no fault breaks the contract of
//! [`Store`](crate::Store); a caller that fails under them would fail in production.

mod late;
mod layer;
mod plan;

pub use layer::FaultLayer;
pub use plan::{Fault, FaultPlan};
