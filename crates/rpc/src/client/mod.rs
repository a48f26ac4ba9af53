//! A client in the contract's messages: no type of the transport shows.

mod calls;
mod error;
mod routes;
mod splits;

pub use calls::{Client, Pages};
pub use error::CallError;
