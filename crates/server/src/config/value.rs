//! A value that was given, the place it is meant for, and the words for both: how a size, a duration or a level is
//! read, refused and shown. Knows no key and no layer.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use store_cassandra::SourceChoice;

use super::forms::{self, Form};
use super::queue::QueueBackend;
use super::settings::{Backend, Level, LogFormat, Role};
use super::units::{duration, duration_text, size, size_text};

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
    /// A list in the file, as written, with its texts if it has nothing else.
    List(String, Option<Vec<String>>),
    /// A table in the file.
    Table(Vec<(String, Value)>),
    /// What no setting takes, as written or in words.
    Other(String),
}

/// Where a value goes, and between which bounds.
pub(super) enum Place<'c> {
    Address(&'c mut SocketAddr),
    Switch(&'c mut bool),
    Path(&'c mut PathBuf),
    /// A path, or none.
    File(&'c mut PathBuf),
    Text(&'c mut String, Form),
    Nodes(&'c mut Vec<String>),
    Replicas(&'c mut BTreeMap<String, usize>),
    Source(&'c mut SourceChoice),
    Count(&'c mut usize, RangeInclusive<usize>),
    Size(&'c mut u64, RangeInclusive<u64>),
    Time(&'c mut Duration, RangeInclusive<Duration>),
    Backend(&'c mut Backend),
    Queue(&'c mut QueueBackend),
    Roles(&'c mut BTreeSet<Role>),
    Properties(&'c mut BTreeMap<String, String>),
    Level(&'c mut Level),
    Format(&'c mut LogFormat),
}

impl Value {
    /// The characters of a string, a variable or a flag.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Word(text) | Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A whole number. A string in the file is none, even if it has only digits.
    pub(super) fn number(&self) -> Option<u64> {
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
            Self::Integer(text, _) | Self::List(text, _) | Self::Other(text) => {
                out.write_str(&shortened(text))
            }
            Self::Switch(on) => write!(out, "{on}"),
            Self::Table(entries) if entries.is_empty() => out.write_str("an empty table"),
            Self::Table(entries) => {
                let entry = |(name, value): &(String, Self)| format!("{} = {value}", forms::key_text(name));
                let entries: Vec<String> = entries.iter().map(entry).collect();
                out.write_str(&shortened(&format!("{{{}}}", entries.join(", "))))
            }
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
            Self::Path(place) => put(place, path(value).filter(|path| !path.as_os_str().is_empty())),
            Self::File(place) => put(place, path(value)),
            Self::Text(place, form) => {
                put(place, value.text().filter(|text| (form.legal)(text)).map(str::to_owned))
            }
            Self::Nodes(place) => put(place, forms::nodes(value)),
            Self::Replicas(place) => put(place, forms::replicas(value)),
            Self::Source(place) => put(place, one_of(SourceChoice::ALL, SourceChoice::as_str, value)),
            Self::Count(place, range) => {
                let count = value.number().and_then(|number| usize::try_from(number).ok());
                put(place, count.filter(|count| range.contains(count)))
            }
            Self::Size(place, range) => put(place, size(value).filter(|size| range.contains(size))),
            Self::Time(place, range) => put(place, duration(value).filter(|time| range.contains(time))),
            Self::Backend(place) => put(place, one_of(Backend::ALL, Backend::as_str, value)),
            Self::Queue(place) => put(place, one_of(QueueBackend::ALL, QueueBackend::as_str, value)),
            Self::Roles(place) => put(place, roles(value)),
            Self::Properties(place) => put(place, forms::properties(value)),
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
            (Self::Address(_), _) => format!(r#"give {allowed}, as "127.0.0.1:7420" or "[::1]:7420""#),
            (Self::Size(..), _) => format!(r#"give {allowed}, as "256MiB", "10MB" or a number of bytes"#),
            (Self::Time(..), _) => {
                format!(r#"give {allowed}, as "500ms", "1m 30s" or a whole number of seconds"#)
            }
            (Self::Nodes(_), Value::Word(_)) => format!("give {allowed}, as 10.0.0.1:9042,10.0.0.2:9042"),
            (Self::Nodes(_), _) => format!(r#"give {allowed}, as ["10.0.0.1:9042", "10.0.0.2:9042"]"#),
            (Self::Properties(_), Value::Word(_)) => {
                format!("give {allowed}, as security.protocol=ssl,linger.ms=5")
            }
            (Self::Properties(_), _) => format!(r#"give {allowed}, as {{"security.protocol" = "ssl"}}"#),
            (Self::Replicas(_), Value::Word(_)) => format!("give {allowed}, as dc1=3,dc2=2"),
            (Self::Replicas(_), _) => format!("give {allowed}, as {{dc1 = 3, dc2 = 2}}"),
            _ => format!("give {allowed}"),
        }
    }

    /// What was given, unless it may hold what nobody should see.
    pub(super) fn repeated(&self, value: &Value) -> String {
        match self {
            Self::Properties(_) => "not as it should be".to_owned(),
            _ => value.to_string(),
        }
    }

    /// What may be given.
    pub(super) fn allowed(&self) -> String {
        match self {
            Self::Address(_) => "an IP address with a port".to_owned(),
            Self::Switch(_) => "true or false".to_owned(),
            Self::Path(_) => "a path that is not empty".to_owned(),
            Self::File(_) => r#"the path of a file, or "" for none"#.to_owned(),
            Self::Text(_, form) => form.allowed.to_owned(),
            Self::Nodes(_) => forms::NODES_ALLOWED.to_owned(),
            Self::Replicas(_) => forms::REPLICAS_ALLOWED.to_owned(),
            Self::Source(_) => listed(SourceChoice::ALL, SourceChoice::as_str),
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
            Self::Queue(_) => listed(QueueBackend::ALL, QueueBackend::as_str),
            Self::Roles(_) => format!("a list of {}, each once", listed(Role::ALL, Role::as_str)),
            Self::Properties(_) => forms::PROPERTIES_ALLOWED.to_owned(),
            Self::Level(_) => listed(Level::ALL, Level::as_str),
            Self::Format(_) => listed(LogFormat::ALL, LogFormat::as_str),
        }
    }

    /// The value here, as TOML writes it; giving that again changes nothing.
    pub(super) fn show(&self) -> String {
        match self {
            Self::Address(place) => quoted(&place.to_string()),
            Self::Switch(place) => place.to_string(),
            Self::Path(place) | Self::File(place) => quoted(&place.to_string_lossy()),
            Self::Text(place, _) => quoted(place),
            Self::Nodes(place) => forms::nodes_text(place),
            Self::Replicas(place) => forms::replicas_text(place),
            Self::Source(place) => quoted(place.as_str()),
            Self::Count(place, _) => place.to_string(),
            Self::Size(place, _) => {
                let text = size_text(**place);
                if digits(&text).is_some() { text } else { quoted(&text) }
            }
            Self::Time(place, _) => quoted(&duration_text(**place)),
            Self::Backend(place) => quoted(place.as_str()),
            Self::Queue(place) => quoted(place.as_str()),
            Self::Roles(place) => {
                let names: Vec<String> = place.iter().map(|role| quoted(role.as_str())).collect();
                format!("[{}]", names.join(", "))
            }
            Self::Properties(place) => forms::properties_text(place),
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
    match value {
        Value::Path(path) => Some(path.clone()),
        value => value.text().map(PathBuf::from),
    }
}

/// Only digits: Rust's own parser also takes a plus sign.
pub(super) fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn one_of<T: Copy, const N: usize>(all: [T; N], name: fn(T) -> &'static str, value: &Value) -> Option<T> {
    let text = value.text()?;
    all.into_iter().find(|one| name(*one) == text)
}

/// A list in the file, separated by commas in a variable.
fn roles(value: &Value) -> Option<BTreeSet<Role>> {
    let names: Vec<String> = match value {
        Value::List(_, texts) => texts.clone()?,
        Value::Word(word) => word.split(',').map(|name| name.trim().to_owned()).collect(),
        _ => return None,
    };
    let count = names.len();
    let role = |name: String| Role::ALL.into_iter().find(|role| role.as_str() == name);
    let roles: BTreeSet<Role> = names.into_iter().map(role).collect::<Option<_>>()?;
    (count > 0 && roles.len() == count).then_some(roles)
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
