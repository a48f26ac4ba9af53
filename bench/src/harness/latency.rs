//! How long single calls take. Pure.

use std::time::Duration;

/// One of the two percentiles that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Percentile {
    P50,
    P99,
}

impl Percentile {
    /// What a report calls it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P99 => "p99",
        }
    }

    /// The one of these.
    pub(crate) const fn of(self, latency: Latency) -> Duration {
        match self {
            Self::P50 => latency.p50,
            Self::P99 => latency.p99,
        }
    }
}

/// Two percentiles of the calls of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Latency {
    /// Half of the calls take at most so long.
    pub(crate) p50: Duration,
    /// All but a hundredth take at most so long.
    pub(crate) p99: Duration,
}

impl Latency {
    /// The percentiles of `calls`; none if there are none.
    pub(crate) fn of(mut calls: Vec<Duration>) -> Option<Self> {
        calls.sort_unstable();
        let percentile = |percent: usize| {
            let rank = (calls.len() * percent).div_ceil(100);
            calls.get(rank.saturating_sub(1)).copied()
        };
        Some(Self { p50: percentile(50)?, p99: percentile(99)? })
    }
}

/// As the report shows it.
pub(crate) fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(calls: impl Iterator<Item = u64>, expect: Option<(u64, u64)>) {
        let (wanted, us) = (expect, Duration::from_micros);
        let found = Latency::of(calls.map(us).collect());
        assert_eq!(found, wanted.map(|(p50, p99)| Latency { p50: us(p50), p99: us(p99) }));
    }

    #[test]
    fn a_percentile_is_a_call_that_was_made() {
        check(0..0, None);
        check(7..8, Some((7, 7)));
        check((1..=100).rev(), Some((50, 99)));
        check(1..=1_000, Some((500, 990)));
        check([3, 1, 2].into_iter(), Some((2, 3)));
    }

    #[test]
    fn microseconds_keep_their_fraction() {
        assert!((micros(Duration::from_nanos(1_500)) - 1.5).abs() < 1e-9);
    }
}
