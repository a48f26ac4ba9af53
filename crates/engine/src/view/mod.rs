//! One truth for many servers: the change log of the cluster, the lease under which a server acts on what it has seen of it,
//! and barriers, behind which nobody acts on less.
//!
//! `head` is the log as it is stored, `lease` and `server` decide (pure), `me` is this server. `change` makes a change, `sync`
//! follows those of others, `settle` writes the records for whoever starts anew, `members` reports and waits. `audit` is the
//! log of who changed what.
//!
//! Invariants: every change is decided on the newest state; a view never goes back; a server registers before it reads, and
//! acts on its view only while every barrier would still wait for it.

mod audit;
mod change;
mod head;
mod lease;
mod me;
mod members;
mod server;
mod settle;
mod sync;

pub use audit::{AUDIT_LINES_MAX, AuditLine};
pub(crate) use change::Decided;
pub use head::Cause;
pub(crate) use head::{Entry, Put};
pub(crate) use lease::Standing;
pub(crate) use me::Me;
pub use me::Member;
pub use members::ServerInfo;
