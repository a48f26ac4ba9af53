//! Points in time as they are typed. Everything is UTC unless an offset says otherwise, and nanoseconds survive.

use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::duration::parse_duration;

/// A point in time, perhaps one that hangs on the present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A fixed time.
    At(Timestamp),
    /// So long before now.
    Before(Duration),
    /// So long after now; zero for now itself.
    After(Duration),
}

impl Moment {
    /// The time meant when the clock shows `now`; what lies outside years -9999 to 9999 is put at their ends.
    pub(crate) fn resolve(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(time) => time,
            Self::Before(ago) => now.saturating_sub(ago).unwrap_or(Timestamp::MIN),
            Self::After(ahead) => now.saturating_add(ahead).unwrap_or(Timestamp::MAX),
        }
    }
}

/// Reads `now`, `now-90m`, `now+1h`, RFC 3339, a date with or without a time of day, or seconds since 1970.
pub(crate) fn parse_moment(text: &str) -> Result<Moment, String> {
    if let Some(offset) = text.strip_prefix("now") {
        return relative(offset).ok_or_else(|| wrong(text));
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c.is_ascii_digit() || c == '.')
    {
        return unix(text).map(Moment::At);
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(Moment::At(time));
    }
    // Without an offset. A zone in brackets would be dropped without a word, so it is refused.
    let civil = text.parse::<DateTime>().ok().filter(|_| !text.contains('['));
    let time = civil.and_then(|civil| TimeZone::UTC.to_timestamp(civil).ok());
    time.map(Moment::At).ok_or_else(|| wrong(text))
}

fn relative(offset: &str) -> Option<Moment> {
    if let Some(ago) = offset.strip_prefix('-') {
        return Some(Moment::Before(parse_duration(ago).ok()?));
    }
    match offset.strip_prefix('+') {
        Some(ahead) => Some(Moment::After(parse_duration(ahead).ok()?)),
        None if offset.is_empty() => Some(Moment::After(Duration::ZERO)),
        None => None,
    }
}

fn unix(text: &str) -> Result<Timestamp, String> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let nanos = match fraction.len() {
        1..=9 => format!("{fraction:0<9}").parse().ok(),
        _ => None,
    };
    let (Ok(seconds), Some(nanos)) = (seconds.parse(), nanos) else {
        return Err(wrong(text));
    };
    Timestamp::new(seconds, nanos).map_err(|_| {
        format!("`{text}` is after the year 9999; a number means seconds since 1970, not milliseconds")
    })
}

fn wrong(text: &str) -> String {
    format!("`{text}` is not a time; write one such as 2026-05-11T23:42Z, 2026-05-11, now-90m or 1778542920")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let now = Timestamp::new(1_778_542_920, 123_456_789).unwrap();
        let shown = parse_moment(text).map(|moment| moment.resolve(now).to_string());
        assert_eq!(shown.as_deref(), Ok(expect), "{text}");
    }

    #[test]
    fn times_as_people_write_them() {
        check("2026-05-11T23:42Z", "2026-05-11T23:42:00Z");
        check("2026-05-11T23:42:01.123456789Z", "2026-05-11T23:42:01.123456789Z");
        check("2026-05-12T01:42:00.000000001+02:00", "2026-05-11T23:42:00.000000001Z");
        check("2026-05-11t23:42:00z", "2026-05-11T23:42:00Z");
        check("2026-05-11", "2026-05-11T00:00:00Z");
        check("2026-05-11 23:42", "2026-05-11T23:42:00Z");
        check("2026-05-11T23:42:00.5", "2026-05-11T23:42:00.5Z");
        check("1778542920", "2026-05-11T23:42:00Z");
        check("1778542920.000000001", "2026-05-11T23:42:00.000000001Z");
        check("1778542920.25", "2026-05-11T23:42:00.25Z");
        check("0", "1970-01-01T00:00:00Z");
        check("now", "2026-05-11T23:42:00.123456789Z");
        check("now-90m", "2026-05-11T22:12:00.123456789Z");
        check("now+1d500ms", "2026-05-12T23:42:00.623456789Z");
        check("now-10000w", "1834-09-15T23:42:00.123456789Z");
        check("now+315576000000s", &Timestamp::MAX.to_string());
    }

    #[test]
    fn what_is_no_time_is_refused_with_examples() {
        let wrong = [
            "",
            "yesterday",
            "now-",
            "now 1h",
            "now-1",
            "nowhere",
            "2026-13-01",
            "2026-05-11T25:00Z",
            "12:00",
            "1778542920.",
            "1.0000000001",
            "1.2.3",
            "2026-05-11T23:42[Europe/Berlin]",
            "-5",
            "99999999999999999999",
        ];
        for text in wrong {
            let said = parse_moment(text).unwrap_err();
            assert!(said.starts_with(&format!("`{text}` is not a time; write one such as ")), "{said}");
        }
        assert!(parse_moment("1778542920123").unwrap_err().contains("not milliseconds"));
    }
}
