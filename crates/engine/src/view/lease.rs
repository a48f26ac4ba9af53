//! The lease of a server: how long it may act on what it knows. Pure.
//!
//! Counted on the boot clock, which runs during suspend, from the *start* of the refresh: whoever published behind it is
//! waited for at least as long as the lease. A refresh counts only if it began within a while after a report that was taken by
//! then, so that a server which is not heard of any more is known to hold no lease. A report that comes later says nothing of
//! it: in between, barriers may have passed without this server.

use std::time::Duration;

use env::BootTime;

/// How long a refresh counts.
pub(crate) const LEASE: Duration = Duration::from_secs(30);
/// A refresh counts if it began within this after the start of a report that was taken.
pub(crate) const REPORT_COUNTS: Duration = Duration::from_secs(15);
/// How often a server reports where there is nothing new.
pub(crate) const REPORT_EVERY: Duration = Duration::from_secs(5);
/// Without a lease writes pass for so long.
pub(crate) const WITHOUT_LEASE_MAX: Duration = Duration::from_secs(3_600);
/// The clock of a machine runs too fast or too slow by at most one part in this.
const RATE_PARTS: u32 = 100;

/// At least `span` on any machine, as one machine counts it: that one may be slow and this one fast.
pub(crate) fn on_any_clock(span: Duration) -> Duration {
    span * (RATE_PARTS + 1) / (RATE_PARTS - 1) + Duration::from_nanos(1)
}

/// What a server may do at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Its view counts.
    Leased,
    /// Nobody may wait for it any more: reads take what cannot change, writes pass by the base limits.
    Unleased,
    /// For so long that writes are refused.
    Stale,
}

/// When a server refreshed and reported.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lease {
    /// The start of the last refresh that counts, and under which registration.
    counted: Option<(BootTime, u32)>,
    /// The start of the last report that was taken.
    reported: Option<BootTime>,
    registration: u32,
}

impl Lease {
    /// A refresh that began at `started`, when the lease was as `before`, has ended well.
    pub(crate) fn refreshed(&mut self, started: BootTime, before: &Self) {
        if before.may_count(started) {
            self.counted = self.counted.max(Some((started, before.registration)));
        }
    }

    /// Whether a refresh that begins at `now` counts.
    pub(crate) fn may_count(&self, now: BootTime) -> bool {
        self.reported.is_some_and(|reported| now < reported + REPORT_COUNTS)
    }

    /// A report that began at `started` was taken.
    pub(crate) fn reported(&mut self, started: BootTime) {
        self.reported = self.reported.max(Some(started));
    }

    /// The registration is gone: nothing counts until there is a new one.
    pub(crate) fn forget_reports(&mut self) {
        self.reported = None;
        self.registration += 1;
    }

    /// How long ago the last refresh that counts began.
    pub(crate) fn age(&self, now: BootTime) -> Option<Duration> {
        self.counted.map(|(at, _)| now.since(at))
    }

    /// Whether it is time to report again.
    pub(crate) fn is_report_due(&self, now: BootTime) -> bool {
        self.reported.is_none_or(|at| now.since(at) >= REPORT_EVERY)
    }

    /// What the server may do at `now`.
    pub(crate) fn standing(&self, now: BootTime) -> Standing {
        let Some((refreshed, registration)) = self.counted else { return Standing::Stale };
        if registration == self.registration && now < refreshed + LEASE {
            Standing::Leased
        } else if now < refreshed + LEASE + WITHOUT_LEASE_MAX {
            Standing::Unleased
        } else {
            Standing::Stale
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> BootTime {
        BootTime::from_boot(Duration::from_secs(seconds))
    }

    fn lease(reported: u64, refreshed: u64) -> Lease {
        let mut lease = Lease::default();
        lease.reported(at(reported));
        let before = lease;
        lease.refreshed(at(refreshed), &before);
        lease
    }

    #[test]
    fn a_lease_runs_from_the_start_of_the_refresh() {
        let lease = lease(99, 100);
        assert_eq!(lease.standing(at(129)), Standing::Leased);
        assert_eq!(lease.standing(at(130)), Standing::Unleased);
        assert_eq!(lease.standing(at(130 + 3_599)), Standing::Unleased);
        assert_eq!(lease.standing(at(130 + 3_600)), Standing::Stale);
        assert_eq!(Lease::default().standing(at(0)), Standing::Stale);
        assert_eq!((lease.age(at(107)), Lease::default().age(at(0))), (Some(Duration::from_secs(7)), None));
    }

    #[test]
    fn without_a_report_before_it_a_refresh_gives_no_lease() {
        assert_eq!(lease(86, 100).standing(at(101)), Standing::Leased);
        assert_eq!(lease(85, 100).standing(at(101)), Standing::Stale);
        let mut gone = lease(99, 100);
        gone.forget_reports();
        assert_eq!(gone.standing(at(101)), Standing::Unleased);
        gone.reported(at(101));
        assert_eq!(
            gone.standing(at(101)),
            Standing::Unleased,
            "a new registration needs a refresh of its own"
        );
    }

    #[test]
    fn a_report_gives_no_lease_to_a_refresh_before_it() {
        // Others have waited for nobody since 145: the report of 99 was too old.
        let mut lease = lease(99, 100);
        let before = lease;
        lease.refreshed(at(149), &before);
        lease.reported(at(150));
        assert_eq!(lease.standing(at(151)), Standing::Unleased);
        // Nor to one that was under way when the report was taken.
        lease.refreshed(at(149), &before);
        assert_eq!(lease.standing(at(151)), Standing::Unleased);
        let before = lease;
        lease.refreshed(at(152), &before);
        assert_eq!(lease.standing(at(153)), Standing::Leased);
    }

    #[test]
    fn what_comes_late_takes_nothing_back() {
        let mut lease = lease(99, 100);
        let before = lease;
        lease.refreshed(at(90), &before);
        lease.reported(at(80));
        assert_eq!(lease.standing(at(129)), Standing::Leased);
        assert!(!lease.is_report_due(at(103)) && lease.is_report_due(at(104)));
    }

    #[test]
    fn a_wait_is_long_enough_on_a_clock_that_runs_fast() {
        // Thirty seconds of a slow clock, on a fast one.
        assert!(on_any_clock(LEASE) * 100 / 101 >= LEASE * 100 / 99);
        assert!(on_any_clock(LEASE) < Duration::from_millis(30_607));
    }
}
