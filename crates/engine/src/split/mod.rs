//! Splitting wide partitions: found by reads, copied into small ones, proven equal.
//!
//! `detect` is what reads do, `records` is the durable state. A worker (`worker`) takes what is due: `begin` makes sure that
//! the origin can change no more, `plan`, `copy` (with `pack`) and `verify` are the steps of an attempt, `recheck` compares again later,
//! `retire` takes out of use and deletes. `verbs` and `list` are what operators ask for. What is decided is in the crate
//! `split`, which is pure; here it is done.
//!
//! Invariants: state lives only in the record, and every change of it is a compare-and-set; after an unknown outcome the record
//! is read again and obeyed. The origin is never changed. A split is completed only by what was read back from the store.

mod attempt;
mod begin;
#[cfg(feature = "seeded-bugs")]
mod bugs;
mod compare;
mod copy;
mod detect;
mod expire;
mod held;
mod list;
mod metrics;
mod pack;
mod plan;
mod recheck;
mod records;
mod retire;
mod scan;
mod splits;
mod throttle;
mod verbs;
mod verify;
mod worker;

#[cfg(feature = "seeded-bugs")]
pub use bugs::Bug;
pub(crate) use records::Stored;
pub(crate) use scan::{Pages, Part};
pub use splits::SplitLimits;
pub(crate) use splits::Splits;
pub(crate) use throttle::Throttle;
