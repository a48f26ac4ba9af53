//! What a clock is to Braid: wall time for stamps, boot time for waiting and leases.

use std::future::Future;
use std::ops::Add;
use std::pin::Pin;
use std::time::Duration;

/// A boxed future that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A point on the clock that never goes back and keeps running while the machine is suspended.
///
/// Only differences mean something, and only within one boot of one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BootTime(Duration);

impl BootTime {
    /// The point `since_boot` after the machine started.
    pub const fn from_boot(since_boot: Duration) -> Self {
        Self(since_boot)
    }

    /// Time passed since `earlier`; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for BootTime {
    type Output = Self;

    fn add(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(wait))
    }
}

/// Time as a capability.
pub trait Clock: Send + Sync + 'static {
    /// Wall time in nanoseconds since 1970. May jump in either direction: good for stamps, never for measuring.
    fn wall(&self) -> i64;

    /// Boot time: monotone, runs during suspend. Good for measuring, deadlines and leases.
    fn boot(&self) -> BootTime;

    /// Completes once `wait` has passed on the boot clock.
    fn sleep(&self, wait: Duration) -> BoxFuture<'static, ()>;
}
