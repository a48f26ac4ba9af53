//! The main job on real parts, in one command: serve, write a skewed workload, read it, have what those reads find wide split
//! and proven equal, move reads over, read again, check every event, have too narrow buckets tuned.
//!
//! Reading order: `story` (the ten steps), `host` (the server, and where its data is), `workload` (what is written),
//! `readings` with `reader` (how it is read, three times), `splits` (what is watched of splits), `moving` (from off to on), `change` (what
//! that brought, and cost), `digest` (whether it is the same), `tuning` (buckets that do not fit, and the next
//! slice that has better ones), `figures` (what was measured).
//!
//! Invariant: nothing is shown that was not measured in this run, and nothing waits for show.

mod change;
mod digest;
mod figures;
mod host;
mod moving;
mod reader;
mod readings;
mod splits;
mod story;
mod tuning;
mod workload;

pub(crate) use host::{Backend, Queue};
pub(crate) use story::{Options, run};
pub(crate) use workload::Scale;
