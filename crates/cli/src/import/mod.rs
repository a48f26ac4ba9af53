//! Importing events: files or any other source into a namespace, in batches, with everything that was bad named by
//! file and line.
//!
//! Reading order: `order` (an import from its inputs to its summary), `inputs` (files, one after another), `source`
//! (what they give), `ndjson` and `csv` with `lines`, `header` and `event_id`, `batch` (what a request carries), `pump`
//! (reading and sending at once), `deliver` and `retry` (one batch until it is there), `backfill` (old events),
//! `report`, `progress`, `target` (the calls).
//!
//! Invariant: every line of an input is accepted, refused or bad, and counted as such once, unless the import ends
//! early and says so. Running an import again writes nothing twice.

mod backfill;
mod batch;
mod csv;
mod deliver;
mod event_id;
mod header;
mod inputs;
mod lines;
mod ndjson;
mod order;
mod progress;
mod pump;
mod report;
mod retry;
mod source;
mod target;
#[cfg(test)]
mod testing;

pub(crate) use batch::EVENTS_MAX;
pub(crate) use inputs::InputFormat;
pub(crate) use order::{BATCH_DEFAULT, Feed, Order, PARALLEL_DEFAULT, import, interrupts, run};
pub(crate) use progress::Progress;
pub(crate) use pump::Settings;
pub(crate) use report::{grouped, rate};
pub(crate) use retry::{TRIES_MAX, back_off};
pub(crate) use source::{Found, Place, Source};
