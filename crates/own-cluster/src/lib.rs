//! Clusters for suites that need one of their own: nodes, a broker and servers that are killed, paused or secured. For tests only.
//!
//! `dev/cassandra` and `dev/kafka` do the work; here is what every suite needs around it: a directory and an address that no other uses,
//! one run at a time, steps that are said as they happen, and nothing left behind, also when a test fails.

mod broker;
mod cluster;
mod server;

pub use broker::OwnBroker;
pub use cluster::{CERTIFICATE, OwnCluster, Place};
pub use server::OwnServer;
