//! The default store: a log-structured merge tree inside the process.
//!
//! One process owns a data directory. Every change goes through one committer thread that puts waiting requests into
//! one engine batch, syncs the journal once and then acknowledges them all. After a failed commit the store latches:
//! reads go on, nothing is acknowledged any more, and the reason says what to do. Reads run on the blocking pool, from
//! a snapshot, so they never see part of a batch.
//!
//! Reading order: [`EmbeddedStore`] (`store`), `open`, `directory` and `journal` (opening), `change`, `committer`,
//! `group` and `delete` (changes), `tables`, `counters` and `memtables` (what a table keeps), `scan`, `bodies`, `enumerate`, `measure` (reads),
//! `keys` (everything on disk). The engine is fjall; its types do not leave this crate.

mod bodies;
mod cancel;
mod change;
mod committer;
mod counters;
mod delete;
mod directory;
mod engine;
mod enumerate;
mod group;
mod journal;
mod keys;
mod latch;
mod measure;
mod memtables;
mod metadata;
mod open;
mod options;
mod scan;
mod store;
mod tables;

pub use engine::EngineStats;
pub use options::Options;
pub use store::EmbeddedStore;
