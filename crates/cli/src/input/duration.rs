//! Durations as they are typed: `90m`, `1h30m`, `7d`, `604800s`, `500ms`, `0.5s`, and `0`.

use std::time::Duration;

/// A unit and its length in nanoseconds.
pub(crate) struct Unit {
    pub name: &'static str,
    pub nanos: u64,
}

impl Unit {
    /// From the longest on, so that whatever is written in them reads from left to right.
    pub(crate) const ALL: [Self; 8] = [
        Self { name: "w", nanos: 604_800_000_000_000 },
        Self { name: "d", nanos: 86_400_000_000_000 },
        Self { name: "h", nanos: 3_600_000_000_000 },
        Self { name: "m", nanos: 60_000_000_000 },
        Self { name: "s", nanos: 1_000_000_000 },
        Self { name: "ms", nanos: 1_000_000 },
        Self { name: "us", nanos: 1_000 },
        Self { name: "ns", nanos: 1 },
    ];
}

/// What the wire can carry: 10,000 years.
const SECONDS_MAX: u64 = 315_576_000_000;

/// Reads a duration. A fraction must come out in whole nanoseconds; units may come in any order, and add up.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let mut total = 0_u128;
    let mut rest = text;
    while !rest.is_empty() {
        let (number, tail) = split(rest, |c| c.is_ascii_digit() || c == '.');
        let (name, tail) = split(tail, |c| c.is_ascii_alphabetic());
        let unit = Unit::ALL.iter().find(|unit| unit.name == name).ok_or_else(|| wrong(text))?;
        let part = nanos(number, unit.nanos).ok_or_else(|| wrong(text))?;
        total = total.saturating_add(part);
        rest = tail;
    }
    let nanos_per_second = 1_000_000_000_u128;
    match (u64::try_from(total / nanos_per_second), u32::try_from(total % nanos_per_second)) {
        _ if text.is_empty() => Err(wrong(text)),
        (Ok(seconds), Ok(nanos)) if seconds <= SECONDS_MAX => Ok(Duration::new(seconds, nanos)),
        _ => Err(format!("`{text}` is too long a time; write at most 10000 years")),
    }
}

fn wrong(text: &str) -> String {
    format!("`{text}` is not a duration; write one such as 90m, 1h30m, 7d, 500ms or 0")
}

/// The longest head of `text` whose characters all pass, and what follows.
fn split(text: &str, pass: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !pass(c)).unwrap_or(text.len());
    text.split_at(end)
}

/// `number` (digits, at most one point) times `unit`.
fn nanos(number: &str, unit: u64) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mut total = u128::from(whole.parse::<u64>().ok()?).checked_mul(u128::from(unit))?;
    if number.contains('.') {
        let digits: u64 = fraction.parse().ok()?;
        let scale = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        let part = u128::from(digits).checked_mul(u128::from(unit))?;
        if part % scale != 0 {
            return None;
        }
        total = total.checked_add(part / scale)?;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_as_people_write_them() {
        let cases = [
            ("90m", Duration::from_secs(5_400)),
            ("1h30m", Duration::from_secs(5_400)),
            ("30m1h", Duration::from_secs(5_400)),
            ("7d", Duration::from_secs(604_800)),
            ("1w", Duration::from_secs(604_800)),
            ("604800s", Duration::from_secs(604_800)),
            ("500ms", Duration::from_millis(500)),
            ("0.5s", Duration::from_millis(500)),
            ("1.5h", Duration::from_secs(5_400)),
            ("1s1us1ns", Duration::new(1, 1_001)),
            ("0.000000001s", Duration::from_nanos(1)),
            ("0", Duration::ZERO),
            ("0s", Duration::ZERO),
            ("315576000000s", Duration::from_secs(315_576_000_000)),
        ];
        for (text, expect) in cases {
            assert_eq!(parse_duration(text), Ok(expect), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused_with_an_example() {
        let wrong = [
            "", "5", "m", "1h30", "-1h", "+1h", "1 h", "1x", "1H", "1.h", ".5h", "1..5h", "0.3ns", "1e3s",
            "1mm",
        ];
        for text in wrong {
            let expect = format!("`{text}` is not a duration; write one such as 90m, 1h30m, 7d, 500ms or 0");
            assert_eq!(parse_duration(text), Err(expect));
        }
        for text in ["315576000001s", "18446744073709551615w"] {
            assert!(parse_duration(text).unwrap_err().contains("is too long a time"), "{text}");
        }
        assert!(parse_duration("99999999999999999999s").is_err());
    }
}
