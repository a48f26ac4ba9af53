//! How events are spread over ids: a few busy series, many quiet ones.
//!
//! The series of rank r has r^-skew times the events of the first (Zipf). Ranks are taken together where their rates
//! are alike, so a thousand million ids are about a hundred groups.

/// Ranks of one group at most, in terms of its first.
const GROWTH: f64 = 1.25;
/// The busiest ids are groups of their own.
const ALONE: f64 = 4.0;

/// Ids with about the same rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Group {
    /// How many they are.
    pub(crate) ids: f64,
    /// Events per second of each.
    pub(crate) rate: f64,
}

/// Every id in a group, busiest first. `ids` is a whole number; together they have `ids` times `mean_rate`.
pub(crate) fn groups(ids: f64, mean_rate: f64, skew: f64) -> Vec<Group> {
    let mut found = Vec::new();
    let mut first = 1.0_f64;
    while first <= ids {
        let last = if first <= ALONE { first } else { (first * GROWTH).floor().min(ids) };
        found.push(Group { ids: last - first + 1.0, rate: weight(first, last, skew) });
        first = last + 1.0;
    }
    let total: f64 = found.iter().map(|group| group.rate).sum();
    for group in &mut found {
        group.rate *= ids * mean_rate / (total * group.ids);
    }
    found
}

/// The sum of r^-skew over the ranks, by the area under the curve where there are many.
fn weight(first: f64, last: f64, skew: f64) -> f64 {
    if first >= last {
        return first.powf(-skew);
    }
    let (from, to) = (first - 0.5, last + 0.5);
    if (skew - 1.0).abs() < 1e-9 {
        return (to / from).ln();
    }
    (to.powf(1.0 - skew) - from.powf(1.0 - skew)) / (1.0 - skew)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn without_skew_all_are_alike() {
        let found = groups(1_000.0, 0.5, 0.0);
        assert!(found.iter().all(|group| (group.rate - 0.5).abs() < 1e-9), "{found:?}");
    }

    #[test]
    fn with_a_skew_of_one_the_first_has_twice_the_second() {
        let found = groups(1_000_000.0, 1.0, 1.0);
        assert!((found[0].rate / found[1].rate - 2.0).abs() < 1e-9);
        // The sum of 1/r up to a million is 14.39.
        assert!((found[0].rate - 1e6 / 14.392).abs() < 1e6 / 14.392 * 0.01, "{}", found[0].rate);
    }

    proptest! {
        #[test]
        fn nobody_is_lost_and_busier_ones_come_first(ids in 1_u32..2_000_000_000, rate in 1e-6_f64..1e3, skew in 0.0_f64..3.0) {
            let found = groups(f64::from(ids), rate, skew);
            prop_assert!(found.len() < 120, "{} groups", found.len());
            prop_assert_eq!(found.iter().map(|group| group.ids).sum::<f64>(), f64::from(ids));
            let events: f64 = found.iter().map(|group| group.ids * group.rate).sum();
            let expect = f64::from(ids) * rate;
            prop_assert!((events - expect).abs() < expect * 1e-9);
            for pair in found.windows(2) {
                prop_assert!(pair[0].rate >= pair[1].rate * (1.0 - 1e-9), "{:?}", pair);
            }
        }
    }
}
