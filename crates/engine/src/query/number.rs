//! Numbers written as text, compared exactly. Pure.
//!
//! A number is an optional sign, digits, an optional fraction and an optional exponent. Whole numbers of up to 38 digits are
//! kept exactly; anything else is the nearest 64-bit float. What is not written like that (empty, blanks, `inf`, `0x10`) is no number.

use std::cmp::Ordering;

/// A number that was written as text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Whole(i128),
    Float(f64),
}

impl Number {
    /// Reads a number.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
        // Cheap for what is no number: most values are text.
        if !digits.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.') {
            return None;
        }
        let text = std::str::from_utf8(text).ok()?;
        if let Ok(whole) = text.parse() {
            return Some(Self::Whole(whole));
        }
        text.parse().ok().filter(|number: &f64| number.is_finite()).map(Self::Float)
    }

    /// The nearest float.
    pub(crate) const fn to_float(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Float(float) => float,
        }
    }

    /// The order of two numbers.
    pub(crate) fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a.cmp(&b),
            (Self::Float(a), Self::Float(b)) => total(a, b),
            (Self::Whole(a), Self::Float(b)) => whole_with_float(a, b),
            (Self::Float(a), Self::Whole(b)) => whole_with_float(b, a).reverse(),
        }
    }
}

/// The order of two finite floats; minus zero equals zero.
fn total(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or(Ordering::Equal)
}

/// Exact: no whole number is rounded to a float.
fn whole_with_float(whole: i128, float: f64) -> Ordering {
    /// 2^127: every float of a smaller size has a whole part that fits.
    const EDGE: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    if float >= EDGE {
        return Ordering::Less;
    }
    if float < -EDGE {
        return Ordering::Greater;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it was just seen to fit, and the fraction is looked at below"
    )]
    let part = float.trunc() as i128;
    whole.cmp(&part).then_with(|| total(0.0, float.fract()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(a: &str, b: &str) -> Ordering {
        let number =
            |text: &str| Number::parse(text.as_bytes()).unwrap_or_else(|| panic!("{text} is a number"));
        let found = number(a).compare(number(b));
        assert_eq!(number(b).compare(number(a)), found.reverse(), "{a} {b}");
        found
    }

    #[test]
    fn numbers_compare_as_numbers() {
        for (a, b) in [
            ("9", "10"),
            ("-10", "-9"),
            ("-1", "0.5"),
            ("1", "1.5"),
            ("-1.5", "-1"),
            ("1e3", "1001"),
            ("9007199254740992.0", "9007199254740993"),
            ("9223372036854775807", "9223372036854775808"),
            ("-1e300", "-170141183460469231731687303715884105728"),
            ("170141183460469231731687303715884105727", "1e300"),
            (".5", "0.6"),
        ] {
            assert_eq!(order(a, b), Ordering::Less, "{a} < {b}");
        }
        for (a, b) in [("1", "1.0"), ("+7", "7"), ("-0", "0.0"), ("007", "7"), ("1e2", "100"), ("-0.0", "0")]
        {
            assert_eq!(order(a, b), Ordering::Equal, "{a} = {b}");
        }
    }

    #[test]
    fn what_is_not_written_as_a_number_is_none() {
        for text in
            ["", " 1", "1 ", "abc", "inf", "-inf", "nan", "0x10", "1_000", "--1", "1e", ".", "1e999", "é"]
        {
            assert!(Number::parse(text.as_bytes()).is_none(), "{text}");
        }
        assert!(Number::parse(b"1\xFF").is_none());
    }
}
