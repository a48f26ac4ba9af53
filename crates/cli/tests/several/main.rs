//! Several servers over one Cassandra, as processes: what one is told, all know; what one acknowledges, all read; one that is
//! killed is missed by nobody. On the node that `dev/cassandra` runs.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agree;
mod killed;
mod processes;
