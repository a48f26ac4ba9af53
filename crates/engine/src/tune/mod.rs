//! Tuning future slices: what was seen of closed ones, proposals, and who decides on them.
//!
//! `observe` looks at closed slices, `records` is where all of it lies, `round` is what one look does, `verbs` is what operators
//! ask for. What is decided is in the crate `tune`, which is pure; here it is done.
//!
//! Invariants: one server looks at a namespace at a time; an observation or a proposal is changed by compare-and-set only; a
//! proposal is accepted in the same change as the shape of its namespace, so neither is ever seen without the other. No slice that
//! exists is touched.

mod metrics;
mod observe;
mod records;
mod round;
mod tuner;
mod verbs;

pub(crate) use records::is_group;
pub(crate) use tuner::Tuner;
pub use tuner::{Namespaced, Simulation, Tuned, TuningStatus};
pub(crate) use verbs::Choice;
