//! The calls about exports.

use api::admin::v1 as admin;
use tonic::Streaming;

use super::Client;
use super::calls::Answer;

impl Client {
    /// What there is to export.
    pub async fn prepare_export(
        &self,
        request: admin::PrepareExportRequest,
    ) -> Answer<admin::PrepareExportResponse> {
        Ok(self.exports.clone().prepare_export(request).await?.into_inner())
    }

    /// The rows of a table.
    pub async fn export_rows(&self, request: admin::ExportRowsRequest) -> Answer<RowPages> {
        Ok(RowPages { pages: self.exports.clone().export_rows(request).await?.into_inner() })
    }

    /// One page of splits with the keys of their digests.
    pub async fn export_splits(
        &self,
        request: admin::ExportSplitsRequest,
    ) -> Answer<admin::ExportSplitsResponse> {
        Ok(self.exports.clone().export_splits(request).await?.into_inner())
    }
}

/// Rows that are being exported.
#[derive(Debug)]
pub struct RowPages {
    pages: Streaming<admin::ExportRowsResponse>,
}

impl RowPages {
    /// The next page; none at the end.
    pub async fn next(&mut self) -> Answer<Option<admin::ExportRowsResponse>> {
        Ok(self.pages.message().await?)
    }
}
