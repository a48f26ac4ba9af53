//! One slice from its announcement to its drop: makers, writers, readers with and without a lease, two keepers, a longer
//! retention that races with the drop, and a namespace that is made again.
//!
//! What the model fixes beyond the design:
//!
//! - *Making*: the record by compare-and-set, then the table, then the announcement in an epoch. Only a server with a
//!   lease makes one.
//! - *Reading*: under a lease the view says which slices there are. Without one the view may lack a slice in which others
//!   acknowledge already, so the reader looks the slice records up (one linearizable read); where it cannot, it says that
//!   its answer is partial. Behind its scan it looks whether the slice was dropped meanwhile; then it is truncated.
//! - *Dropping*: a keeper reads the retention, compare-and-sets OPEN to CLOSING, reads the retention again, publishes
//!   CLOSING, waits for that barrier, compare-and-sets the same version to DROPPED and only then drops the table. A keeper
//!   that takes over begins at the second look. DROPPED stays for ever.
//! - *Longer retention*: the row first, then the records. CLOSING is taken back by compare-and-set, DROPPED is told to the
//!   operator; for everything else it is a promise.
//! - *Made again*: records and tables carry the incarnation, so that nothing late reaches the new ones.

mod bounds;
pub(crate) mod cases;
mod keeper;
mod machine;
mod operator;
mod properties;
mod reader;
mod state;
mod writer;

pub use bounds::Bounds;
pub use machine::Slices;
pub use properties::{ACK_BEFORE_DROP, ACKED_STORED, PROMISE_KEPT, READS_WHOLE};
