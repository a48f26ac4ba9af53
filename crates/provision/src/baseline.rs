//! The published rules: a shape straight from retention, read interval and mean density, without a thought for what is
//! uncertain. Kept under their name, beside what is planned here, so that the difference can be judged.

use std::time::Duration;

use model::ShapeSpec;

use crate::grid::nearest_bucket;
use crate::plan::Choice;
use crate::round::{whole, whole_u32};
use crate::{Refusal, Workload};

const HOUR: u32 = 3_600;
const DAY: u32 = 86_400;

/// Up to this retention, slices of this width; both in seconds.
const LADDER: [(u32, u32); 7] = [
    (DAY, 4 * HOUR),
    (7 * DAY, DAY),
    (14 * DAY, 7 * DAY),
    (30 * DAY, 14 * DAY),
    (90 * DAY, 30 * DAY),
    (180 * DAY, 90 * DAY),
    (365 * DAY, 180 * DAY),
];
/// Beyond the ladder.
const WIDEST: u32 = 365 * DAY;
const RETENTION_MIN: Duration = Duration::from_secs(6 * 3_600);
const PARTITION_BYTES: f64 = 4.0 * 1_048_576.0;
const EVENT_BUCKETS_MAX: f64 = 8.0;

/// What the published rules say, as they say it: event buckets take turns there, and nothing has to divide the slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Width of a slice.
    pub seconds_per_slice: u32,
    /// Width of a time bucket.
    pub seconds_per_bucket: u32,
    /// Event buckets per time bucket.
    pub buckets_per_id: u16,
    /// How long one event bucket takes all events before the next one does.
    pub rotation_seconds: u32,
    /// Partitions that a read asks.
    pub read_amplification: u64,
}

/// The published rules as a choice, and why it was not taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    /// As published.
    pub rules: Rules,
    /// The same as a shape that can be made here, on the cluster that suits it best.
    pub choice: Choice,
    /// Why it lost, or that it did not.
    pub reason: String,
}

/// The published rules. `events_per_day` is the mean of one series.
pub fn rules(
    read_interval: Duration,
    retention: Duration,
    events_per_day: f64,
    event_bytes: f64,
) -> Result<Rules, Refusal> {
    if retention < RETENTION_MIN {
        let problem = "is under 6 hours, for which the published rules have no slice";
        return Err(Refusal::new("retention", problem));
    }
    let kept = retention.as_secs_f64();
    let step = LADDER.iter().find(|(up_to, _)| kept <= f64::from(*up_to));
    let seconds_per_slice = step.map_or(WIDEST, |(_, slice)| *slice);
    let interval = read_interval.as_secs_f64();
    let bucket = interval.min(f64::from(seconds_per_slice));
    let bytes = bucket * events_per_day * event_bytes / f64::from(DAY);
    let buckets = (bytes / PARTITION_BYTES).clamp(1.0, EVENT_BUCKETS_MAX).round_ties_even();
    let buckets_per_id = u16::try_from(whole(buckets)).unwrap_or(1);
    let seconds_per_bucket = whole_u32(bucket).max(1);
    let rotation_seconds = match buckets_per_id {
        1 => seconds_per_bucket,
        _ if interval <= 60.0 => 60,
        _ => 5,
    };
    let read_amplification = whole((interval / bucket).ceil() * buckets);
    Ok(Rules { seconds_per_slice, seconds_per_bucket, buckets_per_id, rotation_seconds, read_amplification })
}

impl Rules {
    /// For the middle of every guess.
    pub(crate) fn of(workload: &Workload) -> Result<Self, Refusal> {
        let per_day = workload.events_per_second_per_id.mid * f64::from(DAY);
        rules(workload.read_interval, workload.retention, per_day, workload.event_bytes.mid)
    }

    /// The nearest shape that can be made here: time buckets divide their slice.
    pub(crate) fn shape(&self) -> ShapeSpec {
        ShapeSpec {
            seconds_per_slice: self.seconds_per_slice,
            seconds_per_bucket: nearest_bucket(self.seconds_per_slice, self.seconds_per_bucket),
            buckets_per_id: self.buckets_per_id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn hours(hours: u64) -> Duration {
        Duration::from_secs(hours * 3_600)
    }

    /// The two examples that were published with the rules, inputs and answers.
    #[test]
    fn the_published_check_values() {
        let year = rules(hours(10), hours(360 * 24), 10.0, 10_000.0).unwrap();
        let expect = Rules {
            seconds_per_slice: 180 * DAY,
            seconds_per_bucket: 36_000,
            buckets_per_id: 1,
            rotation_seconds: 36_000,
            read_amplification: 1,
        };
        assert_eq!(year, expect);
        let days = rules(hours(24), hours(96), 1_000.0, 20_000.0).unwrap();
        let expect = Rules {
            seconds_per_slice: DAY,
            seconds_per_bucket: DAY,
            buckets_per_id: 5,
            rotation_seconds: 5,
            read_amplification: 5,
        };
        assert_eq!(days, expect);
    }

    #[test]
    fn slices_follow_retention() {
        let slice = |retention| rules(hours(1), retention, 10.0, 1_000.0).unwrap().seconds_per_slice;
        let found =
            [6, 24, 25, 168, 14 * 24, 30 * 24, 90 * 24, 180 * 24, 365 * 24, 366 * 24].map(hours).map(slice);
        let days = [1, 1, 7, 14, 30, 90, 180, 365].map(|days| days * DAY);
        assert_eq!(found[..2], [4 * HOUR; 2]);
        assert_eq!(found[2..], days);
        let refused = rules(hours(1), hours(5), 10.0, 1_000.0).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "retention: is under 6 hours, for which the published rules have no slice"
        );
    }

    #[test]
    fn halves_go_to_the_even_number_and_buckets_have_a_limit() {
        let buckets =
            |bytes: f64| rules(hours(24), hours(96), 1.0, bytes * PARTITION_BYTES).unwrap().buckets_per_id;
        assert_eq!([0.1, 2.5, 3.5, 7.4, 100.0].map(buckets), [1, 2, 4, 7, 8]);
    }

    #[test]
    fn short_reads_turn_slower_and_long_ones_ask_every_slice() {
        let short = rules(Duration::from_secs(60), hours(96), 1e6, 1e6).unwrap();
        assert_eq!((short.seconds_per_bucket, short.buckets_per_id, short.rotation_seconds), (60, 8, 60));
        let long = rules(hours(80), hours(96), 1.0, 1.0).unwrap();
        assert_eq!((long.seconds_per_bucket, long.read_amplification), (DAY, 4));
    }

    #[test]
    fn what_divides_no_slice_becomes_what_does() {
        let seven = rules(hours(7), hours(96), 1.0, 1.0).unwrap();
        assert_eq!((seven.seconds_per_bucket, seven.shape().seconds_per_bucket), (7 * HOUR, 8 * HOUR));
        let instant = rules(Duration::from_millis(300), hours(96), 1.0, 1.0).unwrap();
        assert_eq!(instant.shape().seconds_per_bucket, 1);
        assert!(seven.shape().freeze().is_ok() && instant.shape().freeze().is_ok());
    }
}
