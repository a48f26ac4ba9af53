//! Nouns and pure rules: ids, times, slices, shapes, where an event lies and where a read must look.
//!
//! No async, no I/O, no clock, no randomness, no wire types. Everything here is a function of its arguments, so
//! every rule can be checked by properties and golden values. Nothing wraps: a time or a number outside its range is an
//! [`Error`] that says what to change.
//!
//! Reading order follows an event: [`time`], [`id`], [`mod@slice`], [`shape`], [`place`], [`position`], [`row`], [`rows`].

mod error;
pub mod hash;
pub mod histogram;
pub mod id;
pub mod place;
pub mod position;
pub mod row;
pub mod rows;
pub mod shape;
pub mod slice;
pub mod table;
pub mod time;

pub use error::Error;
pub use histogram::{HistogramQuality, SizeHistogram, SizeSummary};
pub use id::{EventId, ItemKey, NamespaceName, SeriesId};
pub use place::{Group, Layout, Layouts, Partition, PartitionKey};
pub use position::{Order, Position, RowKey};
pub use row::Row;
pub use rows::{RowPlace, RowView, Rows, RowsBuilder, RowsInPlace};
pub use shape::{Shape, ShapeSpec};
pub use slice::{Segment, Slice, Timeline};
pub use table::{TableName, TableRef};
pub use time::{Interval, Timestamp};
