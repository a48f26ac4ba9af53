//! The few statistics that a report shows. Pure.

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
}
