//! Bytes per second that all workers of a server may move together.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use env::{BootTime, Clock};

/// Whoever was idle may catch up on so much.
const BURST: Duration = Duration::from_millis(250);

/// Lets so many bytes through in a second.
pub(crate) struct Throttle {
    bytes_per_second: u64,
    /// Until when what was let through is paid for.
    paid_until: Mutex<Option<BootTime>>,
}

impl Throttle {
    pub(crate) fn new(bytes_per_second: u64) -> Self {
        Self { bytes_per_second: bytes_per_second.max(1), paid_until: Mutex::default() }
    }

    /// Waits until so many bytes may be moved.
    pub(crate) async fn take(&self, clock: &dyn Clock, bytes: u64) {
        let wait = self.book(clock.boot(), bytes);
        if !wait.is_zero() {
            clock.sleep(wait).await;
        }
    }

    /// Books so many bytes; gives back how long to wait for them.
    fn book(&self, now: BootTime, bytes: u64) -> Duration {
        let cost = Duration::from_secs_f64(bytes as f64 / self.bytes_per_second as f64);
        let mut paid_until = self.paid_until.lock().unwrap_or_else(PoisonError::into_inner);
        let behind = paid_until.map_or(Duration::ZERO, |paid| paid.since(now));
        let start = if behind.is_zero() { now } else { paid_until.unwrap_or(now) };
        *paid_until = Some(start + cost);
        behind.saturating_sub(BURST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_at_the_rate() {
        let throttle = Throttle::new(1_000);
        let at = |millis| BootTime::from_boot(Duration::from_millis(millis));
        assert_eq!(throttle.book(at(0), 1_000), Duration::ZERO);
        assert_eq!(throttle.book(at(0), 1_000), Duration::from_millis(750));
        assert_eq!(throttle.book(at(750), 1_000), Duration::from_millis(1_000));
        // A pause is not saved up.
        assert_eq!(throttle.book(at(60_000), 5_000), Duration::ZERO);
        assert_eq!(throttle.book(at(60_000), 1), Duration::from_millis(4_750));
    }
}
