//! How sizes and durations are read and shown. Knows no key and no layer.

use std::time::Duration;

use jiff::fmt::friendly::{SpanParser, SpanPrinter};

use super::value::{Value, digits};

/// Units that are told apart by a factor of 1,024 first: those are the ones that sizes are shown in.
const UNITS: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
];

/// A bare `K`, `M` or `G` is refused: some mean 1,000 by it and some 1,024.
pub(super) fn size(value: &Value) -> Option<u64> {
    let Some(text) = value.text() else { return value.number() };
    let unit_at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(unit_at)?;
    let (number, unit) = (digits(number)?, unit.trim_start());
    if unit.is_empty() {
        return Some(number);
    }
    let (_, factor) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    number.checked_mul(*factor)
}

/// The largest unit of 1,024s that loses nothing; below that, bytes.
pub(super) fn size_text(bytes: u64) -> String {
    let whole = |(_, factor): &&(&str, u64)| bytes > 0 && bytes.is_multiple_of(*factor);
    match UNITS.iter().take(4).find(whole) {
        Some((unit, factor)) => format!("{}{unit}", bytes / factor),
        None => bytes.to_string(),
    }
}

/// Fixed units only: jiff refuses days and longer here, because they have no fixed length.
pub(super) fn duration(value: &Value) -> Option<Duration> {
    match value.text() {
        Some(text) if digits(text).is_none() => SpanParser::new().parse_unsigned_duration(text).ok(),
        Some(text) => digits(text).map(Duration::from_secs),
        None => value.number().map(Duration::from_secs),
    }
}

pub(super) fn duration_text(time: Duration) -> String {
    SpanPrinter::new().unsigned_duration_to_string(&time)
}
