//! The data plane: namespaces and slices, writes and reads of events.
//!
//! In flow order: [`namespace`] and `catalog` (what exists, durable in the store's metadata), `block` (ids that are
//! refused), `write` (validate, place,
//! batch, store), `read` (cover, scan in parallel, merge, page). [`Engine`] is the handle to all of it.
//!
//! Knows the store only through its trait, time only through `env`, and nothing of wires, ports or tokens.

mod aggregate;
mod block;
mod catalog;
pub mod clip;
mod engine;
mod error;
mod event;
mod histograms;
pub mod metadata;
mod metrics;
pub mod namespace;
mod query;
mod read;
mod reads;
mod request;
mod write;

pub use block::{BLOCKS_MAX, BLOCKS_PER_CHANGE_MAX, Block, NewBlock};
pub use engine::Engine;
pub use error::{Error, Reason, Result};
pub use event::{EVENTS_MAX, Event, EventInput, ITEMS_MAX, Item, ItemInput, Refusal};
pub use namespace::{Namespace, NamespaceSpec, Shape};
pub use query::{Limit, QUERY_DEPTH_MAX, QUERY_TERMS_MAX, SearchQuery};
pub use read::ReadLimits;
pub use request::{
    AggregatePage, AggregateRequest, Aggregation, BUCKETS_DEFAULT, Bucket, BucketKey, Cost, ExplainedGroup,
    ExplainedPartition, Explanation, PAGE_BYTES_MAX, PAGE_RECORDS_DEFAULT, PAGE_RECORDS_MAX, Partial,
    PartitionBytes, ReadPage, ReadRequest, Resume, SERIES_MAX, SkipReason, Skipped, SliceHistogram,
    SliceInfo, SliceState, Stats, WriteAnswer, WriteRequest,
};
pub use store::{Compaction, Compression, Consistency, Named, Storage};
pub use write::QueueCounts;
