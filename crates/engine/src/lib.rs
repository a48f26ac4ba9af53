//! The data plane: namespaces and slices, writes and reads of events.
//!
//! In flow order: `view` (the log of changes that all servers follow), [`namespace`] and `catalog` (what exists), `block` (ids that are
//! refused), `write` (validate, place,
//! batch, store), `route` (origin or targets), `read` (cover, scan in parallel, merge, page), `readmode` (how reads move to
//! targets), `tune` (how future slices are cut), `export` (everything, for other tools). [`Engine`] is the handle to all of it.
//!
//! Knows the store only through its trait, time only through `env`, and nothing of wires, ports or tokens.

mod aggregate;
mod block;
mod catalog;
pub mod clip;
mod course;
mod engine;
mod error;
mod event;
mod export;
mod exports;
mod histograms;
pub mod metadata;
mod metrics;
pub mod namespace;
mod query;
mod read;
mod readmode;
mod reads;
mod request;
mod route;
mod split;
mod splits;
mod tune;
mod tuning;
mod view;
mod write;

#[cfg(feature = "seeded-bugs")]
pub use self::split::Bug;
pub use self::split::SplitLimits;
pub use self::tune::{Namespaced, Simulation, Tuned, TuningStatus};
pub use ::tune::State as ProposalState;
pub use block::{BLOCKS_MAX, BLOCKS_PER_CHANGE_MAX, Block, NewBlock};
pub use catalog::Backfill;
pub use engine::{Engine, Options};
pub use error::{Error, Reason, Result};
pub use event::{EVENTS_MAX, EventInput, ITEMS_MAX, ItemInput, Refusal};
pub use export::{
    EXPORT_PARTITIONS_MAX, EXPORT_SERIES_MAX, ExportAsked, ExportPage, ExportPart, ExportPlan,
    ExportPosition, ExportTable, ExportWhich, RowExport, RowsAsked,
};
pub use namespace::{
    Namespace, NamespaceSpec, ReadGates, ReadMode, ReadModePolicy, ReadSpec, Shape, Share, SplitLayout,
    SplitPolicy, SplitSpec, SplitStrategy, TunePolicy, TuneSpec,
};
pub use query::{Limit, QUERY_DEPTH_MAX, QUERY_TERMS_MAX, SearchQuery};
pub use read::{Event, Item, ReadLimits, VIEW_STALE};
pub use readmode::{Evidence, Gate, Mismatch, MismatchSide, ReadModeInfo, Swept};
pub use request::{
    AggregatePage, AggregateRequest, Aggregation, BUCKETS_DEFAULT, Bucket, BucketKey, Cost, ExplainedGroup,
    ExplainedPartition, ExplainedRoute, Explanation, PAGE_BYTES_MAX, PAGE_RECORDS_DEFAULT, PAGE_RECORDS_MAX,
    Partial, PartitionBytes, ReadPage, ReadRequest, Resume, SERIES_MAX, SkipReason, Skipped, SliceHistogram,
    SliceInfo, SliceState, Split, SplitAsk, SplitFilter, SplitPage, SplitSummary, Stats, WidePartition,
    WriteAnswer, WriteRequest,
};
pub use route::{Fallback, FilterInfo, Probe};
pub use store::{Compaction, Compression, Consistency, Named, Storage};
pub use view::{AUDIT_LINES_MAX, AuditLine, Cause, Member, ServerInfo};
pub use write::QueueCounts;
