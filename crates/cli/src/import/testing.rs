//! A server in memory for the tests of an import: it keeps what it takes and fails as it is told.

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use api::admin::v1 as admin;
use api::v1;
use env::{BoxFuture, Env, ManualClock, SeededRandom, TokioSpawn};
use rpc::client::CallError;

use super::target::Target;

/// Slices that one request may make, as in the real one.
const NEW_SLICES_MAX: usize = 8;
const SLICE_SECONDS: i64 = 86_400;
/// Events before this are too old while there is no backfill.
pub(super) const OLD_SECONDS: i64 = 1_000_000;

/// What the server has, and what it will do wrong.
#[derive(Default)]
pub(super) struct State {
    pub(super) backfills: Vec<admin::Backfill>,
    /// What was begun and ended.
    pub(super) changes: Vec<String>,
    /// Events by series and event id, with how often they were taken.
    pub(super) taken: BTreeMap<(String, String), u32>,
    pub(super) writes: u64,
    slices: BTreeSet<i64>,
    /// Errors for the next writes; none means that the write goes on as usual.
    pub(super) write_errors: Vec<Option<CallError>>,
    /// Errors for the next backfills, and where one begins all the same, whether it is open.
    pub(super) begin_errors: Vec<(CallError, Option<bool>)>,
    /// Errors for the next ends of backfills, and whether they end all the same.
    pub(super) end_errors: Vec<(CallError, bool)>,
    /// Errors for the next reads of the namespace.
    pub(super) read_errors: Vec<CallError>,
    /// Writes never end.
    pub(super) hangs: bool,
    /// Whether the events are queued.
    pub(super) queued: bool,
}

/// The server.
#[derive(Clone, Default)]
pub(super) struct FakeServer {
    state: Arc<Mutex<State>>,
}

impl FakeServer {
    /// Without a fault.
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl State {
    fn write(&mut self, request: v1::WriteEventRecordsRequest) -> v1::WriteEventRecordsResponse {
        let mut answer = v1::WriteEventRecordsResponse::default();
        let mut new = 0;
        for (index, event) in (0..).zip(request.events) {
            let seconds = event.event_time.unwrap_or_default().seconds;
            let slice = seconds / SLICE_SECONDS;
            let reason = if !self.backfills.iter().any(|one| one.open) && seconds < OLD_SECONDS {
                Some("EVENT_TOO_OLD")
            } else if !self.slices.contains(&slice) && new >= NEW_SLICES_MAX {
                Some("RATE_LIMITED")
            } else {
                None
            };
            if let Some(reason) = reason {
                let message = "no".to_owned();
                answer.results.push(v1::WriteResult { index, reason: reason.to_owned(), message });
                continue;
            }
            new += usize::from(self.slices.insert(slice));
            answer.accepted += 1;
            *self.taken.entry((event.time_series_id, event.event_id)).or_default() += 1;
        }
        answer
    }

    fn begin(&mut self, request: admin::BeginBackfillRequest) -> Result<admin::Backfill, CallError> {
        let failure = if self.begin_errors.is_empty() { None } else { Some(self.begin_errors.remove(0)) };
        let open = failure.as_ref().map_or(Some(true), |(_, open)| *open);
        let id =
            1 + u64::try_from(self.changes.iter().filter(|change| change.starts_with('b')).count()).unwrap();
        let begun = admin::Backfill { id, start: request.start, end: request.end, open: open == Some(true) };
        if open.is_some() {
            self.backfills.push(begun);
            self.changes.push(format!("begin {id}"));
        }
        failure.map_or(Ok(begun), |(error, _)| Err(error))
    }

    fn end(&mut self, id: u64) -> Result<admin::EndBackfillResponse, CallError> {
        let failure = if self.end_errors.is_empty() { None } else { Some(self.end_errors.remove(0)) };
        if failure.as_ref().is_none_or(|(_, made)| *made) {
            let before = self.backfills.len();
            self.backfills.retain(|backfill| backfill.id != id);
            if self.backfills.len() == before {
                return Err(error("ABORTED", Some("ETAG_MISMATCH"), None));
            }
            self.changes.push(format!("end {id}"));
        }
        failure.map_or(Ok(admin::EndBackfillResponse {}), |(error, _)| Err(error))
    }
}

impl Target for FakeServer {
    fn write(
        &self,
        request: v1::WriteEventRecordsRequest,
        queued: bool,
    ) -> BoxFuture<'_, Result<v1::WriteEventRecordsResponse, CallError>> {
        Box::pin(async move {
            let hangs = {
                let mut state = self.state();
                state.writes += 1;
                state.queued = queued;
                state.hangs
            };
            if hangs {
                pending::<()>().await;
            }
            // Others get their turn in between, as over a network.
            tokio::task::yield_now().await;
            let mut state = self.state();
            let error = if state.write_errors.is_empty() { None } else { state.write_errors.remove(0) };
            error.map_or_else(|| Ok(state.write(request)), Err)
        })
    }

    fn namespace(&self, name: &str) -> BoxFuture<'_, Result<admin::Namespace, CallError>> {
        let mut state = self.state();
        let error = if state.read_errors.is_empty() { None } else { Some(state.read_errors.remove(0)) };
        let answer =
            error.map_or_else(|| Ok(admin::Namespace { name: name.to_owned(), ..Default::default() }), Err);
        Box::pin(std::future::ready(answer))
    }

    fn backfills(&self, _name: &str) -> BoxFuture<'_, Result<admin::ListBackfillsResponse, CallError>> {
        let backfills = self.state().backfills.clone();
        Box::pin(std::future::ready(Ok(admin::ListBackfillsResponse { backfills })))
    }

    fn begin_backfill(
        &self,
        request: admin::BeginBackfillRequest,
    ) -> BoxFuture<'_, Result<admin::Backfill, CallError>> {
        let answer = self.state().begin(request);
        Box::pin(std::future::ready(answer))
    }

    fn end_backfill(
        &self,
        request: admin::EndBackfillRequest,
    ) -> BoxFuture<'_, Result<admin::EndBackfillResponse, CallError>> {
        let answer = self.state().end(request.id);
        Box::pin(std::future::ready(answer))
    }
}

/// An error as the client gives it.
pub(super) fn error(code: &'static str, reason: Option<&str>, retry_seconds: Option<u64>) -> CallError {
    CallError {
        code,
        reason: reason.map(str::to_owned),
        message: format!("{code} on purpose"),
        retry_after: retry_seconds.map(Duration::from_secs),
    }
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
