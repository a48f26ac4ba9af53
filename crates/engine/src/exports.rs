//! Exports: what is asked of them.

use crate::export::{ExportAsked, ExportPlan, RowExport, RowsAsked, prepare};
use crate::{Engine, Result};

impl Engine {
    /// Says what there is to export, once nobody can add to it any more.
    pub async fn prepare_export(&self, asked: ExportAsked) -> Result<ExportPlan> {
        prepare(&self.catalog, asked).await
    }

    /// The rows of one table, in the store's own order.
    pub fn export_rows(&self, asked: RowsAsked) -> Result<RowExport> {
        RowExport::new(&self.catalog, &self.store, asked)
    }
}
