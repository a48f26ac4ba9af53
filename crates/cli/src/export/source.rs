//! Where an export comes from: the few calls that it makes, so that tests can stand in for a server.
//!
//! Invariant: a stream of rows is at its end behind a page that says so, and only there. The task that reads for it may die without a
//! word, and what was sent until then looks like all there is.

use std::time::Duration;

use api::admin::v1 as admin;
use env::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use rpc::client::{CallError, Client, RowPages};

/// When to ask again where the server did not say.
const ASK_AGAIN: Duration = Duration::from_secs(1);

type Answer<T> = Result<T, CallError>;

/// The pages of one call.
pub(super) type Pages = BoxStream<'static, Answer<admin::ExportRowsResponse>>;

/// A server, as far as an export needs one.
pub(super) trait Source: Send + Sync {
    /// What there is to export.
    fn prepare(
        &self,
        request: admin::PrepareExportRequest,
    ) -> BoxFuture<'_, Answer<admin::PrepareExportResponse>>;

    /// The rows of one table, from a position on.
    fn rows(&self, call: admin::ExportRowsRequest) -> BoxFuture<'_, Answer<Pages>>;

    /// Splits with the keys of their digests.
    fn splits(
        &self,
        request: admin::ExportSplitsRequest,
    ) -> BoxFuture<'_, Answer<admin::ExportSplitsResponse>>;

    /// About how many partitions the table of a slice has, as far as the store knows without looking.
    fn partitions(&self, namespace: &str, table: &str) -> BoxFuture<'_, Answer<u64>>;
}

impl Source for Client {
    fn prepare(
        &self,
        request: admin::PrepareExportRequest,
    ) -> BoxFuture<'_, Answer<admin::PrepareExportResponse>> {
        Box::pin(self.prepare_export(request))
    }

    fn rows(&self, call: admin::ExportRowsRequest) -> BoxFuture<'_, Answer<Pages>> {
        Box::pin(async move {
            let next = |mut pages: RowPages| async { Ok(pages.next().await?.map(|page| (page, pages))) };
            Ok(stream::try_unfold(self.export_rows(call).await?, next).boxed())
        })
    }

    fn splits(
        &self,
        request: admin::ExportSplitsRequest,
    ) -> BoxFuture<'_, Answer<admin::ExportSplitsResponse>> {
        Box::pin(self.export_splits(request))
    }

    fn partitions(&self, namespace: &str, table: &str) -> BoxFuture<'_, Answer<u64>> {
        let (namespace, table) = (namespace.to_owned(), table.to_owned());
        Box::pin(async move {
            let request = admin::GetPartitionHistogramRequest { namespace, table, measure: false };
            let found = self.partition_histogram(request).await?.histograms;
            Ok(found.iter().map(|histogram| histogram.partitions.unsigned_abs()).sum())
        })
    }
}

/// The next page of a stream whose last page has not come yet: where there is none, it broke.
pub(super) async fn next_page(pages: &mut Pages) -> Answer<admin::ExportRowsResponse> {
    pages.try_next().await?.ok_or_else(|| CallError {
        code: "UNAVAILABLE",
        reason: None,
        message: "the rows of a table ended before their last page; the log of the server says why"
            .to_owned(),
        retry_after: Some(ASK_AGAIN),
    })
}
