//! Widths of time buckets that people can read: a minute, five, an hour, a day. A proposal names no other ones.

/// Readable widths in seconds, narrowest first.
const READABLE: &[u32] = &[
    1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1_200, 1_800, 3_600, 7_200, 10_800, 14_400, 21_600,
    28_800, 43_200, 86_400, 172_800, 259_200, 345_600, 432_000, 604_800, 864_000, 1_209_600, 1_296_000,
    1_814_400, 2_419_200, 2_592_000, 5_184_000, 7_776_000, 15_552_000, 31_536_000,
];

/// The readable widths that divide a slice, and the slice itself; narrowest first.
pub(crate) fn divisors(slice: u32) -> Vec<u32> {
    let divides = |width: &u32| *width < slice && slice.is_multiple_of(*width);
    READABLE.iter().copied().filter(divides).chain([slice]).collect()
}

/// Those of them into which whole buckets of `bucket` seconds go; at least the slice.
pub(crate) fn multiples(slice: u32, bucket: u32) -> Vec<u32> {
    let fits = |width: &u32| width.is_multiple_of(bucket.max(1)) && *width > bucket;
    divisors(slice).into_iter().filter(fits).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::*;

    #[test]
    fn widths_are_ones_that_people_use() {
        let hour = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1_200, 1_800, 3_600];
        assert_eq!(divisors(3_600), hour);
        assert_eq!(multiples(86_400, 14_400), [28_800, 43_200, 86_400]);
        assert_eq!(multiples(604_800, 86_400), [604_800]);
        assert_eq!(multiples(604_800, 604_800), [0; 0]);
        // A bucket that nobody would choose still has the whole slice.
        assert_eq!(multiples(604_800, 420), [604_800]);
    }

    proptest! {
        #[test]
        fn every_rung_is_a_shape_that_can_be_asked_for(minutes in 60_u32..=527_040, part in 1_u32..200) {
            let slice = minutes * 60;
            let rungs = divisors(slice);
            prop_assert!(rungs.is_sorted() && rungs.last() == Some(&slice));
            prop_assert!(rungs.iter().all(|width| slice.is_multiple_of(*width)));
            let bucket = if slice.is_multiple_of(part) { slice / part } else { slice };
            for width in multiples(slice, bucket) {
                prop_assert!(width > bucket && width.is_multiple_of(bucket) && slice.is_multiple_of(width));
            }
        }
    }
}
