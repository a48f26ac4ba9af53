//! Exports: what there is below closed time, and the rows of a table from one end to the other.
//!
//! `prepare` finds the time of which nothing can change any more, as a split does before it reads an origin; `walk` says which
//! partitions come (pure but for the enumeration), `rows` reads them. Rows are given as the store has them: routes, filters and
//! blocks do not count here, and nothing is detected.

mod prepare;
mod rows;
mod walk;

pub(crate) use prepare::prepare;
pub use prepare::{ExportAsked, ExportPlan, ExportTable};
pub use rows::{ExportPage, ExportPart, RowExport};
pub use walk::{EXPORT_PARTITIONS_MAX, EXPORT_SERIES_MAX, ExportPosition, ExportWhich, RowsAsked};
