//! Times and intervals: nanoseconds since 1970 in 64 bits, start inclusive, end exclusive, nothing wraps.

use crate::Error;

/// Nanoseconds in a second.
pub const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// A time that Braid can place: nanoseconds since 1970, from 1970-01-01 up to and including 2261-01-01.
///
/// The range leaves room for one whole slice after the last time, so that the end of any slice still fits in 64
/// bits: arithmetic on slices needs no overflow checks and cannot wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const MIN: Self = Self(0);
    /// 2261-01-01T00:00:00Z.
    pub const MAX: Self = Self(9_183_110_400 * NANOS_PER_SECOND);

    /// Checks that `nanos` lies in the range.
    pub fn from_nanos(nanos: i64) -> Result<Self, Error> {
        Self::checked(nanos).ok_or_else(|| Error::TimeOutOfRange { nanos: i128::from(nanos) })
    }

    /// The time, if `nanos` lies in the range.
    #[inline]
    pub const fn checked(nanos: i64) -> Option<Self> {
        if nanos >= Self::MIN.0 && nanos <= Self::MAX.0 { Some(Self(nanos)) } else { None }
    }

    /// Checks seconds and a fraction as they arrive from a client, without wrapping on the way.
    pub fn from_parts(seconds: i64, nanos: i32) -> Result<Self, Error> {
        Self::from_wide(i128::from(seconds) * i128::from(NANOS_PER_SECOND) + i128::from(nanos))
    }

    fn from_wide(nanos: i128) -> Result<Self, Error> {
        i64::try_from(nanos).ok().and_then(Self::checked).ok_or(Error::TimeOutOfRange { nanos })
    }

    /// Nanoseconds since 1970, never negative.
    pub const fn nanos(self) -> i64 {
        self.0
    }
}

/// A half-open range of time: `start` belongs to it, `end` does not. Bounds are nanoseconds since 1970.
///
/// An interval may be empty. Its end may lie after [`Timestamp::MAX`], as the end of the last slice does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    start: i64,
    end: i64,
}

impl Interval {
    /// Everything that can be placed.
    pub const ALL: Self = Self { start: Timestamp::MIN.0, end: Timestamp::MAX.0 + 1 };

    /// The interval from `start` up to but without `end`; refused if it ends before it starts.
    pub fn new(start: i64, end: i64) -> Result<Self, Error> {
        if start > end {
            return Err(Error::IntervalReversed { start, end });
        }
        Ok(Self { start, end })
    }

    /// An interval whose bounds are known to be in order.
    pub(crate) fn ordered(start: i64, end: i64) -> Self {
        debug_assert!(start <= end, "{start} > {end}");
        Self { start, end }
    }

    /// First nanosecond inside.
    pub const fn start(self) -> i64 {
        self.start
    }

    /// First nanosecond after.
    pub const fn end(self) -> i64 {
        self.end
    }

    /// Whether nothing lies inside.
    pub const fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// Whether `time` lies inside.
    pub fn contains(self, time: Timestamp) -> bool {
        (self.start..self.end).contains(&time.nanos())
    }

    /// The part that lies in both; empty (at the later start) where they do not meet.
    pub fn intersect(self, other: Self) -> Self {
        let start = self.start.max(other.start);
        Self { start, end: self.end.min(other.end).max(start) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_time_is_the_first_second_of_2261() {
        assert_eq!(Timestamp::MAX.nanos(), 9_183_110_400_000_000_000);
        assert_eq!(crate::slice::civil_date(Timestamp::MAX.nanos()), (2261, 1, 1));
    }

    #[test]
    fn times_outside_the_range_are_refused_and_never_wrap() {
        assert!(Timestamp::from_nanos(-1).is_err());
        assert!(Timestamp::from_nanos(i64::MIN).is_err());
        assert!(Timestamp::from_nanos(i64::MAX).is_err());
        assert!(Timestamp::from_nanos(Timestamp::MAX.nanos() + 1).is_err());
        assert!(Timestamp::from_parts(i64::MAX, i32::MAX).is_err());
        assert!(Timestamp::from_parts(i64::MIN, 0).is_err());
        assert_eq!(Timestamp::from_parts(1, 5).unwrap().nanos(), 1_000_000_005);
        let message = Timestamp::from_nanos(-5).unwrap_err().to_string();
        assert!(message.contains("send nanoseconds"), "{message}");
    }

    #[test]
    fn intervals_are_half_open() {
        let interval = Interval::new(10, 20).unwrap();
        assert!(interval.contains(Timestamp::from_nanos(10).unwrap()));
        assert!(!interval.contains(Timestamp::from_nanos(20).unwrap()));
        assert!(Interval::new(3, 2).is_err());
        assert!(Interval::new(2, 2).unwrap().is_empty());
        assert!(interval.intersect(Interval::new(30, 40).unwrap()).is_empty());
        assert_eq!(interval.intersect(Interval::new(15, 40).unwrap()), Interval::new(15, 20).unwrap());
        assert!(Interval::ALL.contains(Timestamp::MAX));
    }
}
