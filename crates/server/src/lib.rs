//! One process that serves: the only place that chooses and wires.
//!
//! Reading order: [`config`] (what was asked for), `starting` (from a port to a server), `server` (stop), `backend` (the
//! store and its layers), `queue` (how detections travel), `certificates` (what TLS to a cluster needs), `examine` (a look at that cluster), `listen` (one
//! port), `upkeep` (what happens without a request), `readiness`, `keys` (what seals page tokens), `metrics`.
//!
//! Invariant: nothing is acknowledged after [`Server::stop`] has begun to flush, and the store is closed last.

mod backend;
mod certificates;
pub mod config;
mod error;
mod examine;
mod keys;
mod listen;
mod metrics;
mod queue;
mod readiness;
mod server;
mod starting;
mod upkeep;

pub use backend::drop_keyspaces;
pub use error::Error;
pub use examine::{Examined, LAYOUT_VERSION, Layout, MissingRight, Node, Replicas, Rights, examine};
pub use queue::{drop_topics, examine_queue};
pub use queue_kafka::Standing;
pub use server::Server;
pub use starting::Starting;
