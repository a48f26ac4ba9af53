//! Numbers that are not known yet, as they are typed: `10k`, or `1k..10k..100k` for low, mid and high. Counts may end in k, M or
//! G, rates also in /s, /m, /h or /d, sizes in KiB, MiB or GiB.

use api::admin::v1::Guess;

/// A suffix and what it multiplies by.
type Unit = (&'static str, f64);

const COUNTS: [Unit; 4] = [("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9)];
const SIZES: [Unit; 5] =
    [("", 1.0), ("B", 1.0), ("KiB", 1_024.0), ("MiB", 1_048_576.0), ("GiB", 1_073_741_824.0)];
/// A time and its seconds.
const TIMES: [Unit; 4] = [("s", 1.0), ("m", 60.0), ("h", 3_600.0), ("d", 86_400.0)];

/// How many there are.
pub(crate) fn parse_count_guess(text: &str) -> Result<Guess, String> {
    guess(text, "1k..10k..100k", |part| number(part, &COUNTS))
}

/// How often it happens.
pub(crate) fn parse_rate_guess(text: &str) -> Result<Guess, String> {
    guess(text, "0.5..1..10 or 10/d", |part| {
        let (count, per) = part.rsplit_once('/').unwrap_or((part, "s"));
        let (_, seconds) = TIMES.iter().find(|(name, _)| *name == per)?;
        Some(number(count, &COUNTS)? / seconds)
    })
}

/// How large it is.
pub(crate) fn parse_size_guess(text: &str) -> Result<Guess, String> {
    guess(text, "200..500..2KiB", |part| number(part, &SIZES))
}

fn guess(text: &str, example: &str, parse: impl Fn(&str) -> Option<f64>) -> Result<Guess, String> {
    let parts: Option<Vec<f64>> = text.split("..").map(parse).collect();
    match parts.as_deref() {
        Some([mid]) => Ok(Guess { low: Some(*mid), mid: *mid, high: Some(*mid) }),
        Some([low, mid, high]) => Ok(Guess { low: Some(*low), mid: *mid, high: Some(*high) }),
        _ => Err(format!("`{text}` is neither a number nor low..mid..high; write one such as {example}")),
    }
}

/// Digits with at most one point among them, and a unit.
fn number(text: &str, units: &[Unit]) -> Option<f64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, name) = text.split_at(end);
    let (_, times) = units.iter().find(|(unit, _)| *unit == name)?;
    let whole =
        digits.starts_with(|c: char| c.is_ascii_digit()) && digits.ends_with(|c: char| c.is_ascii_digit());
    digits.parse::<f64>().ok().filter(|_| whole).map(|number| number * times)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(guess: Guess) -> [f64; 3] {
        [guess.low.unwrap(), guess.mid, guess.high.unwrap()]
    }

    #[test]
    fn one_number_is_known_and_three_are_a_guess() {
        assert_eq!(parse_count_guess("10k").map(parts), Ok([10_000.0; 3]));
        assert_eq!(parse_count_guess("1k..2.5M..1G").map(parts), Ok([1e3, 2.5e6, 1e9]));
        assert_eq!(parse_count_guess("0..0.8..1").map(parts), Ok([0.0, 0.8, 1.0]));
        assert_eq!(parse_size_guess("200..1KiB..2MiB").map(parts), Ok([200.0, 1_024.0, 2_097_152.0]));
        assert_eq!(parse_size_guess("3B").map(parts), Ok([3.0; 3]));
    }

    #[test]
    fn rates_may_be_by_the_day() {
        assert_eq!(parse_rate_guess("86.4k/d").map(parts), Ok([1.0; 3]));
        assert_eq!(parse_rate_guess("36/h..1/s..120/m").map(parts), Ok([0.01, 1.0, 2.0]));
        assert_eq!(parse_rate_guess("0.5").map(parts), Ok([0.5; 3]));
    }

    #[test]
    fn what_is_no_guess_is_refused_with_an_example() {
        for text in [
            "",
            "x",
            "1..2",
            "1..2..3..4",
            "1.2.3",
            ".5",
            "5.",
            "-1",
            "1e5",
            "inf",
            "NaN",
            "1K",
            "1..x..3",
            "1 k",
        ] {
            let expect =
                format!("`{text}` is neither a number nor low..mid..high; write one such as 1k..10k..100k");
            assert_eq!(parse_count_guess(text), Err(expect));
            assert!(parse_rate_guess(text).is_err() && parse_size_guess(text).is_err(), "{text}");
        }
        for text in ["1/x", "1/", "/d", "1/d/d", "1KiB"] {
            assert!(parse_rate_guess(text).unwrap_err().contains("0.5..1..10 or 10/d"), "{text}");
        }
        assert!(parse_size_guess("1k").unwrap_err().contains("200..500..2KiB"));
    }
}
