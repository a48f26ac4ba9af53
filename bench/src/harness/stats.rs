//! The few statistics that a report shows. Pure.

/// What may be missed on either side of the range of a median.
const ONE_SIDE_MAX: f64 = 0.025;

/// Median and extremes of several rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    /// The middle one; of an even number, the mean of the middle two.
    pub(crate) median: f64,
    /// The smallest.
    pub(crate) min: f64,
    /// The largest.
    pub(crate) max: f64,
}

impl Spread {
    /// The spread of `values`; none if there are none.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let upper = *sorted.get(sorted.len() / 2)?;
        let lower = *sorted.get((sorted.len() - 1) / 2)?;
        Some(Self { median: f64::midpoint(lower, upper), min, max })
    }

    /// The spread of the ratios of values that belong together, round by round.
    pub(crate) fn of_ratios(above: &[f64], below: &[f64]) -> Option<Self> {
        Self::of(above.iter().zip(below).map(|(above, below)| above / below))
    }
}

/// Where the true median lies with a certainty of at least 95 %, however the values are spread: between the two of them
/// whose ranks the sign test gives. None for fewer than six.
pub(crate) fn median_range(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let rounds = sorted.len();
    // The chance that so many of as many coins fall on one side, from none on, and the sum of these chances.
    let mut chance = 0.5_f64.powi(i32::try_from(rounds).ok()?);
    let (mut sum, mut heads) = (chance, 0);
    while sum <= ONE_SIDE_MAX && heads < rounds {
        chance *= (rounds - heads) as f64 / (heads + 1) as f64;
        sum += chance;
        heads += 1;
    }
    let from_end = heads.checked_sub(1)?;
    Some((*sorted.get(from_end)?, *sorted.get(rounds - 1 - from_end)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64], expect: Option<(f64, f64, f64)>) {
        let expect = expect.map(|(median, min, max)| Spread { median, min, max });
        assert_eq!(Spread::of(values.iter().copied()), expect);
    }

    #[test]
    fn the_median_is_the_middle_whatever_the_order() {
        check(&[], None);
        check(&[4.0], Some((4.0, 4.0, 4.0)));
        check(&[9.0, 1.0, 2.0], Some((2.0, 1.0, 9.0)));
        check(&[4.0, 1.0, 2.0, 100.0], Some((3.0, 1.0, 100.0)));
    }

    #[test]
    fn ratios_are_formed_inside_a_round() {
        // The ratio of the medians would be 1: a slow second round must not hide that the subject is always slower.
        let (subject, control) = ([10.0, 4.0, 9.0], [20.0, 5.0, 9.0]);
        let ratios = Spread::of_ratios(&subject, &control);
        assert_eq!(ratios, Some(Spread { median: 0.8, min: 0.5, max: 1.0 }));
    }

    #[test]
    fn the_range_of_a_median_is_that_of_the_tables_for_the_sign_test() {
        let range = |rounds: u32| median_range((1..=rounds).rev().map(f64::from));
        assert_eq!((range(0), range(5)), (None, None));
        assert_eq!(range(6), Some((1.0, 6.0)));
        assert_eq!(range(10), Some((2.0, 9.0)));
        assert_eq!(range(30), Some((10.0, 21.0)));
        assert_eq!(range(100), Some((40.0, 61.0)));
    }
}
