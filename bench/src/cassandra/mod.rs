//! What the questions about Cassandra share. They need a node and are skipped without one.
//!
//! Reading order: `node` (is one there?), [`Home`] (keyspaces for one run, and a server on them), [`Driver`] (the rival:
//! the same statements without Braid), `calls` (what a server tells about its store calls, pure), [`Trio`]
//! (three nodes for one question, each held to a part of a core).

mod calls;
mod driver;
mod home;
mod node;
mod trio;

pub(crate) use calls::slowest_scan_seconds;
pub(crate) use driver::Driver;
pub(crate) use home::{Elsewhere, Home};
pub(crate) use node::beside;
pub(crate) use trio::Trio;
