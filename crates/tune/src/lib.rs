//! The pure half of tuning: how large the partitions of slices were, whether that fits, and how future slices should be cut.
//! No clock, no store, no randomness: whoever acts brings them along.
//!
//! In flow order: [`Walk`] (what a walk over a slice's partitions adds up to), [`Observation`] (the sizes of one slice),
//! [`predict`] (the same under another shape), [`decide`] (whether to change it), [`Proposal`] (the change, until somebody has
//! decided), [`replay`] (what would have been).

mod decide;
mod density;
mod evidence;
mod finding;
mod history;
mod ladder;
mod limit;
mod observation;
mod predict;
mod proposal;
mod render;
mod replay;
mod step;
mod stored;
mod walk;

pub use decide::{Decision, Draft, Situation, decide};
pub use density::{DENSITY_MAX_DEFAULT, DENSITY_MIN_DEFAULT, Density};
pub use evidence::{EVIDENCE_PARTITIONS, EVIDENCE_SLICES};
pub use finding::Finding;
pub use history::{Change, Direction, direction};
pub use limit::Limit;
pub use observation::{Counted, Observation, Rung, SeriesSizes};
pub use predict::{Basis, Prediction, predict};
pub use proposal::{Outcome, Proposal, Seen, Settled, State};
pub use render::bytes as shown_bytes;
pub use replay::{Replay, ReplayedSlice, reads, replay};
pub use stored::Unreadable;
pub use walk::{SAMPLE_ENTRIES_MAX, Walk};
