//! Reads: cover, scan the partitions of each group in parallel, merge, page.
//!
//! Memory per request is bounded: a few pages of the store per partition of a few groups, and one page of events.
//!
//! `walk` goes from a request to rows (`everything` where no series is named), `group` and `partition` give the rows in order
//! (`count` where headers of chunks are enough),
//! a `take::Taker` takes them: a page of `events`, or a tally of an aggregation. `ahead`, `certain`, `span` and `take` are pure.

mod ahead;
#[cfg(feature = "seeded-bugs")]
mod bugs;
mod certain;
mod count;
mod desk;
mod drain;
mod events;
mod everything;
mod explain;
mod found;
mod group;
mod need;
mod only;
mod page;
mod partition;
mod patience;
mod span;
mod take;
mod told;
mod visited;
mod walk;

pub use certain::VIEW_STALE;
pub(crate) use certain::certain;
pub(crate) use count::{Counting, Counts};
pub use desk::ReadLimits;
pub(crate) use desk::{Desk, Place};
pub(crate) use explain::explain_page;
pub use found::{Event, Item};
pub(crate) use only::Only;
pub(crate) use page::{PAGE_SCAN_BYTES_MAX, check, is_truncated, matcher, read_page};
pub(crate) use partition::Head;
pub(crate) use patience::TimeLimit;
#[cfg(test)]
pub(crate) use take::edge;
pub(crate) use take::{After, Edge, Ended, InPlace, Mark, Taker, Wants, is_inside_event};
pub(crate) use walk::{Filled, Reading, Walked, passed, walk};
