//! Predictions against what the same events come to when they are really cut so.

use model::{HistogramQuality, PartitionKey, SeriesId};
use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::*;
use crate::Walk;

const DAY: u32 = 86_400;

/// Events as (series, second of the slice, event bucket hash, bytes).
type Events = Vec<(u8, u32, u16, u64)>;

fn cut(events: &Events, shape: ShapeSpec, counted: Counted) -> Observation {
    let mut partitions = std::collections::BTreeMap::<PartitionKey, u64>::new();
    for (series, second, hash, bytes) in events {
        let key = PartitionKey {
            series: SeriesId::new(&format!("s{series}")).unwrap(),
            time_bucket: second / shape.seconds_per_bucket,
            event_bucket: u32::from(hash % shape.buckets_per_id),
        };
        *partitions.entry(key).or_default() += bytes;
    }
    let mut walk = Walk::new(counted, 1 << 18);
    partitions.iter().for_each(|(key, bytes)| walk.add(key, *bytes));
    let slice = shape.seconds_per_slice;
    let (sizes, series) = walk.finish(slice, shape.seconds_per_bucket, slice);
    Observation {
        table: "data_20260328".to_owned(),
        start: 0,
        seconds_per_slice: slice,
        seconds_per_bucket: shape.seconds_per_bucket,
        buckets_per_id: shape.buckets_per_id,
        covered_seconds: slice,
        observed: 0,
        quality: HistogramQuality::Exact,
        source: "scan".to_owned(),
        nodes_missing: 0,
        summary: sizes.summary(),
        sizes,
        series: Some(series),
    }
}

fn shape(seconds_per_bucket: u32, buckets_per_id: u16) -> ShapeSpec {
    ShapeSpec { seconds_per_slice: DAY, seconds_per_bucket, buckets_per_id }
}

/// Bursts and steady series alike.
fn events() -> impl Strategy<Value = Events> {
    let second = prop_oneof![0..DAY, 0_u32..120];
    proptest::collection::vec((any::<u8>(), second, any::<u16>(), 1_u64..10_000), 1..300)
}

proptest! {
    #[test]
    fn wider_buckets_are_predicted_as_they_turn_out(events in events()) {
        let seen = cut(&events, shape(60, 1), Counted::Bytes);
        for width in [3_600, 21_600, DAY] {
            let (predicted, truth) = (predict(&seen, shape(width, 1)), cut(&events, shape(width, 1), Counted::Bytes));
            prop_assert_eq!(predicted.basis, Basis::Series);
            prop_assert_eq!(predicted.sizes.count(), truth.sizes.count());
            let (told, true_p99) = (predicted.sizes.percentile(99), truth.sizes.percentile(99));
            prop_assert!(told >= true_p99 / 9 * 8 && told <= true_p99 + true_p99 / 4, "{} {}", told, true_p99);
        }
    }

    #[test]
    fn bounds_are_never_below_the_largest_of_even_sizes(events in events()) {
        // Where all partitions are alike, what is only known by keys is a bound.
        let even: Events = events.iter().map(|(series, second, hash, _)| (*series, *second, *hash, 1_000)).collect();
        let deduplicated: Events = {
            let mut seen = std::collections::BTreeSet::new();
            even.into_iter().filter(|(series, second, _, _)| seen.insert((*series, second / 60))).collect()
        };
        let (by_keys, truth) = (cut(&deduplicated, shape(60, 1), Counted::Partitions), cut(&deduplicated, shape(DAY, 1), Counted::Bytes));
        let predicted = predict(&by_keys, shape(DAY, 1));
        prop_assert_eq!(predicted.basis, Basis::Keys);
        prop_assert!(predicted.sizes.percentile(99) >= truth.sizes.percentile(99) / 9 * 8);
        let blind = Observation { series: None, ..by_keys };
        let full = predict(&blind, shape(DAY, 1));
        prop_assert_eq!(full.basis, Basis::Full);
        prop_assert!(full.sizes.percentile(99) >= truth.sizes.percentile(99) / 9 * 8);
    }
}

#[test]
fn empty_buckets_count_and_a_ratio_would_not() {
    // 200 series with events in one minute of the day only.
    let events: Events = (0..200).map(|at| (at, 100, 0, 9_000)).collect();
    let seen = cut(&events, shape(60, 1), Counted::Bytes);
    let predicted = predict(&seen, shape(DAY, 1)).sizes.percentile(99);
    assert!((9_000..=10_125).contains(&predicted), "{predicted}: the p99 times 1,440 is 12,960,000");
}

#[test]
fn narrower_buckets_and_event_buckets_share_evenly() {
    let events: Events = (0..240).map(|at| (u8::try_from(at % 10).unwrap(), at * 360, 0, 100_000)).collect();
    let seen = cut(&events, shape(DAY, 1), Counted::Bytes);
    let p99 = |shape| predict(&seen, shape).sizes.percentile(99);
    let whole = p99(shape(DAY, 1));
    assert_eq!(whole, 2_400_000);
    assert!(p99(shape(DAY, 2)).abs_diff(whole / 2) <= whole / 8);
    assert!(p99(shape(43_200, 1)).abs_diff(whole / 2) <= whole / 8);
    assert!(p99(shape(43_200, 3)).abs_diff(whole / 6) <= whole / 24);
    assert_eq!(predict(&seen, shape(43_200, 1)).sizes.count(), 20);
    assert_eq!(predict(&seen, shape(43_200, 1)).basis, Basis::Scaled);
    assert_eq!(predict(&seen, shape(DAY, 1)).basis, Basis::Observed);
}

#[test]
fn of_an_open_slice_the_rest_is_taken_to_be_alike() {
    let half: Events = (0..120).map(|at| (1, at * 360, 0, 1_000)).collect();
    let mut seen = cut(&half, shape(3_600, 1), Counted::Bytes);
    let mut walk = Walk::new(Counted::Bytes, 1_000);
    for at in 0..12 {
        walk.add(
            &PartitionKey { series: SeriesId::new("s1").unwrap(), time_bucket: at, event_bucket: 0 },
            10_000,
        );
    }
    seen.series = Some(walk.finish(DAY, 3_600, DAY / 2).1);
    seen.covered_seconds = DAY / 2;
    let predicted = predict(&seen, shape(DAY, 1));
    assert_eq!((predicted.basis, predicted.sizes.percentile(99)), (Basis::Scaled, 240_000));
}
