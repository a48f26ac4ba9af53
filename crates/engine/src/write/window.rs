//! The times that a namespace accepts at one moment. Pure.
//!
//! With a lease: what is not older than the accept limit and closed time, or lies in a backfill. Without one: the same by the
//! limits that this server knows, and no backfill, which may be over. Never by the wider limits that others may still use: those
//! stop to count for closed time when every server has reported the narrower ones, not when it has heard of that. Asked before
//! an event goes to the store and again before it is acknowledged.

use model::Timestamp;
use model::slice::utc;

use crate::catalog::{Dataset, dropped, is_past, nanos};
use crate::view::Standing;
use crate::{Error, Reason, Result};

/// The window of one namespace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window<'a> {
    dataset: &'a Dataset,
    is_leased: bool,
    now: i64,
    oldest: i64,
    newest: i64,
}

impl<'a> Window<'a> {
    /// The window at `now`.
    pub(crate) fn of(dataset: &'a Dataset, standing: Standing, now: i64) -> Self {
        let (spec, is_leased) = (&dataset.namespace.spec, standing == Standing::Leased);
        let accept = spec.accept_limit;
        let oldest = if accept.is_zero() { 0 } else { now.saturating_sub(nanos(accept)) };
        let future = dataset.future_for_writers();
        let newest = if future.is_zero() { i64::MAX } else { now.saturating_add(nanos(future)) };
        Self { dataset, is_leased, now, oldest: oldest.max(dataset.record.closed), newest }
    }

    /// The window for events that may wait so long before they are stored.
    pub(crate) fn narrowed(self, wait: std::time::Duration) -> Self {
        let oldest = if self.oldest == 0 { 0 } else { self.oldest.saturating_add(nanos(wait)) };
        Self { oldest, ..self }
    }

    /// Whether an event of this time is not too old, and its slice takes it.
    pub(crate) fn takes(self, time: Timestamp) -> bool {
        !self.is_too_old(time) && self.check_slice(time).is_ok()
    }

    fn is_reopened(self, time: Timestamp) -> bool {
        self.is_leased && self.dataset.is_reopened(time.nanos())
    }

    fn is_too_old(self, time: Timestamp) -> bool {
        time.nanos() < self.oldest && !self.is_reopened(time)
    }

    /// Refuses a time outside the window, naming the window.
    pub(super) fn check(self, time: Timestamp) -> Result<()> {
        let window = || {
            let newest = match self.newest {
                i64::MAX => String::new(),
                newest => format!(" to {}", utc(newest)),
            };
            format!("at {} times from {}{newest} are accepted", utc(self.now), utc(self.oldest))
        };
        if self.is_too_old(time) {
            let message = format!(
                "event_time is too old; {}; import it with --backfill, or raise accept_limit if events are always so late",
                window()
            );
            return Err(Error::new(Reason::EventTooOld, message));
        }
        if time.nanos() > self.newest {
            let message = format!("event_time is in the future; {}; check the clock and the unit", window());
            return Err(Error::new(Reason::EventInFuture, message));
        }
        self.check_slice(time)
    }

