//! Sums that do not depend on the order of the numbers. Pure.
//!
//! Whole numbers are added as such. Floats are kept as a list of floats that do not overlap and add up exactly to what came in
//! (Shewchuk's expansions), so that only the answer is rounded.

use crate::query::Number;

/// Numbers added up so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    whole: i128,
    /// From small to large, none overlapping another.
    parts: Vec<f64>,
    /// Set once the parts are beyond what a float can say.
    overflow: f64,
}

impl Sum {
    /// Adds a number.
    pub(super) fn add(&mut self, number: Number) {
        match number {
            Number::Float(float) => self.add_float(float),
            Number::Whole(whole) => match self.whole.checked_add(whole) {
                Some(sum) => self.whole = sum,
                None => {
                    halves(self.whole).into_iter().for_each(|half| self.add_float(half));
                    self.whole = whole;
                }
            },
        }
    }

    fn add_float(&mut self, mut float: f64) {
        let mut kept = 0;
        for index in 0..self.parts.len() {
            let Some(part) = self.parts.get(index).copied() else { break };
            let (large, small) = if float.abs() < part.abs() { (part, float) } else { (float, part) };
            let high = large + small;
            let low = small - (high - large);
            if !high.is_finite() {
                self.overflow += high;
                return;
            }
            if low != 0.0 {
                if let Some(slot) = self.parts.get_mut(kept) {
                    *slot = low;
                }
                kept += 1;
            }
            float = high;
        }
        self.parts.truncate(kept);
        self.parts.push(float);
    }

    /// The sum, rounded once; infinite where no float is large enough.
    pub(super) fn total(&self) -> f64 {
        let mut all = self.clone();
        halves(self.whole).into_iter().for_each(|half| all.add_float(half));
        if all.overflow != 0.0 {
            return all.overflow;
        }
        rounded(&all.parts)
    }
}

/// A whole number as floats that add up to it exactly.
fn halves(whole: i128) -> [f64; 3] {
    const LOW_BITS: u32 = 43;
    let part = |shift: u32| {
        let bits = (whole.unsigned_abs() >> shift) & ((1 << LOW_BITS) - 1);
        let scale = 2_f64.powi(i32::try_from(shift).unwrap_or(0));
        if whole < 0 { -(bits as f64 * scale) } else { bits as f64 * scale }
    };
    [part(0), part(LOW_BITS), part(2 * LOW_BITS)]
}

/// The float nearest to the sum of the parts, ties to even.
fn rounded(parts: &[f64]) -> f64 {
    let mut rest = parts.iter().rev().copied();
    let Some(mut high) = rest.next() else { return 0.0 };
    let mut low = 0.0;
    for part in rest.by_ref() {
        let sum = high + part;
        low = part - (sum - high);
        high = sum;
        if low != 0.0 {
            break;
        }
    }
    // Half a unit off in one direction, and more to come in the same one: the tie was no tie.
    let tie_breaker = rest.next().unwrap_or(0.0);
    if (low < 0.0 && tie_breaker < 0.0) || (low > 0.0 && tie_breaker > 0.0) {
        let doubled = low * 2.0;
        let up = high + doubled;
        if (up - high).total_cmp(&doubled).is_eq() {
            return up;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    fn sum(numbers: &[&str]) -> f64 {
        let mut sum = Sum::default();
        numbers.iter().for_each(|number| sum.add(Number::parse(number.as_bytes()).unwrap()));
        sum.total()
    }

    #[test]
    fn sums_are_exact_whatever_the_order() {
        assert_eq!(sum(&[]).to_bits(), 0.0_f64.to_bits());
        assert_eq!(sum(&["1", "2", "3.5"]).to_bits(), 6.5_f64.to_bits());
        assert_eq!(sum(&["1e100", "1", "-1e100"]).to_bits(), 1.0_f64.to_bits());
        assert_eq!(sum(&["-1e100", "1e100", "0.25", "3"]).to_bits(), 3.25_f64.to_bits());
        assert_eq!(sum(&["0.1"; 10]).to_bits(), 1.0_f64.to_bits());
        assert_eq!(sum(&["9007199254740993", "-9007199254740992"]).to_bits(), 1.0_f64.to_bits());
        let most = i128::MAX.to_string();
        assert_eq!(sum(&[&most, &most, "1", "1"]).to_bits(), 2_f64.powi(128).to_bits());
        assert!(sum(&["1.7e308", "1.7e308"]).is_infinite());
    }

    proptest! {
        #[test]
        fn whole_numbers_add_up(numbers in proptest::collection::vec(-1_000_000_i64..1_000_000, 0..50)) {
            let texts: Vec<String> = numbers.iter().map(|n| if n % 2 == 0 { n.to_string() } else { format!("{n}.0") }).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            prop_assert_eq!(sum(&texts), numbers.iter().sum::<i64>() as f64);
        }

        #[test]
        fn the_order_makes_no_difference(numbers in proptest::collection::vec(-1e300_f64..1e300, 0..30)) {
            let add = |numbers: &mut dyn Iterator<Item = &f64>| {
                let mut sum = Sum::default();
                numbers.for_each(|number| sum.add(Number::Float(*number)));
                sum.total()
            };
            prop_assert_eq!(add(&mut numbers.iter()), add(&mut numbers.iter().rev()));
        }
    }
}
