//! [`ThrottleLayer`]: a limit on bytes per second, in both directions together.
//!
//! A bucket of credit fills at the rate, up to the burst. What a call carries is paid before it starts; what its
//! answer carries is known only afterwards and becomes debt, for which the next call waits. Invariant: over any time
//! no more is paid than the burst plus what the rate gave, except for the last answers; and nobody waits while there
//! is credit.

use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use env::{BootTime, BoxFuture, Clock};

use super::{Call, Layer, Outcome};
use crate::Result;

/// Credit is kept in billionths of a byte: bytes per second times nanoseconds, so nothing is rounded.
const UNITS_PER_BYTE: i128 = 1_000_000_000;

/// How many bytes may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRate {
    /// In the long run.
    pub bytes_per_second: NonZeroU64,
    /// At once, after a pause. A call that carries more waits for the rest.
    pub burst_bytes_max: u64,
}

/// Slows calls down to a rate.
pub struct ThrottleLayer {
    clock: Arc<dyn Clock>,
    rate: ByteRate,
    credit: Mutex<Credit>,
}

struct Credit {
    /// Negative while calls wait.
    units: i128,
    at: BootTime,
}

impl ThrottleLayer {
    /// Holds calls to `rate` on `clock`; starts with a full burst.
    pub fn new(clock: Arc<dyn Clock>, rate: ByteRate) -> Self {
        let credit = Credit { units: units(rate.burst_bytes_max), at: clock.boot() };
        Self { clock, rate, credit: Mutex::new(credit) }
    }

    /// Takes `bytes` (gives them back if negative) and returns how long the debt lasts.
    fn take(&self, taken: i128) -> Duration {
        let rate = i128::from(self.rate.bytes_per_second.get());
        let mut credit = self.credit.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.boot();
        let passed = i128::try_from(now.since(credit.at).as_nanos()).unwrap_or(i128::MAX);
        let filled =
            credit.units.saturating_add(passed.saturating_mul(rate)).min(units(self.rate.burst_bytes_max));
        *credit = Credit { units: filled.saturating_sub(taken), at: now };
        let debt = credit.units.min(0).unsigned_abs();
        Duration::from_nanos(u64::try_from(debt.div_ceil(rate.unsigned_abs())).unwrap_or(u64::MAX))
    }
}

fn units(bytes: u64) -> i128 {
    i128::from(bytes) * UNITS_PER_BYTE
}

/// What a call paid; given back if it is dropped before the call starts. Otherwise callers that give up and try
/// again would run up a debt for bytes that never passed.
struct Payment<'a> {
    throttle: &'a ThrottleLayer,
    units: i128,
}

impl Payment<'_> {
    fn keep(mut self) {
        self.units = 0;
    }
}

impl Drop for Payment<'_> {
    fn drop(&mut self) {
        if self.units != 0 {
            self.throttle.take(-self.units);
        }
    }
}

impl Layer for ThrottleLayer {
    async fn around<T: Outcome>(&self, call: Call, next: BoxFuture<'static, Result<T>>) -> Result<T> {
        let wait = self.take(units(call.bytes));
        let payment = Payment { throttle: self, units: units(call.bytes) };
        if !wait.is_zero() {
            self.clock.sleep(wait).await;
        }
        payment.keep();
        let result = next.await;
        if let Ok(answer) = &result {
            self.take(units(answer.bytes()));
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use env::ManualClock;

    use super::*;
    use crate::ScanPage;
    use crate::layer::Op;

    /// 100 bytes a second, 50 at once.
    fn throttle() -> (ThrottleLayer, ManualClock) {
        let clock = ManualClock::default();
        let rate = ByteRate { bytes_per_second: NonZeroU64::new(100).unwrap(), burst_bytes_max: 50 };
        (ThrottleLayer::new(Arc::new(clock.clone()), rate), clock)
    }

    async fn write(throttle: &ThrottleLayer, bytes: u64) {
        throttle.around(Call::new(Op::Upsert, bytes), Box::pin(async { Ok(()) })).await.unwrap();
    }

    async fn read(throttle: &ThrottleLayer, bytes: u64) {
        let page = ScanPage { bytes, ..ScanPage::default() };
        throttle.around(Call::new(Op::Scan, 0), Box::pin(async { Ok(page) })).await.unwrap();
    }

    /// Asserts that `call` waits exactly `wait`.
    async fn assert_waits(clock: &ManualClock, call: impl Future<Output = ()>, wait: Duration) {
        let mut call = Box::pin(call);
        assert!(futures::poll!(&mut call).is_pending());
        clock.advance(wait - Duration::from_nanos(1));
        assert!(futures::poll!(&mut call).is_pending());
        clock.advance(Duration::from_nanos(1));
        assert!(futures::poll!(&mut call).is_ready());
    }

    /// Asserts that `call` does not wait.
    async fn assert_passes(call: impl Future<Output = ()>) {
        assert!(futures::poll!(&mut Box::pin(call)).is_ready());
    }

    #[tokio::test]
    async fn nobody_waits_below_the_rate() {
        let (throttle, clock) = throttle();
        for _ in 0..100 {
            assert_passes(write(&throttle, 50)).await;
            clock.advance(Duration::from_millis(500));
        }
    }

    #[tokio::test]
    async fn a_call_pays_before_it_starts() {
        let (throttle, clock) = throttle();
        assert_passes(write(&throttle, 50)).await;
        assert_waits(&clock, write(&throttle, 10), Duration::from_millis(100)).await;
    }

    #[tokio::test]
    async fn an_answer_is_paid_by_the_next_call() {
        let (throttle, clock) = throttle();
        assert_passes(read(&throttle, 250)).await;
        assert_waits(&clock, read(&throttle, 0), Duration::from_secs(2)).await;
        assert_passes(read(&throttle, 0)).await;
    }

    #[tokio::test]
    async fn a_pause_saves_no_more_than_the_burst() {
        let (throttle, clock) = throttle();
        clock.advance(Duration::from_secs(3_600));
        assert_passes(write(&throttle, 50)).await;
        assert_waits(&clock, write(&throttle, 100), Duration::from_secs(1)).await;
    }

    #[tokio::test]
    async fn a_call_above_the_burst_waits_for_the_rest() {
        let (throttle, clock) = throttle();
        assert_waits(&clock, write(&throttle, 1_050), Duration::from_secs(10)).await;
    }

    #[tokio::test]
    async fn waiting_calls_follow_one_another() {
        let (throttle, clock) = throttle();
        assert_passes(write(&throttle, 50)).await;
        let (mut first, mut second) = (Box::pin(write(&throttle, 100)), Box::pin(write(&throttle, 100)));
        assert!(futures::poll!(&mut first).is_pending());
        assert!(futures::poll!(&mut second).is_pending());
        clock.advance(Duration::from_secs(1));
        assert!(futures::poll!(&mut first).is_ready());
        assert!(futures::poll!(&mut second).is_pending());
        clock.advance(Duration::from_secs(1));
        assert!(futures::poll!(&mut second).is_ready());
    }

    #[tokio::test]
    async fn a_call_that_gave_up_waiting_pays_nothing() {
        let (throttle, clock) = throttle();
        assert_passes(write(&throttle, 50)).await;
        let mut impatient = Box::pin(write(&throttle, 1_000));
        assert!(futures::poll!(&mut impatient).is_pending());
        drop(impatient);
        clock.advance(Duration::from_millis(100));
        assert_passes(write(&throttle, 10)).await;
    }
}
