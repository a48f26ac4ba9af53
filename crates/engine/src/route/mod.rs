//! Where a partition is read: in the origin, or in the targets of its split.
//!
//! `way` decides for a whole read (mode, lease, chance; pure). For a partition, `filter` says in nanoseconds that it was not
//! split, `cache` what is known of one that was, and `router` reads the record where neither knows. `filters` keeps the
//! filters up to date.
//!
//! Invariant: whoever is in doubt reads the origin, which holds every acknowledged event. A page from targets is answered only
//! if, after its last store call, this server would still take the same way; else it is read anew, all of it from the origin.

mod cache;
mod filter;
mod filters;
mod metrics;
mod probe;
mod router;
mod way;

pub(crate) use cache::Entry;
pub use probe::{FilterInfo, Probe};
pub(crate) use router::{Cached, Choice, Plan, Routed, Router, Seen, id_of};
pub use way::Fallback;
pub(crate) use way::Way;
