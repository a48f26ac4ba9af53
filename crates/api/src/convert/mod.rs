//! Wire messages to engine requests, engine answers to wire messages. One file per family of messages.
//!
//! Only what a message can say wrongly is judged here: a missing field, a number outside its type, an interval that runs
//! backwards. What the fields mean together is the engine's to judge.

mod aggregate;
mod audit;
mod backfill;
mod block;
mod cause;
mod explain;
mod export;
mod filter;
mod histogram;
mod namespace;
mod page;
mod plan;
mod read;
mod read_mode;
mod read_settings;
mod received;
mod search;
mod slice;
mod split;
mod split_asked;
mod split_settings;
mod time;
mod tune_settings;
mod tuning;
mod worker;
mod write;

pub use aggregate::{Aggregate, aggregate_request, aggregate_response};
pub use audit::{AuditPage, audit_request};
pub use backfill::{backfill_to_wire, new_backfill};
pub use block::{block_page, block_to_wire, new_blocks, unblocked};
pub use cause::{AUTHOR_CHARS_MAX, AUTHOR_HEADER, cause};
pub use explain::explain_response;
pub(crate) use export::{EXPORT_SLICES_MAX, EXPORT_SPLITS_MAX};
pub use export::{
    ExportSplitsAsked, export_request, export_response, export_rows_request, export_rows_response,
    export_splits_request, export_splits_response, value_metadata,
};
pub use filter::{filter_to_wire, probe_request, probe_to_wire};
pub use histogram::histogram_to_wire;
pub(crate) use namespace::MASK_PATHS_MAX;
pub use namespace::{changed_spec, namespace_name, namespace_to_wire, new_namespace, one_or_all};
pub use page::PageToSend;
pub use plan::{plan_request, plan_response, refused};
pub use read::{Read, read_request, read_response};
pub use read_mode::{
    CompareAsked, compare_request, compare_response, mismatch_to_wire, read_mode_to_wire, rollback_to,
};
pub use received::{ItemReceived, Items, NoPage, PageReceived, Record, Records};
pub use search::search_request;
pub use slice::slice_to_wire;
pub use split::{split_to_wire, wide_to_wire};
pub(crate) use split_asked::STATES_MAX;
pub use split_asked::{
    SplitsAsked, WideAsked, layout_asked, new_split, split_named, splits_request, splits_response,
    wide_request,
};
pub use time::{duration_from_wire, duration_to_wire, timestamp_to_wire};
pub(crate) use tuning::PROPOSAL_STATES_MAX;
pub use tuning::{
    proposal_named, proposal_states, proposal_to_wire, proposals_response, simulated_shape,
    simulation_to_wire, tuning_to_wire,
};
pub use worker::worker_to_wire;
pub use write::{write_request, write_response};
