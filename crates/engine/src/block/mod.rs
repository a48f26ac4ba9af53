//! Blocked ids: series whose reads, writes or both are refused at once, each with a reason, an author and an expiry.
//!
//! `list` is the pure rule, `etag` names a block's content, `record` is the stored form, `audited` what the audit says, `change` what reads and changes
//! it through the log of the view. A namespace's list is part of its snapshot in the catalog, so a check is a look into memory and never a call of the
//! store.

mod audited;
mod change;
mod etag;
mod list;
mod record;

pub(crate) use list::{Access, BlockChange, BlockList};
pub use list::{BLOCKS_MAX, BLOCKS_PER_CHANGE_MAX, Block, NewBlock};
pub(crate) use record::HeadRecord;
