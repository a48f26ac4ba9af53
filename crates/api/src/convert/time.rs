//! Timestamps and durations. Nothing wraps: what does not fit is clipped where that is harmless and refused elsewhere.

use std::time::Duration;

use engine::{Error, Result};
use model::Interval;
use model::time::NANOS_PER_SECOND;
use prost_types::Timestamp;

use crate::v1;

/// Nanoseconds since 1970 as a wire timestamp.
pub fn timestamp_to_wire(nanos: i64) -> Timestamp {
    let fraction = nanos.rem_euclid(NANOS_PER_SECOND);
    Timestamp { seconds: nanos.div_euclid(NANOS_PER_SECOND), nanos: i32::try_from(fraction).unwrap_or(0) }
}

/// A duration as a wire duration.
pub fn duration_to_wire(duration: Duration) -> prost_types::Duration {
    prost_types::Duration {
        seconds: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        nanos: i32::try_from(duration.subsec_nanos()).unwrap_or(0),
    }
}

/// The wire duration of `field`; refused where it is negative.
pub fn duration_from_wire(field: &str, wire: prost_types::Duration) -> Result<Duration> {
    if wire.seconds < 0 || wire.nanos < 0 {
        return Err(Error::field(field, "is negative; send 0s or more"));
    }
    let (Ok(seconds), Ok(nanos)) = (u64::try_from(wire.seconds), fraction(wire.nanos)) else {
        return Err(Error::field(field, FRACTION));
    };
    Ok(Duration::new(seconds, nanos))
}

/// The interval asked for, clipped to the times that Braid can place: nothing lies outside them, so nothing is lost.
pub(super) fn interval_from_wire(wire: Option<v1::TimeInterval>) -> Result<Interval> {
    let field = "time_interval";
    let wire = wire.ok_or_else(|| Error::field(field, "is missing; send start and end"))?;
    let start = bound("time_interval.start", wire.start)?;
    let end = bound("time_interval.end", wire.end)?;
    if end < start {
        return Err(Error::field(field, "ends before it starts; swap start and end"));
    }
    Interval::new(clip(start), clip(end)).map_err(|error| Error::field(field, error))
}

/// The wire time of `field`, clipped to the times that Braid can place.
pub(super) fn time_from_wire(field: &str, wire: Timestamp) -> Result<i64> {
    bound(field, Some(wire)).map(clip)
}

const FRACTION: &str = "has nanos outside 0 to 999999999; put whole seconds into seconds";

/// The part below a second, as the wire defines it.
fn fraction(nanos: i32) -> std::result::Result<u32, ()> {
    u32::try_from(nanos).ok().filter(|nanos| *nanos < 1_000_000_000).ok_or(())
}

/// Wide enough for every timestamp that the wire can carry.
fn bound(field: &str, wire: Option<Timestamp>) -> Result<i128> {
    let wire =
        wire.ok_or_else(|| Error::field(field, "is missing; send a time such as 2026-03-28T00:00:00Z"))?;
    let nanos = fraction(wire.nanos).map_err(|()| Error::field(field, FRACTION))?;
    Ok(i128::from(wire.seconds) * i128::from(NANOS_PER_SECOND) + i128::from(nanos))
}

fn clip(nanos: i128) -> i64 {
    let all = Interval::ALL;
    let inside = nanos.clamp(i128::from(all.start()), i128::from(all.end()));
    i64::try_from(inside).unwrap_or_else(|_| all.end())
}

/// An interval on the wire.
pub(super) fn interval_to_wire(interval: Interval) -> v1::TimeInterval {
    v1::TimeInterval {
        start: Some(timestamp_to_wire(interval.start())),
        end: Some(timestamp_to_wire(interval.end())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64, nanos: i32) -> Option<Timestamp> {
        Some(Timestamp { seconds, nanos })
    }

    fn interval(start: Option<Timestamp>, end: Option<Timestamp>) -> std::result::Result<(i64, i64), String> {
        let read = interval_from_wire(Some(v1::TimeInterval { start, end }));
        read.map(|interval| (interval.start(), interval.end())).map_err(|error| error.to_string())
    }

    #[test]
    fn intervals_are_clipped_to_what_can_be_placed() {
        let all = (Interval::ALL.start(), Interval::ALL.end());
        assert_eq!(interval(at(1, 5), at(2, 0)), Ok((1_000_000_005, 2_000_000_000)));
        assert_eq!(interval(at(i64::MIN, 0), at(i64::MAX, 999_999_999)), Ok(all));
        assert_eq!(interval(at(-10, 0), at(-5, 0)), Ok((0, 0)));
        assert_eq!(interval(at(i64::MAX, 0), at(i64::MAX, 0)), Ok((all.1, all.1)));
        assert_eq!(interval(at(7, 0), at(9_200_000_000, 0)), Ok((7_000_000_000, all.1)));
        assert_eq!(interval(at(7, 0), at(7, 0)), Ok((7_000_000_000, 7_000_000_000)));
    }

    #[test]
    fn intervals_that_say_nothing_are_refused() {
        let cases = [
            (at(2, 0), at(1, 0), "time_interval: ends before it starts; swap start and end"),
            (at(-1, 0), at(i64::MIN, 0), "time_interval: ends before it starts; swap start and end"),
            (None, at(1, 0), "time_interval.start: is missing; send a time such as 2026-03-28T00:00:00Z"),
            (at(1, 0), None, "time_interval.end: is missing; send a time such as 2026-03-28T00:00:00Z"),
            (
                at(1, -1),
                at(2, 0),
                "time_interval.start: has nanos outside 0 to 999999999; put whole seconds into seconds",
            ),
            (
                at(1, 0),
                at(2, 1_000_000_000),
                "time_interval.end: has nanos outside 0 to 999999999; put whole seconds into seconds",
            ),
        ];
        for (start, end, expect) in cases {
            assert_eq!(interval(start, end), Err(expect.to_owned()));
        }
        let missing = interval_from_wire(None).unwrap_err().to_string();
        assert_eq!(missing, "time_interval: is missing; send start and end");
    }

    #[test]
    fn times_before_1970_and_at_the_ends_of_64_bits_keep_their_value() {
        for (nanos, expect) in [
            (0, (0, 0)),
            (1_500_000_000, (1, 500_000_000)),
            (-1, (-1, 999_999_999)),
            (i64::MAX, (9_223_372_036, 854_775_807)),
            (i64::MIN, (-9_223_372_037, 145_224_192)),
        ] {
            let wire = timestamp_to_wire(nanos);
            assert_eq!((wire.seconds, wire.nanos), expect);
        }
    }

    #[test]
    fn durations_are_whole_and_not_negative() {
        let read = |seconds, nanos| {
            duration_from_wire("slo.read_max", prost_types::Duration { seconds, nanos })
                .map_err(|error| error.to_string())
        };
        assert_eq!(read(1, 500_000_000), Ok(Duration::from_millis(1_500)));
        assert_eq!(read(i64::MAX, 0), Ok(Duration::from_secs(9_223_372_036_854_775_807)));
        let negative = Err("slo.read_max: is negative; send 0s or more".to_owned());
        assert_eq!(read(-1, 0), negative);
        assert_eq!(read(0, -1), negative);
        assert!(read(0, 1_000_000_000).unwrap_err().contains("has nanos outside"));
        let back = duration_to_wire(Duration::from_millis(1_500));
        assert_eq!((back.seconds, back.nanos), (1, 500_000_000));
        assert_eq!(duration_to_wire(Duration::MAX).seconds, i64::MAX);
    }
}
