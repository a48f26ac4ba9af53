//! Sizes of partitions as a cluster knows them, without reading a row.
//!
//! Three sources, the best that answers first: the histograms of the nodes' files through the Jolokia agent (`jolokia`),
//! the percentiles of the same through Cassandra's own tool (`nodetool`), and the means that the nodes estimate and show in
//! a table (`estimates`). `sources` chooses among them; `buckets` and `percentiles` read what they say, and are pure. Every
//! answer is also written to a plain table (`kept`), for whoever has cqlsh and nothing else.
//! Invariant: a summary says what its source says, to the byte; nothing of it is smoothed or filled in.

mod buckets;
mod estimates;
mod jolokia;
mod kept;
mod nodetool;
mod options;
mod percentiles;
mod sources;

pub(crate) use kept::Kept;
pub use options::{HistogramOptions, SourceChoice};
pub(crate) use sources::Sources;
