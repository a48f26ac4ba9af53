//! The wire: messages, how they become engine requests and answers, page tokens, errors as statuses, JSON.
//!
//! No behaviour, no I/O, no clock, no server: everything here is a function of its arguments. gRPC types stay in this
//! crate and in the server; the engine knows none of them. Whatever comes from a client is limited before it is
//! allocated or trusted, and every refusal names the field and ends with what to do.
//!
//! Reading order follows a request: [`v1`] and [`admin::v1`] (generated from `proto/`), [`json`], [`convert`],
//! [`token`], [`status`].

mod clip;
pub mod convert;
mod generated;
pub mod json;
pub mod status;
pub mod token;

pub use generated::{DESCRIPTORS, admin, v1};
