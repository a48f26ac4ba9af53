//! What goes to stdout, in each of the formats. Decided in pure code (`table`, `value`, `event`, `aggregation`,
//! `explained`, `namespace`, `slice`, `histogram`, `block`, `list`); only `stdout` writes.

mod aggregation;
mod block;
mod event;
mod explained;
mod format;
mod histogram;
mod json;
mod list;
mod namespace;
mod setting;
mod shell;
mod slice;
mod stdout;
mod table;
pub(crate) mod value;

pub(crate) use aggregation::{CountRecord, StatsRecord, StretchRecord, ValueRecord};
pub(crate) use block::BlockRecord;
pub(crate) use event::{EventRecord, FoundRecord};
pub(crate) use explained::{ExplainedRecord, Tree};
pub(crate) use format::Format;
pub(crate) use histogram::HistogramRecord;
pub(crate) use json::Json;
pub(crate) use list::{Listing, Record};
pub(crate) use namespace::{NamespaceRecord, describe};
pub(crate) use setting::SettingRecord;
pub(crate) use shell::quoted;
pub(crate) use slice::SliceRecord;
pub(crate) use stdout::Stdout;
pub(crate) use table::Table;
