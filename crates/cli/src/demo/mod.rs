//! The main job on real parts, in one command: serve, write a skewed workload, read it back, check every event.
//!
//! Reading order: `story` (the five steps), `host` (the server, and where its data is), `workload` (what is written),
//! `reader` (how it is read back), `digest` (whether it is the same), `figures` (what was measured).
//!
//! Invariant: nothing is shown that was not measured in this run, and nothing waits for show.

mod digest;
mod figures;
mod host;
mod reader;
mod story;
mod workload;

pub(crate) use host::Backend;
pub(crate) use story::{Options, run};
pub(crate) use workload::Scale;
