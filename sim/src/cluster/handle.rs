//! [`Cluster`]: the handle that callers and tormentors hold, and the two things every call does: look and wait.

use std::fmt::Arguments;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use env::{BootTime, Clock, Random};
use store::{Error, ErrorKind};

use super::Options;
use super::dice::Dice;
use super::state::State;
use crate::Trace;

/// A simulated cluster that is a [`store::Store`]. Clones share it.
#[derive(Clone)]
pub struct Cluster {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    clock: Arc<dyn Clock>,
    /// When it began, so that its times are those of the trace.
    origin: BootTime,
    trace: Trace,
    pub(super) calls: AtomicU64,
    state: Mutex<State>,
}

impl Cluster {
    /// A cluster without tables on this time and this randomness. Whatever is asked of it goes to `trace`.
    pub fn new(clock: Arc<dyn Clock>, random: Arc<dyn Random>, trace: Trace, options: Options) -> Self {
        let state = Mutex::new(State::new(options, Dice::new(random), trace.clone()));
        let origin = BootTime::from_boot(Duration::ZERO);
        Self { shared: Arc::new(Shared { clock, origin, trace, calls: AtomicU64::new(0), state }) }
    }

    pub(super) fn now(&self) -> Duration {
        self.shared.clock.boot().since(self.shared.origin)
    }

    /// Wall time in nanoseconds since 1970.
    pub(super) fn wall(&self) -> i64 {
        self.shared.clock.wall()
    }

    /// Adds to the trace.
    pub(super) fn note(&self, what: Arguments<'_>) {
        self.shared.trace.record(self.now(), what);
    }

    /// Acts on the cluster as it is now: after everything that has arrived.
    pub(super) fn with<T>(&self, act: impl FnOnce(&mut State, Duration) -> T) -> T {
        let now = self.now();
        let mut state = self.locked();
        state.advance(now);
        act(&mut state, now)
    }

    pub(super) async fn sleep_until(&self, at: Duration) {
        loop {
            let wait = at.saturating_sub(self.now());
            if wait.is_zero() {
                return;
            }
            self.shared.clock.sleep(wait).await;
        }
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        // Nothing under this lock can panic half way through a change.
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster").finish_non_exhaustive()
    }
}

pub(super) fn unavailable(what: &str) -> Error {
    let message = format!("the simulated cluster has refused {what}; nothing was done, try again");
    Error::new(ErrorKind::Unavailable, message)
}

pub(super) fn unknown(what: &str) -> Error {
    let message = format!("the simulated cluster has not answered {what} in time; read again what holds");
    Error::new(ErrorKind::Unknown, message)
}
