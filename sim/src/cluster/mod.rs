//! A store on a cluster, simulated: what the contract of [`Store`](::store::Store) lets several machines do to a caller.
//!
//! Rows lie on replicas, each of which gets its copy of a write or of a deletion when the message arrives. Metadata records
//! and the list of tables are agreed on: one copy, changed at one moment. All that was sent and has not arrived waits
//! on one timeline, which whoever comes next brings up to date, so a message arrives whether its sender lives or not.
//!
//! Invariant: every fault stays within the contract. An acknowledged write is on as many replicas as it asked for;
//! what was refused never happens; a late write into a table that was dropped does not reach its successor.

mod calls;
mod control;
mod corrupt;
mod decisions;
mod dice;
mod handle;
mod held;
mod inspect;
mod link;
mod options;
mod replica;
mod rows;
mod state;
mod store;
mod timeline;
mod trouble;
mod writes;

pub use corrupt::Corruption;
pub use handle::Cluster;
pub use inspect::Changed;
pub use link::{Cut, Link};
pub use options::{Chances, Faults, Lag, Options};
pub use trouble::EVERY_SCAN;
