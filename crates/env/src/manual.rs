//! A clock that moves only when a test says so.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};

use crate::{BootTime, BoxFuture, Clock};

/// A clock driven by hand: it stands still until [`ManualClock::advance`].
///
/// Clones share the same time. [`ManualClock::sleepers`] tells a test that the code under test has begun to wait,
/// so that no test needs to guess how long that takes.
#[derive(Clone, Default)]
pub struct ManualClock {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    elapsed: Duration,
    wall_start: i64,
    sleepers: Vec<(BootTime, oneshot::Sender<()>)>,
}

impl ManualClock {
    /// A clock whose wall time starts at `wall` nanoseconds since 1970 and whose boot time starts at zero.
    pub fn starting_at(wall: i64) -> Self {
        let clock = Self::default();
        clock.locked(|state| state.wall_start = wall);
        clock
    }

    /// Moves time forward and wakes whoever waited for a point that is now reached.
    pub fn advance(&self, by: Duration) {
        self.locked(|state| {
            state.elapsed = state.elapsed.saturating_add(by);
            let now = BootTime::from_boot(state.elapsed);
            let (due, waiting) = std::mem::take(&mut state.sleepers).into_iter().partition(|s| s.0 <= now);
            state.sleepers = waiting;
            let due: Vec<(BootTime, oneshot::Sender<()>)> = due;
            for (_, wake) in due {
                // A sleeper that was cancelled meanwhile has nobody to wake.
                let _gone = wake.send(());
            }
        });
        self.shared.changed.notify_waiters();
    }

    /// Waits until at least `count` sleeps are pending.
    pub async fn sleepers(&self, count: usize) {
        loop {
            let changed = self.shared.changed.notified();
            let pending = self.locked(|state| {
                state.sleepers.retain(|(_, wake)| !wake.is_closed());
                state.sleepers.len()
            });
            if pending >= count {
                return;
            }
            changed.await;
        }
    }

    fn locked<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        // A panicking test thread leaves the state consistent: every change is one assignment.
        act(&mut self.shared.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Clock for ManualClock {
    fn wall(&self) -> i64 {
        self.locked(|state| {
            let elapsed = i64::try_from(state.elapsed.as_nanos()).unwrap_or(i64::MAX);
            state.wall_start.saturating_add(elapsed)
        })
    }

    fn boot(&self) -> BootTime {
        self.locked(|state| BootTime::from_boot(state.elapsed))
    }

    fn sleep(&self, wait: Duration) -> BoxFuture<'static, ()> {
        let (wake, woken) = oneshot::channel();
        if wait.is_zero() {
            return Box::pin(std::future::ready(()));
        }
        self.locked(|state| {
            let until = BootTime::from_boot(state.elapsed) + wait;
            state.sleepers.push((until, wake));
        });
        self.shared.changed.notify_waiters();
        Box::pin(async move {
            if woken.await.is_err() {
                // The clock was dropped: time never comes, so the sleeper never wakes.
                std::future::pending::<()>().await;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn sleepers_wake_when_their_time_comes_and_not_before() {
        let clock = ManualClock::starting_at(5);
        let mut short = clock.sleep(Duration::from_secs(1));
        let mut long = clock.sleep(Duration::from_secs(3));
        clock.sleepers(2).await;

        clock.advance(Duration::from_secs(2));
        short.as_mut().await;
        assert!(futures_poll(&mut long).await.is_none());

        clock.advance(Duration::from_secs(1));
        long.await;
        assert_eq!(clock.wall(), 3_000_000_005);
    }

    async fn futures_poll(future: &mut BoxFuture<'static, ()>) -> Option<()> {
        tokio::select! {
            biased;
            () = future => Some(()),
            () = std::future::ready(()) => None,
        }
    }
}
