//! A client in the contract's messages: no type of the transport shows.

mod calls;
mod error;
mod exports;
mod received;
mod routes;
mod splits;
mod tuning;

pub use calls::{Client, Pages};
pub use error::CallError;
pub use exports::RowPages;
pub use received::PagesReceived;
