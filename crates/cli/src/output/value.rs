//! Single values as text for people: bytes, times, durations, sizes. What comes from a series can hold anything, so
//! nothing leaves here that could move a terminal's cursor.

use std::borrow::Cow;
use std::fmt::Write;
use std::time::Duration;

use jiff::Timestamp;

use crate::input::Unit;

/// Binary values up to so many bytes are shown in full, as hexadecimal digits.
const HEX_BYTES_MAX: usize = 16;

/// `text` with control characters escaped.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(escape).collect())
}

/// A value as a table shows it: text where it is text, else its digits or only its size.
pub(crate) fn value(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return printable(text).into_owned();
    }
    if bytes.len() > HEX_BYTES_MAX {
        return format!("<{} bytes>", bytes.len());
    }
    let mut digits = String::from("0x");
    for byte in bytes {
        let _infallible = write!(digits, "{byte:02x}");
    }
    digits
}

/// A time as the contract's JSON writes it: UTC, with 0, 3, 6 or 9 digits after the point.
pub(crate) fn time(wire: Option<prost_types::Timestamp>) -> String {
    let Some(wire) = wire else { return String::new() };
    let Ok(whole) = Timestamp::new(wire.seconds, 0) else {
        return format!("{}.{:09}", wire.seconds, wire.nanos);
    };
    let mut text = whole.to_string();
    if wire.nanos != 0 {
        let digits = format!("{:09}", wire.nanos);
        let short = digits.strip_suffix("000000").or_else(|| digits.strip_suffix("000")).unwrap_or(&digits);
        text.insert_str(text.len().saturating_sub(1), &format!(".{short}"));
    }
    text
}

/// A duration to the last nanosecond, in the units that durations are typed in.
pub(crate) fn duration(duration: Duration) -> String {
    let mut rest = duration.as_nanos();
    let mut text = String::new();
    // Nobody counts weeks: 30d is clearer than 4w2d.
    for unit in Unit::ALL.iter().filter(|unit| unit.name != "w") {
        let count = rest / u128::from(unit.nanos);
        rest %= u128::from(unit.nanos);
        if count > 0 {
            let _infallible = write!(text, "{count}{}", unit.name);
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

/// A duration from the wire; zero where it is absent or negative.
pub(crate) fn from_wire(wire: Option<prost_types::Duration>) -> Duration {
    let wire = wire.unwrap_or_default();
    let seconds = u64::try_from(wire.seconds).unwrap_or(0);
    Duration::new(seconds, u32::try_from(wire.nanos).unwrap_or(0))
}

/// How long something took, in three digits or so.
pub(crate) fn took(duration: Duration) -> String {
    match duration.as_secs_f64() {
        seconds if seconds < 0.001 => format!("{:.0} us", seconds * 1e6),
        seconds if seconds < 1.0 => format!("{:.1} ms", seconds * 1e3),
        seconds => format!("{seconds:.2} s"),
    }
}

/// A number of things, of which there may be one.
pub(crate) fn count(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// From when up to when.
pub(crate) fn interval(wire: Option<&api::v1::TimeInterval>) -> String {
    wire.map_or_else(
        || "unknown".to_owned(),
        |interval| format!("{} to {}", time(interval.start), time(interval.end)),
    )
}

/// Bytes in the unit that reads best.
pub(crate) fn size(bytes: u64) -> String {
    let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => {
            let tenths = u128::from(bytes) * 10 / u128::from(unit);
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::parse_duration;

    #[test]
    fn values_are_text_where_they_are_text() {
        assert_eq!(value(b"ios"), "ios");
        assert_eq!(value("naïve \u{1F600}".as_bytes()), "naïve \u{1F600}");
        assert_eq!(value(b"a\nb\x1b[2J"), "a\\nb\\u{1b}[2J");
        assert_eq!(value(b""), "");
        assert_eq!(value(b"\xff\x00"), "0xff00");
        assert_eq!(value(&[0xFF; 16]), format!("0x{}", "ff".repeat(16)));
        assert_eq!(value(&[0xFF; 17]), "<17 bytes>");
    }

    #[test]
    fn times_have_as_many_digits_as_they_need_in_threes() {
        let shown = |seconds, nanos| time(Some(prost_types::Timestamp { seconds, nanos }));
        assert_eq!(shown(1_778_542_920, 0), "2026-05-11T23:42:00Z");
        assert_eq!(shown(1_778_542_920, 500_000_000), "2026-05-11T23:42:00.500Z");
        assert_eq!(shown(1_778_542_920, 1_000), "2026-05-11T23:42:00.000001Z");
        assert_eq!(shown(1_778_542_920, 1), "2026-05-11T23:42:00.000000001Z");
        assert_eq!(shown(-1, 999_999_999), "1969-12-31T23:59:59.999999999Z");
        assert_eq!(shown(i64::MAX, 5), "9223372036854775807.000000005");
        assert_eq!(time(None), "");
    }

    #[test]
    fn durations_read_back_as_they_were() {
        let cases = ["30d", "1h30m", "500ms", "1d1s1ns", "10m", "12us", "0s"];
        for text in cases {
            assert_eq!(duration(parse_duration(text).unwrap()), text);
        }
        assert_eq!(duration(Duration::from_secs(604_800)), "7d");
    }

    #[test]
    fn counts_and_intervals_are_read_aloud() {
        assert_eq!([0, 1, 2].map(|number| count(number, "row")), ["0 rows", "1 row", "2 rows"]);
        let at = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
        let hour = api::v1::TimeInterval { start: at(0), end: at(3_600) };
        assert_eq!(interval(Some(&hour)), "1970-01-01T00:00:00Z to 1970-01-01T01:00:00Z");
        assert_eq!(interval(None), "unknown");
    }

    #[test]
    fn sizes_and_times_taken_are_short() {
        let cases = [0, 1_023, 1_024, 1_536, 3 << 20, u64::MAX].map(size);
        assert_eq!(cases, ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "3.0 MiB", "16777215.9 TiB"]);
        let cases =
            [0, 12_000, 1_234_000, 999_000_000, 1_234_000_000].map(|nanos| took(Duration::from_nanos(nanos)));
        assert_eq!(cases, ["0 us", "12 us", "1.2 ms", "999.0 ms", "1.23 s"]);
    }
}
