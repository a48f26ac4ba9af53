//! Clusters for suites that need one of their own: nodes that are killed, paused or secured. For tests only.
//!
//! `dev/cassandra` does the work; here is what every suite needs around it: a directory and an address that no other uses,
//! one run at a time, steps that are said as they happen, and nothing left behind, also when a test fails.

mod cluster;

pub use cluster::{CERTIFICATE, OwnCluster, Place};
