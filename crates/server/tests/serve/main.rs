//! A real server on a real port: what clients see, whatever store is behind it. With the embedded one, or with
//! `BRAID_TEST_BACKEND=cassandra` on the node of `dev/cassandra`.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod abuse;
mod aggregate;
mod audit;
mod backfills;
mod blocks;
mod deadline;
mod events;
mod explain;
mod exports;
mod fixture;
mod home;
mod http;
mod lifecycle;
mod namespaces;
mod operating;
mod packed;
mod partitions;
mod plans;
mod read_modes;
mod routes;
mod search;
mod splits;
mod tuning;
mod twins;
mod waiting;
mod wishes;
