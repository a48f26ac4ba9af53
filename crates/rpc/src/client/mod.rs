//! A client in the contract's messages: no type of the transport shows.

mod calls;
mod error;

pub use calls::{Client, Pages};
pub use error::CallError;
