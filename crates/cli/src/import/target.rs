//! Where an import goes: the few calls that it makes, so that tests can stand in for a server.

use api::admin::v1 as admin;
use api::v1;
use env::BoxFuture;
use rpc::client::{CallError, Client};

type Answer<'a, T> = BoxFuture<'a, Result<T, CallError>>;

/// A server, as far as an import needs one.
pub(crate) trait Target: Send + Sync {
    /// Writes events: durably, or into the server's queue.
    fn write(
        &self,
        request: v1::WriteEventRecordsRequest,
        queued: bool,
    ) -> Answer<'_, v1::WriteEventRecordsResponse>;

    /// The namespace of this name.
    fn namespace(&self, name: &str) -> Answer<'_, admin::Namespace>;

    /// Its backfills.
    fn backfills(&self, name: &str) -> Answer<'_, admin::ListBackfillsResponse>;

    /// Opens a range of time for old events.
    fn begin_backfill(&self, request: admin::BeginBackfillRequest) -> Answer<'_, admin::Backfill>;

    /// Ends that.
    fn end_backfill(&self, request: admin::EndBackfillRequest) -> Answer<'_, admin::EndBackfillResponse>;
}

impl Target for Client {
    fn write(
        &self,
        request: v1::WriteEventRecordsRequest,
        queued: bool,
    ) -> Answer<'_, v1::WriteEventRecordsResponse> {
        Box::pin(async move {
            if queued { self.write_queued(request).await } else { self.write_synced(request).await }
        })
    }

    fn namespace(&self, name: &str) -> Answer<'_, admin::Namespace> {
        let name = name.to_owned();
        Box::pin(async move { self.get_namespace(&name).await })
    }

    fn backfills(&self, name: &str) -> Answer<'_, admin::ListBackfillsResponse> {
        let name = name.to_owned();
        Box::pin(async move { self.list_backfills(&name).await })
    }

    fn begin_backfill(&self, request: admin::BeginBackfillRequest) -> Answer<'_, admin::Backfill> {
        Box::pin(Client::begin_backfill(self, request))
    }

    fn end_backfill(&self, request: admin::EndBackfillRequest) -> Answer<'_, admin::EndBackfillResponse> {
        Box::pin(Client::end_backfill(self, request))
    }
}