    /// Refuses events of slices that retention has closed or dropped.
    fn check_slice(self, time: Timestamp) -> Result<()> {
        let dataset = self.dataset;
        let slice = dataset.timeline.slice_of(time);
        let spec = &dataset.namespace.spec;
        if dataset.dropped.contains(slice.start()) || is_past(slice.end(), spec.delete_after, self.now) {
            return Err(dropped(dataset, time));
        }
        if is_past(slice.end(), spec.close_after, self.now) && !self.is_reopened(time) {
            let label = slice.label();
            let message = format!(
                "the slice data_{label} is closed by retention; raise close_after, or import with --backfill, to \
                 write it"
            );
            return Err(Error::new(Reason::EventTooOld, message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::NamespaceName;

    use super::*;
    use crate::NamespaceSpec;
    use crate::catalog::NamespaceRecord;
    use crate::catalog::record::ReopenedRecord;

    const NOW: i64 = 1_774_656_000_000_000_000;
    const MINUTE: i64 = 60_000_000_000;
    const DAY: i64 = 1_440 * MINUTE;

    fn dataset(change: impl FnOnce(&mut NamespaceRecord)) -> Dataset {
        let mut record = NamespaceRecord::new(1, NOW, NamespaceSpec::default());
        change(&mut record);
        Dataset::new(NamespaceName::new("n").unwrap(), record).unwrap()
    }

    fn refusal(dataset: &Dataset, standing: Standing, nanos: i64) -> Option<Error> {
        let window = Window::of(dataset, standing, NOW);
        let time = Timestamp::from_nanos(nanos).unwrap();
        let refusal = window.check(time).err();
        let too_old = refusal.as_ref().is_some_and(|error| error.reason() == Reason::EventTooOld);
        assert_eq!(window.takes(time), !too_old, "the second check knows no future");
        refusal
    }

    fn check(dataset: &Dataset, standing: Standing, nanos: i64, expect: Option<Reason>) {
        assert_eq!(refusal(dataset, standing, nanos).map(|error| error.reason()), expect, "{nanos}");
    }

    #[test]
    fn the_accept_window_is_exact_and_named() {
        let dataset = dataset(|_| ());
        let (leased, limit) = (Standing::Leased, 10 * MINUTE);
        check(&dataset, leased, NOW - limit, None);
        check(&dataset, leased, NOW - limit - 1, Some(Reason::EventTooOld));
        check(&dataset, leased, NOW + limit, None);
        check(&dataset, leased, NOW + limit + 1, Some(Reason::EventInFuture));
        assert_eq!(
            refusal(&dataset, leased, 0).unwrap().to_string(),
            "event_time is too old; at 2026-03-28T00:00:00Z times from 2026-03-27T23:50:00Z to \
             2026-03-28T00:10:00Z are accepted; import it with --backfill, or raise accept_limit if events are always so late"
        );
    }

    #[test]
    fn without_limits_retention_decides() {
        let open = dataset(|record| record.spec.accept_limit = Duration::ZERO);
        check(&open, Standing::Leased, NOW - 30 * DAY, None);
        check(&open, Standing::Leased, NOW - 32 * DAY - 1, Some(Reason::EventTooOld));
        let ahead = dataset(|record| record.spec.future_limit = Duration::ZERO);
        assert!(refusal(&ahead, Standing::Leased, Timestamp::MAX.nanos()).is_none());
        let message = refusal(&ahead, Standing::Leased, 0).unwrap().to_string();
        assert!(message.contains("from 2026-03-27T23:50:00Z are accepted"), "{message}");
    }

    #[test]
    fn closed_time_is_closed_and_a_backfill_opens_it_for_whoever_has_a_lease() {
        let dataset = dataset(|record| {
            record.closed = NOW - 5 * MINUTE;
            let (start, end) = (NOW - 20 * DAY, NOW - 19 * DAY);
            record.reopened.push(ReopenedRecord { start, end, open: true, announced: 1 });
            record.reopened.push(ReopenedRecord { start: 0, end: start, open: false, announced: 2 });
        });
        for standing in [Standing::Leased, Standing::Unleased] {
            check(&dataset, standing, NOW - 5 * MINUTE, None);
            check(&dataset, standing, NOW - 5 * MINUTE - 1, Some(Reason::EventTooOld));
            check(&dataset, standing, NOW - 20 * DAY - 1, Some(Reason::EventTooOld));
        }
        check(&dataset, Standing::Leased, NOW - 20 * DAY, None);
        check(&dataset, Standing::Unleased, NOW - 20 * DAY, Some(Reason::EventTooOld));
    }

    #[test]
    fn a_future_limit_that_was_raised_counts_when_all_know_it() {
        let limit = |seconds| Duration::from_secs(seconds);
        let raised = dataset(|record| {
            record.spec.future_limit = limit(3_600);
            record.base_future = Some((limit(600), limit(600)));
        });
        check(&raised, Standing::Leased, NOW + 10 * MINUTE, None);
        check(&raised, Standing::Leased, NOW + 10 * MINUTE + 1, Some(Reason::EventInFuture));
        let lowered = dataset(|record| record.base_future = Some((limit(3_600), limit(3_600))));
        check(&lowered, Standing::Leased, NOW + 10 * MINUTE + 1, Some(Reason::EventInFuture));
        let unlimited = dataset(|record| {
            record.spec.future_limit = Duration::ZERO;
            record.base_future = Some((limit(600), limit(600)));
        });
        check(&unlimited, Standing::Leased, NOW + 10 * MINUTE + 1, Some(Reason::EventInFuture));
        let limited = dataset(|record| record.base_future = Some((Duration::ZERO, Duration::ZERO)));
        check(&limited, Standing::Leased, NOW + 10 * MINUTE, None);
        check(&limited, Standing::Leased, NOW + 10 * MINUTE + 1, Some(Reason::EventInFuture));
    }

    #[test]
    fn a_limit_that_was_narrowed_counts_from_when_it_is_known_with_a_lease_or_without() {
        let hour = Duration::from_secs(3_600);
        let narrowed = dataset(|record| record.base_accept = Some(hour));
        for standing in [Standing::Leased, Standing::Unleased] {
            check(&narrowed, standing, NOW - 10 * MINUTE, None);
            check(&narrowed, standing, NOW - 30 * MINUTE, Some(Reason::EventTooOld));
        }
    }
}
