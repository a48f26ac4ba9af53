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
/// Events before this are too old while there is an accept limit.
pub(super) const OLD_SECONDS: i64 = 1_000_000;

/// What the server has, and what it will do wrong.
#[derive(Default)]
pub(super) struct State {
    pub(super) accept_limit_seconds: i64,
    pub(super) etag: u32,
    /// The accept limits that were set.
    pub(super) updates: Vec<i64>,
    /// Events by series and event id, with how often they were taken.
    pub(super) taken: BTreeMap<(String, String), u32>,
    pub(super) writes: u64,
    slices: BTreeSet<i64>,
    /// Errors for the next writes; none means that the write goes on as usual.
    pub(super) write_errors: Vec<Option<CallError>>,
    /// Errors for the next updates, and whether the change is made all the same.
    pub(super) update_errors: Vec<(CallError, bool)>,
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
    /// With an accept limit of 600 s.
    pub(super) fn new() -> Self {
        let server = Self::default();
        server.state().accept_limit_seconds = 600;
        server
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
            let reason = if self.accept_limit_seconds > 0 && seconds < OLD_SECONDS {
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

    fn namespace(&self, name: &str) -> admin::Namespace {
        admin::Namespace {
            name: name.to_owned(),
            accept_limit: Some(prost_types::Duration { seconds: self.accept_limit_seconds, nanos: 0 }),
            etag: self.etag.to_string(),
            ..admin::Namespace::default()
        }
    }

    fn update(&mut self, request: &admin::UpdateNamespaceRequest) -> Result<admin::Namespace, CallError> {
        let wanted = request.namespace.clone().unwrap();
        assert_eq!(request.update_mask.as_ref().unwrap().paths, ["accept_limit"]);
        if wanted.etag != self.etag.to_string() {
            return Err(error("ABORTED", Some("ETAG_MISMATCH"), None));
        }
        let failure = if self.update_errors.is_empty() { None } else { Some(self.update_errors.remove(0)) };
        if failure.as_ref().is_none_or(|(_, made)| *made) {
            self.accept_limit_seconds = wanted.accept_limit.unwrap().seconds;
            self.updates.push(self.accept_limit_seconds);
            self.etag += 1;
        }
        failure.map_or_else(|| Ok(self.namespace(&wanted.name)), |(error, _)| Err(error))
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
        let answer = error.map_or_else(|| Ok(state.namespace(name)), Err);
        Box::pin(std::future::ready(answer))
    }

    fn update(
        &self,
        request: admin::UpdateNamespaceRequest,
    ) -> BoxFuture<'_, Result<admin::Namespace, CallError>> {
        let answer = self.state().update(&request);
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
