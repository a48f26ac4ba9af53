//! What a cluster does to its callers when things go wrong, what it never does, and that it does the same twice.

mod decisions;
mod deletions;
mod determinism;
mod fixture;
mod rows;
