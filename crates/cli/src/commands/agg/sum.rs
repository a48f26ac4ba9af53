//! Sums of doubles that lose nothing on the way: what rounding drops from one addition is carried to the end.

/// A sum of finite numbers, or of one that is not finite.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CarefulSum {
    total: f64,
    dropped: f64,
}

impl CarefulSum {
    /// Adds a number (Neumaier's way: the larger of the two loses nothing).
    pub(super) fn add(&mut self, number: f64) {
        let total = self.total + number;
        self.dropped += if self.total.abs() >= number.abs() {
            (self.total - total) + number
        } else {
            (number - total) + self.total
        };
        self.total = total;
    }

    /// All of it, rounded once. What was infinite stays so: nothing was dropped that could matter.
    pub(super) fn total(self) -> f64 {
        if self.total.is_finite() { self.total + self.dropped } else { self.total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(numbers: &[f64], expect: f64) {
        let mut sum = CarefulSum::default();
        numbers.iter().for_each(|number| sum.add(*number));
        let total = sum.total();
        assert!(total == expect || (total.is_nan() && expect.is_nan()), "{numbers:?}: {total}, not {expect}");
    }

    #[test]
    fn what_is_dropped_comes_back() {
        check(&[], 0.0);
        check(&[0.1; 10], 1.0);
        check(&[1e16, 1.0, 1.0, -1e16], 2.0);
        check(&[1.0, 1e100, 1.0, -1e100], 2.0);
        check(&[9_007_199_254_740_992.0, 1.0, 1.0], 9_007_199_254_740_994.0);
    }

    #[test]
    fn what_is_over_stays_over() {
        check(&[f64::MAX, f64::MAX, 1.0], f64::INFINITY);
        check(&[f64::NEG_INFINITY, 1.0], f64::NEG_INFINITY);
        // Both ways over: nobody knows what it comes to.
        check(&[f64::INFINITY, f64::NEG_INFINITY], f64::NAN);
    }
}
