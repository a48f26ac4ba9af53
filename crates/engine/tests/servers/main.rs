//! Several servers over one store: what one changes, all act on; who is silent is waited for, and no longer than that.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod ask;
mod limits;
mod silence;
mod view;
mod world;
