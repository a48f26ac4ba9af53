//! gRPC and its JSON twins: the services over the engine, and a client.
//!
//! The only home of tonic: what goes in and out of this crate are the messages of `crates/api`, the engine's types and
//! plain HTTP. Reading order: `router` (what answers where), `health` (also before
//! anything is served), `gate` (how much at once), `codec`, `service` (one file a
//! service), `status` (errors), `connect` (the same calls as JSON), [`client`].

pub mod client;
mod codec;
mod connect;
mod deadline;
mod gate;
mod generated;
mod health;
mod router;
mod service;
mod status;

pub use gate::Limits;
pub use health::{Health, waiting};
pub use router::{Serving, router};
pub use service::{Host, QueueState, Readiness};
