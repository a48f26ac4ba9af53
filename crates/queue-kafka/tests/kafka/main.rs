//! The queue on a real broker: what is sent arrives, once the broker is there; what cannot be noted waits; what is no detection is
//! set aside; what has no room is dropped; several workers share; and TLS with a user and a password.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod flow;
mod scene;
mod secured;
mod shared;
