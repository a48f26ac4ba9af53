//! Clocks: the true one, which only the world and its store read, and those of machines, which are wrong.
//!
//! A machine's clock is a count of ticks that runs too fast or too slow. Its wall time is the count plus an error that
//! jumps; its boot time is the count since the machine started. Invariant: the count never goes back, and a sleep ends
//! no earlier than the machine's own boot clock says.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use env::{BootTime, BoxFuture, Clock, SystemClock};
use tokio::time::Instant;

/// How far the rate of a machine's clock may be off, in millionths, to either side: what the protocols are built for.
pub const RATE_PPM_MAX: i32 = 10_000;

/// Wall time at which every world begins: the start of 2026 in nanoseconds since 1970.
const WALL_START: i64 = 1_767_225_600_000_000_000;

const MILLION: u64 = 1_000_000;

/// The time that nobody's fault changes: the runtime's, which is paused and jumps to the next timer.
#[derive(Clone, Copy, Debug)]
pub struct TrueClock {
    start: Instant,
}

impl TrueClock {
    /// Begins now. On a runtime whose time is not paused it is the real time.
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// Time since it began.
    pub fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

impl Clock for TrueClock {
    fn wall(&self) -> i64 {
        WALL_START.saturating_add(nanos(self.now()))
    }

    fn boot(&self) -> BootTime {
        BootTime::from_boot(self.now())
    }

    fn sleep(&self, wait: Duration) -> BoxFuture<'static, ()> {
        SystemClock.sleep(wait)
    }
}

/// The count of a machine.
#[derive(Clone)]
pub(super) struct Ticks {
    truth: TrueClock,
    state: Arc<Mutex<State>>,
}

struct State {
    /// Where the rate last changed: true time, and the count there.
    anchor: (Duration, Duration),
    rate: u64,
    wall_error: i64,
}

impl Ticks {
    pub(super) fn new(truth: TrueClock, wall_error: i64, rate_ppm: i32) -> Self {
        let state = State { anchor: (truth.now(), truth.now()), rate: rate_of(rate_ppm), wall_error };
        Self { truth, state: Arc::new(Mutex::new(state)) }
    }

    pub(super) fn now(&self) -> Duration {
        self.locked().now(self.truth.now())
    }

    pub(super) fn wall(&self) -> i64 {
        let state = self.locked();
        let ticks = nanos(state.now(self.truth.now()));
        WALL_START.saturating_add(ticks).saturating_add(state.wall_error)
    }

    pub(super) fn jump_wall(&self, by: i64) {
        let mut state = self.locked();
        state.wall_error = state.wall_error.saturating_add(by);
    }

    pub(super) fn set_rate(&self, rate_ppm: i32) {
        let now = self.truth.now();
        let mut state = self.locked();
        state.anchor = (now, state.now(now));
        state.rate = rate_of(rate_ppm);
    }

    /// Waits until the count has reached `until`, whatever happens to the rate meanwhile.
    fn reach(&self, until: Duration) -> BoxFuture<'static, ()> {
        let ticks = self.clone();
        Box::pin(async move {
            loop {
                let missing = until.saturating_sub(ticks.now());
                if missing.is_zero() {
                    return;
                }
                let wait = ticks.locked().true_wait(missing);
                ticks.truth.sleep(wait).await;
            }
        })
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        // Every change under this lock is one assignment or two that cannot panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn now(&self, truth: Duration) -> Duration {
        let (true_at, ticks_at) = self.anchor;
        ticks_at + scaled(truth.saturating_sub(true_at), self.rate, MILLION)
    }

    /// How long the truth takes for so many ticks, rounded up.
    fn true_wait(&self, ticks: Duration) -> Duration {
        scaled(ticks, MILLION, self.rate) + Duration::from_nanos(1)
    }
}

/// Ticks in a million of true units.
fn rate_of(rate_ppm: i32) -> u64 {
    MILLION.saturating_add_signed(i64::from(rate_ppm.clamp(-RATE_PPM_MAX, RATE_PPM_MAX)))
}

fn scaled(time: Duration, by: u64, of: u64) -> Duration {
    let scaled = time.as_nanos() * u128::from(by) / u128::from(of);
    Duration::from_nanos(u64::try_from(scaled).unwrap_or(u64::MAX))
}

fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// What a machine's clock says since it started last.
pub(super) struct MachineClock {
    pub(super) ticks: Ticks,
    pub(super) started: Duration,
}

impl Clock for MachineClock {
    fn wall(&self) -> i64 {
        self.ticks.wall()
    }

    fn boot(&self) -> BootTime {
        BootTime::from_boot(self.ticks.now().saturating_sub(self.started))
    }

    fn sleep(&self, wait: Duration) -> BoxFuture<'static, ()> {
        self.ticks.reach(self.ticks.now().saturating_add(wait))
    }
}

#[cfg(test)]
mod tests;
