//! The protocol of views, leases, closed time, barriers, covers and slices as models that are checked exhaustively within
//! bounds, and mutants: the same without one of its sentences, which have to lose something.
//!
//! No product code lives here and none is called: a model says what the protocol is, not how a server does it. The page
//! `docs/proof.md` says what is modelled and what is not.

mod cells;
mod guard;
mod lease;
mod listed;
mod marks;

pub mod clock;
pub mod cover;
pub mod slice;

mod case;
mod explore;
mod table;

pub use case::{Case, Expect, Size, Subject, Verdict};
pub use explore::{Explored, Violation, Want};
pub use guard::{Guard, Without};
pub use lease::{LeaseStep, Leases, RunOut};
pub use marks::{Mark, Marks};
pub use table::{cases, select};
