//! Detections through Apache Kafka: many API servers tell of wide partitions, a fleet of split workers hears of them. The only
//! home of Kafka's client, and of what its messages look like.
//!
//! A detection is a hint. It may be lost (a later read finds the partition again), doubled or late (the record of a split is made
//! once), or forged (the planner looks for itself); so nothing here ever holds up a read, and nothing is served because of it.
//! What is promised is at least once: an offset is stored in order, and only when the record of the split is durable.
//!
//! Reading order: `options` (what is set, and the client's properties that follow from it), `broker` (topics, and how the queue
//! stands), `sender` (reads to Kafka), `receiver` (Kafka to records), `metrics`.

mod broker;
mod error;
mod events;
mod metrics;
mod options;
mod receiver;
mod sender;

pub use broker::{Broker, Standing};
pub use error::Error;
pub use metrics::QueueMetrics;
pub use options::{DEAD_LETTER_SUFFIX, Options, RESERVED};
pub use receiver::{Receiver, Taken, Taker};
pub use sender::Sender;
pub use split::Detection;
