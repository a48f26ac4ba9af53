//! A server in memory for the tests of an export: it sends what it was told to, and keeps what it was asked for.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use api::admin::v1 as admin;
use bytes::Bytes;
use env::{BoxFuture, Env, ManualClock, SeededRandom, TokioSpawn};
use export::{TableEntry, TableKind, TableState};
use futures::StreamExt;
use futures::stream;
use rpc::client::CallError;

use super::source::{Pages, Source};

type Answer<T> = Result<T, CallError>;

/// What the server will say, and what it was asked for.
#[derive(Default)]
pub(super) struct Server {
    /// A stream a call; without any left, streams are empty.
    pub(super) streams: Mutex<VecDeque<Vec<Answer<admin::ExportRowsResponse>>>>,
    /// Where calls for rows began.
    pub(super) begun: Mutex<Vec<Option<admin::ExportPosition>>>,
    /// The splits that are there.
    pub(super) splits: Vec<admin::ExportedSplit>,
}

impl Server {
    /// One that sends these streams, one a call.
    pub(super) fn sending<const CALLS: usize>(
        streams: [Vec<Answer<admin::ExportRowsResponse>>; CALLS],
    ) -> Self {
        Self { streams: Mutex::new(streams.into()), ..Self::default() }
    }

    fn named(&self, id: &str) -> Answer<admin::ExportedSplit> {
        let is_it = |split: &&admin::ExportedSplit| split.split.as_ref().is_some_and(|split| split.id == id);
        let found = self.splits.iter().find(is_it).cloned();
        found.ok_or_else(|| error("NOT_FOUND", Some("SPLIT_NOT_FOUND")))
    }
}

impl Source for Server {
    fn prepare(
        &self,
        _request: admin::PrepareExportRequest,
    ) -> BoxFuture<'_, Answer<admin::PrepareExportResponse>> {
        Box::pin(std::future::ready(Err(error("UNIMPLEMENTED", None))))
    }

    fn rows(&self, call: admin::ExportRowsRequest) -> BoxFuture<'_, Answer<Pages>> {
        self.begun.lock().unwrap().push(call.position);
        let pages = self.streams.lock().unwrap().pop_front().unwrap_or_default();
        Box::pin(std::future::ready(Ok(stream::iter(pages).boxed())))
    }

    fn splits(
        &self,
        request: admin::ExportSplitsRequest,
    ) -> BoxFuture<'_, Answer<admin::ExportSplitsResponse>> {
        let found = request.ids.iter().map(|id| self.named(id)).collect::<Answer<Vec<_>>>();
        let answer = found.map(|splits| admin::ExportSplitsResponse { splits, ..Default::default() });
        Box::pin(std::future::ready(answer))
    }

    fn partitions(&self, _namespace: &str, _table: &str) -> BoxFuture<'_, Answer<u64>> {
        Box::pin(std::future::ready(Err(error("UNIMPLEMENTED", None))))
    }
}

/// An error as the client gives it.
pub(super) fn error(code: &'static str, reason: Option<&str>) -> CallError {
    let (reason, message) = (reason.map(str::to_owned), format!("{code} on purpose"));
    CallError { code, reason, message, retry_after: None }
}

/// A table of 24 hours that was not begun.
pub(super) fn table() -> TableEntry {
    TableEntry {
        name: "data_20260328".to_owned(),
        kind: TableKind::Origin,
        time_slice: "data_20260328".to_owned(),
        slice_start: 1_774_656_000_000_000_000,
        slice_end: 1_774_742_400_000_000_000,
        seconds_per_bucket: 3_600,
        buckets_per_id: 4,
        hash_version: 1,
        split_stride: 16,
        state: TableState::Waiting,
        rows: 0,
        files: Vec::new(),
        position: None,
    }
}

/// A partition.
pub(super) fn partition(series: &str, time_bucket: u32) -> admin::ExportPartition {
    admin::ExportPartition { time_series_id: series.to_owned(), time_bucket, event_bucket: 0 }
}

/// Rows with these ids of one letter; the table goes on behind them, unless they are the last.
pub(super) fn page(
    partition: admin::ExportPartition,
    ids: &[&str],
    is_last: bool,
) -> admin::ExportRowsResponse {
    let rows = admin::ExportedRows {
        partition: Some(partition.clone()),
        event_times: vec![7; ids.len()],
        write_times: vec![7; ids.len()],
        lengths: [1, 0, 0, 0].repeat(ids.len()),
        parts: Bytes::from(ids.concat()),
    };
    let row = ids.last().map(|id| admin::SplitRowKey { event_id: (*id).to_owned(), ..Default::default() });
    let next = admin::ExportPosition { partition: Some(partition), row };
    admin::ExportRowsResponse { rows: vec![rows], next: (!is_last).then_some(next) }
}

/// Seams with a clock that jumps whenever somebody waits, while `work` runs.
pub(super) async fn with_quick_clock<T>(work: impl AsyncFnOnce(&Env) -> T) -> T {
    let clock = ManualClock::starting_at(0);
    let env = Env {
        clock: Arc::new(clock.clone()),
        random: Arc::new(SeededRandom::new(7)),
        spawn: Arc::new(TokioSpawn::current()),
    };
    let jump = async {
        loop {
            clock.sleepers(1).await;
            clock.advance(Duration::from_secs(60));
        }
    };
    tokio::select! {
        done = work(&env) => done,
        () = jump => unreachable!("the clock goes on for ever"),
    }
}
