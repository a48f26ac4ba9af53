//! A real server on a real port with the embedded store: what clients see.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod abuse;
mod blocks;
mod events;
mod fixture;
mod http;
mod lifecycle;
mod namespaces;
mod operating;
mod search;
mod twins;
