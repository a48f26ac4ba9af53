//! A value that was given, the place it is meant for, and the words for both: how a size, a duration or a level is
//! read, refused and shown. Knows no key and no layer.

use std::fmt;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use jiff::fmt::friendly::{SpanParser, SpanPrinter};

use super::settings::{Backend, Level, LogFormat};

/// Characters of a value or a name that a message repeats.
const SHOWN_CHARS: usize = 60;

/// What was given. Types are those of TOML; what a flag or a variable gives has none yet.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// From a variable or a flag.
    Word(String),
    /// A path from a flag, which need not be UTF-8.
    Path(PathBuf),
    /// A string in the file.
    Text(String),
    /// An integer in the file, as written, with its value if that is not negative and fits.
    Integer(String, Option<u64>),
    /// A boolean in the file.
    Switch(bool),
    /// What no setting takes, as written or in words.
    Other(String),
}

/// Where a value goes, and between which bounds.
pub(super) enum Place<'c> {
    Address(&'c mut SocketAddr),
    Switch(&'c mut bool),
    Path(&'c mut PathBuf),
    Count(&'c mut usize, RangeInclusive<usize>),
    Size(&'c mut u64, RangeInclusive<u64>),
    Time(&'c mut Duration, RangeInclusive<Duration>),
    Backend(&'c mut Backend),
    Level(&'c mut Level),
    Format(&'c mut LogFormat),
}

impl Value {
    /// The characters of a string, a variable or a flag.
    fn text(&self) -> Option<&str> {
        match self {
            Self::Word(text) | Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A whole number. A string in the file is none, even if it has only digits.
    fn number(&self) -> Option<u64> {
        match self {
            Self::Integer(_, value) => *value,
            Self::Word(word) => digits(word),
            _ => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(text) | Self::Text(text) => out.write_str(&quoted(&shortened(text))),
            Self::Path(path) => out.write_str(&quoted(&shortened(&path.to_string_lossy()))),
            Self::Integer(text, _) | Self::Other(text) => out.write_str(&shortened(text)),
            Self::Switch(on) => write!(out, "{on}"),
        }
    }
}

impl Place<'_> {
    /// Takes `value`, or says what to give instead and stays as it was.
    pub(super) fn set(self, value: &Value) -> Result<(), String> {
        let refusal = self.refusal(value);
        let taken = match self {
            Self::Address(place) => put(place, value.text().and_then(|text| text.parse().ok())),
            Self::Switch(place) => put(place, switch(value)),
            Self::Path(place) => put(place, path(value)),
            Self::Count(place, range) => {
                let count = value.number().and_then(|number| usize::try_from(number).ok());
                put(place, count.filter(|count| range.contains(count)))
            }
            Self::Size(place, range) => put(place, size(value).filter(|size| range.contains(size))),
            Self::Time(place, range) => put(place, duration(value).filter(|time| range.contains(time))),
            Self::Backend(place) => put(place, one_of(Backend::ALL, Backend::as_str, value)),
            Self::Level(place) => put(place, one_of(Level::ALL, Level::as_str, value)),
            Self::Format(place) => put(place, one_of(LogFormat::ALL, LogFormat::as_str, value)),
        };
        if taken { Ok(()) } else { Err(refusal) }
    }

    /// What to do instead of giving `value`.
    fn refusal(&self, value: &Value) -> String {
        let allowed = self.allowed();
        match (self, value) {
            (Self::Count(..) | Self::Switch(_), Value::Text(_)) => format!("give {allowed}, without quotes"),
            (Self::Backend(_), value) if value.text() == Some("cassandra") => {
                format!("it is not built in yet, use {allowed}")
            }
            (Self::Address(_), _) => format!(r#"give {allowed}, as "127.0.0.1:7420" or "[::1]:7420""#),
            (Self::Size(..), _) => format!(r#"give {allowed}, as "256MiB", "10MB" or a number of bytes"#),
            (Self::Time(..), _) => {
                format!(r#"give {allowed}, as "500ms", "1m 30s" or a whole number of seconds"#)
            }
            _ => format!("give {allowed}"),
        }
    }

    /// What may be given.
    pub(super) fn allowed(&self) -> String {
        match self {
            Self::Address(_) => "an IP address with a port".to_owned(),
            Self::Switch(_) => "true or false".to_owned(),
            Self::Path(_) => "a path that is not empty".to_owned(),
            Self::Count(_, range) => format!("a whole number from {} to {}", range.start(), range.end()),
            Self::Size(_, range) => {
                format!("a size from {} to {}", size_text(*range.start()), size_text(*range.end()))
            }
            Self::Time(_, range) => {
                format!(
                    "a duration from {} to {}",
                    duration_text(*range.start()),
                    duration_text(*range.end())
                )
            }
            Self::Backend(_) => listed(Backend::ALL, Backend::as_str),
            Self::Level(_) => listed(Level::ALL, Level::as_str),
            Self::Format(_) => listed(LogFormat::ALL, LogFormat::as_str),
        }
    }

    /// The value here, as TOML writes it; giving that again changes nothing.
    pub(super) fn show(&self) -> String {
        match self {
            Self::Address(place) => quoted(&place.to_string()),
            Self::Switch(place) => place.to_string(),
            Self::Path(place) => quoted(&place.to_string_lossy()),
            Self::Count(place, _) => place.to_string(),
            Self::Size(place, _) => {
                let text = size_text(**place);
                if digits(&text).is_some() { text } else { quoted(&text) }
            }
            Self::Time(place, _) => quoted(&duration_text(**place)),
            Self::Backend(place) => quoted(place.as_str()),
            Self::Level(place) => quoted(place.as_str()),
            Self::Format(place) => quoted(place.as_str()),
        }
    }
}

fn put<T>(place: &mut T, value: Option<T>) -> bool {
    value.map(|value| *place = value).is_some()
}

fn switch(value: &Value) -> Option<bool> {
    match value {
        Value::Switch(on) => Some(*on),
        Value::Word(word) => word.parse().ok(),
        _ => None,
    }
}

fn path(value: &Value) -> Option<PathBuf> {
    let path = match value {
        Value::Path(path) => path.clone(),
        value => PathBuf::from(value.text()?),
    };
    (!path.as_os_str().is_empty()).then_some(path)
}

/// Only digits: Rust's own parser also takes a plus sign.
fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

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
fn size(value: &Value) -> Option<u64> {
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
fn size_text(bytes: u64) -> String {
    let whole = |(_, factor): &&(&str, u64)| bytes > 0 && bytes.is_multiple_of(*factor);
    match UNITS.iter().take(4).find(whole) {
        Some((unit, factor)) => format!("{}{unit}", bytes / factor),
        None => bytes.to_string(),
    }
}

/// Fixed units only: jiff refuses days and longer here, because they have no fixed length.
fn duration(value: &Value) -> Option<Duration> {
    match value.text() {
        Some(text) if digits(text).is_none() => SpanParser::new().parse_unsigned_duration(text).ok(),
        Some(text) => digits(text).map(Duration::from_secs),
        None => value.number().map(Duration::from_secs),
    }
}

fn duration_text(time: Duration) -> String {
    SpanPrinter::new().unsigned_duration_to_string(&time)
}

fn one_of<T: Copy, const N: usize>(all: [T; N], name: fn(T) -> &'static str, value: &Value) -> Option<T> {
    let text = value.text()?;
    all.into_iter().find(|one| name(*one) == text)
}

fn listed<T, const N: usize>(all: [T; N], name: fn(T) -> &'static str) -> String {
    let mut names: Vec<String> = all.into_iter().map(|one| quoted(name(one))).collect();
    let last = names.pop().unwrap_or_default();
    if names.is_empty() { last } else { format!("{} or {last}", names.join(", ")) }
}

/// A string as TOML writes it.
pub(super) fn quoted(text: &str) -> String {
    let mut literal = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => literal.extend(['\\', c]),
            '\n' => literal.push_str("\\n"),
            '\t' => literal.push_str("\\t"),
            c if c.is_control() => literal.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => literal.push(c),
        }
    }
    literal.push('"');
    literal
}

/// Short enough for one line of a message.
pub(super) fn shortened(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}...", line.get(..end).unwrap_or(&line)),
        None => line,
    }
}
