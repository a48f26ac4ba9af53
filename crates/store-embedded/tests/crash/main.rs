//! Crashes of all kinds: what was acknowledged survives them.
//!
//! [`kill`]: kill -9 at random moments. [`full_disk`]: a commit that fails. [`power`]: writes after the last sync
//! lost or torn. [`delete`]: deletions cut short.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod delete;
mod full_disk;
mod kill;
mod power;
mod support;
