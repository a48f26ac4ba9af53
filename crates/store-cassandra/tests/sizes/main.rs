//! Sizes of partitions as a real node tells them, beside what Cassandra's own tool shows.
//!
//! Apart from the other tests on that node, and one test at a time: whatever nodetool is asked, it looks at all tables, and
//! fails where somebody drops one meanwhile.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod estimates;
mod histograms;
#[path = "../cassandra/node.rs"]
mod node;
mod tool;
