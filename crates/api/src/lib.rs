//! The wire: messages, how they become engine requests and answers, page tokens, JSON.
//!
//! No behaviour, no I/O, no clock, no server: everything here is a function of its arguments. Of gRPC only
//! the messages are here; statuses and services are in `crates/rpc`. Whatever comes from a client is limited before it is
//! allocated or trusted, and every refusal names the field and ends with what to do.
//!
//! Reading order follows a request: [`v1`] and [`admin::v1`] (generated from `proto/`), [`limits`], [`json`],
//! [`convert`], [`token`].

pub mod convert;
mod generated;
pub mod json;
pub mod limits;
pub mod token;

pub use engine::clip;
pub use generated::{DESCRIPTORS, admin, v1};
