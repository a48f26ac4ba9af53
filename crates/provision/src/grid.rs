//! The shapes that are looked at: widths that people can read, in every combination that can be made.

use model::ShapeSpec;

use crate::Workload;

const MINUTE: u32 = 60;
const HOUR: u32 = 3_600;
const DAY: u32 = 86_400;

const SLICES: [u32; 15] = [
    HOUR,
    2 * HOUR,
    4 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    3 * DAY,
    7 * DAY,
    14 * DAY,
    30 * DAY,
    60 * DAY,
    90 * DAY,
    180 * DAY,
    365 * DAY,
];
const BUCKETS: [u32; 29] = [
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    15 * MINUTE,
    20 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    4 * HOUR,
    6 * HOUR,
    8 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    3 * DAY,
    5 * DAY,
    7 * DAY,
    10 * DAY,
    14 * DAY,
    15 * DAY,
    30 * DAY,
    45 * DAY,
    60 * DAY,
    73 * DAY,
    90 * DAY,
    180 * DAY,
    365 * DAY,
];
const EVENT_BUCKETS: [u16; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

/// Slices that a namespace may have at a time, less the ones that are made ahead or about to go.
const SLICES_KEPT_MAX: f64 = 396.0;

/// Every shape that suits the retention: a slice is not wider than that, and there are not too many.
pub(crate) fn shapes(workload: &Workload) -> Vec<ShapeSpec> {
    let kept = workload.retention.as_secs_f64();
    let suits = |slice: &u32| {
        let width = f64::from(*slice);
        width <= kept && kept / width <= SLICES_KEPT_MAX
    };
    let mut found = Vec::new();
    for seconds_per_slice in SLICES.into_iter().filter(suits) {
        for seconds_per_bucket in buckets_of(seconds_per_slice) {
            for buckets_per_id in EVENT_BUCKETS {
                found.push(ShapeSpec { seconds_per_slice, seconds_per_bucket, buckets_per_id });
            }
        }
    }
    found
}

/// The widths that divide a slice, narrowest first.
fn buckets_of(slice: u32) -> impl Iterator<Item = u32> {
    BUCKETS.into_iter().filter(move |bucket| slice.is_multiple_of(*bucket))
}

/// `bucket` where it divides the slice, else the width that does and is nearest by ratio.
pub(crate) fn nearest_bucket(slice: u32, bucket: u32) -> u32 {
    if bucket > 0 && slice.is_multiple_of(bucket) {
        return bucket;
    }
    let distance = |width: &u32| (f64::from(*width) / f64::from(bucket.max(1))).ln().abs();
    buckets_of(slice).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(slice)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::workload::tests::sensors;

    #[test]
    fn every_retention_has_shapes_that_can_be_made() {
        for retention in [3_600, 5_000, 86_400, 100_000, 30 * 86_400, 365 * 86_400, 3_660 * 86_400] {
            let workload = Workload { retention: Duration::from_secs(retention), ..sensors() };
            let found = shapes(&workload);
            assert!(!found.is_empty() && found.len() <= 3_000, "{retention}: {} shapes", found.len());
            for shape in &found {
                assert!(shape.freeze().is_ok(), "{shape:?}");
                let slices = retention / u64::from(shape.seconds_per_slice);
                assert!((1..=396).contains(&slices), "{retention}: {slices} slices");
            }
        }
    }

    #[test]
    fn a_whole_slice_can_be_one_bucket() {
        for slice in SLICES {
            assert_eq!(buckets_of(slice).last(), Some(slice));
        }
    }

    proptest! {
        #[test]
        fn the_nearest_bucket_divides_its_slice(at in 0_usize..15, bucket in 0_u32..40_000_000) {
            let slice = SLICES[at];
            prop_assert!(slice.is_multiple_of(nearest_bucket(slice, bucket)));
        }
    }
}
