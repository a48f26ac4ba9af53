//! What goes to stdout, in each of the formats. Decided in pure code (`table`, `value`, `event`, `aggregation`,
//! `explained`, `namespace`, `slice`, `histogram`, `split`, `read_mode`, `tuning`, `filter`, `block`, `backfill`, `worker`, `audit`, `list`); only `stdout` writes.
//! `explained`, `namespace`, `plan`, `slice`, `histogram`, `split`, `read_mode`, `filter`, `block`, `backfill`, `worker`, `audit`, `list`); only `stdout` writes.

mod aggregation;
mod audit;
mod backfill;
mod block;
mod event;
mod explained;
mod filter;
mod format;
mod histogram;
mod json;
mod list;
mod namespace;
mod plan;
mod read_mode;
mod setting;
mod shell;
mod slice;
mod split;
mod stdout;
mod table;
mod tuning;
pub(crate) mod value;
mod worker;

pub(crate) use aggregation::{CountRecord, StatsRecord, StretchRecord, ValueRecord};
pub(crate) use audit::AuditRecord;
pub(crate) use backfill::BackfillRecord;
pub(crate) use block::BlockRecord;
pub(crate) use event::{EventRecord, FoundRecord};
pub(crate) use explained::{ExplainedRecord, Tree};
pub(crate) use filter::{FilterRecord, ProbeRecord};
pub(crate) use format::Format;
pub(crate) use histogram::HistogramRecord;
pub(crate) use json::Json;
pub(crate) use list::{Listing, Record};
pub(crate) use namespace::{NamespaceRecord, describe};
pub(crate) use plan::{PlanRecord, plan_rows, planned};
pub(crate) use read_mode::{CompareRecord, MismatchRecord, ReadModeRecord, missing, mode_story};
pub(crate) use setting::SettingRecord;
pub(crate) use shell::quoted;
pub(crate) use slice::SliceRecord;
pub(crate) use split::{
    Bars, ProgressRecord, SplitRecord, SteeredRecord, WideRecord, compared, split_ended, story, summed_up,
};
pub(crate) use stdout::Stdout;
pub(crate) use table::Table;
pub(crate) use tuning::{ObservationRecord, ProposalRecord, SimulatedRecord, simulated, stood};
pub(crate) use worker::{WorkerRecord, queue_line};
