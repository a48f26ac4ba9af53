//! File, environment and flags, each turned into what it gives: a list of keys with a value and an origin, and of
//! mistakes about names. Values are not read here. The order is that of the source, so that messages follow it.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{KEYS, Key, PREFIX, keys_of, sections, variable};
use super::nearest::{Advice, advise, near_section};
use super::value::{Value, shortened};

/// The flags of `braid serve`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--config FILE`: the file to read.
    pub config: Option<PathBuf>,
    /// `--data DIR`: the data directory.
    pub data: Option<PathBuf>,
    /// `--listen ADDR`: address and port.
    pub listen: Option<String>,
}

/// A flag that sets a key.
pub(super) struct Flag {
    pub(super) name: &'static str,
    pub(super) value: fn(&Flags) -> Option<Value>,
}

/// Where a value comes from, if it is not the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    File(PathBuf, usize),
    Variable(String),
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path, line) => write!(out, "{}:{line}", path.display()),
            Self::Variable(name) => out.write_str(name),
            Self::Flag(name) => out.write_str(name),
        }
    }
}

/// A key that was given a value.
pub(super) struct Given {
    pub(super) key: &'static Key,
    pub(super) value: Value,
    pub(super) origin: Origin,
}

/// A key that was given a value, or the message that there is no such key.
pub(super) type Found = Result<Given, String>;

/// What the file gives. Where it is no TOML, only that is reported: the rest of it cannot be trusted.
pub(super) fn from_file(path: &Path, text: &str) -> Vec<Found> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        let mut reader = FileReader { path, text, found: Vec::new() };
        reader.section("", table.get_ref());
        reader.found.sort_by_key(|(at, _)| *at);
        return reader.found.into_iter().map(|(_, found)| found).collect();
    }
    errors.iter().map(|error| Err(format!("{}:{}", path.display(), not_toml(text, error)))).collect()
}

/// What the environment gives. Variables that do not begin with `BRAID__` are none of our business.
pub(super) fn from_environment(variables: &[(String, String)]) -> Vec<Found> {
    let mut ours: Vec<_> = variables.iter().filter(|(name, _)| name.starts_with(PREFIX)).collect();
    // The system gives them in any order; a message should not change between two starts.
    ours.sort();
    let found = |(name, value): &(String, String)| {
        let key = KEYS.iter().find(|key| key.variable() == *name).ok_or_else(|| unknown_variable(name))?;
        Ok(Given { key, value: Value::Word(value.clone()), origin: Origin::Variable(name.clone()) })
    };
    ours.into_iter().map(found).collect()
}

/// What the flags give.
pub(super) fn from_flags(flags: &Flags) -> Vec<Found> {
    let given = |key: &'static Key| {
        let flag = key.flag.as_ref()?;
        Some(Ok(Given { key, value: (flag.value)(flags)?, origin: Origin::Flag(flag.name) }))
    };
    KEYS.iter().filter_map(given).collect()
}

fn unknown_variable(name: &str) -> String {
    let dotted = name.strip_prefix(PREFIX).unwrap_or(name).replace("__", ".").to_ascii_lowercase();
    let (section, leaf) = dotted.rsplit_once('.').unwrap_or(("", &dotted));
    let name = shortened(name);
    match advise(section, leaf) {
        Advice::Meant(key) => format!("{name}: no setting has this name; did you mean {}?", key.variable()),
        Advice::Keys(keys) => {
            let names: Vec<_> = keys.iter().map(|key| key.variable()).collect();
            format!("{name}: no setting has this name; of its section there are {}", names.join(", "))
        }
        Advice::Sections => {
            let names: Vec<_> = sections().into_iter().map(|section| variable(section) + "__*").collect();
            format!("{name}: no setting has this name; there are {}", names.join(", "))
        }
    }
}

struct FileReader<'t> {
    path: &'t Path,
    text: &'t str,
    /// With the place in the text, because the parser hands keys over in the order of the alphabet.
    found: Vec<(usize, Found)>,
}

impl FileReader<'_> {
    /// Calls itself for sections that exist, so it goes no deeper than those.
    fn section(&mut self, section: &str, table: &DeTable<'_>) {
        for (name, value) in table.iter() {
            let (at, leaf) = (name.span().start, name.get_ref().as_ref());
            let whole = if section.is_empty() { leaf.to_owned() } else { format!("{section}.{leaf}") };
            // A name in quotes may hold a dot; it is one name all the same.
            let inner = sections().contains(&whole.as_str()) && !leaf.contains('.');
            let line = position(self.text, at).0;
            if let Some(key) = keys_of(section).find(|key| key.leaf() == leaf) {
                let origin = Origin::File(self.path.to_owned(), line);
                self.found.push((at, Ok(Given { key, value: self.value(value), origin })));
                continue;
            }
            let mistake = match value.get_ref() {
                DeValue::Table(table) if inner => {
                    self.section(&whole, table);
                    continue;
                }
                _ if inner => format!("`{leaf}` is a section; write [{whole}] and its keys below"),
                DeValue::Table(_) => unknown_section(&whole),
                _ => unknown_key(section, leaf),
            };
            self.found.push((at, Err(format!("{}:{line}: {mistake}", self.path.display()))));
        }
    }

    fn value(&self, value: &Spanned<DeValue<'_>>) -> Value {
        match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(number) => Value::Integer(
                self.written(value.span()),
                u64::from_str_radix(number.as_str(), number.radix()).ok(),
            ),
            DeValue::Boolean(on) => Value::Switch(*on),
            DeValue::Array(items) => {
                let text = |item: &Spanned<DeValue<'_>>| Some(item.get_ref().as_str()?.to_owned());
                Value::List(self.written(value.span()), items.iter().map(text).collect())
            }
            DeValue::Table(entries) => {
                let entry = |(name, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
                    (ToString::to_string(name.get_ref()), self.value(value))
                };
                Value::Table(entries.iter().map(entry).collect())
            }
            DeValue::Float(_) | DeValue::Datetime(_) => Value::Other(self.written(value.span())),
        }
    }

    fn written(&self, span: Range<usize>) -> String {
        self.text.get(span).unwrap_or_default().to_owned()
    }
}

fn not_toml(text: &str, error: &toml::de::Error) -> String {
    let at = error.span().map_or(text.len(), |span| span.start);
    let (line, column) = position(text, at);
    // The parser takes a word without quotes for the beginning of `inf` or `true`, and says so.
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let bare = before.trim_end().ends_with('=') && after.starts_with(char::is_alphabetic);
    let hint = if bare { "; a string stands in quotes" } else { "" };
    format!("{line}:{column}: this is not valid TOML, correct it: {}{hint}", error.message())
}

fn unknown_section(whole: &str) -> String {
    let shown = shortened(whole);
    match near_section(whole) {
        Some(section) => format!("there is no section [{shown}]; did you mean [{section}]?"),
        None => format!("there is no section [{shown}]; {}", all_sections()),
    }
}

fn unknown_key(section: &str, leaf: &str) -> String {
    let shown = shortened(leaf);
    let problem = if section.is_empty() {
        format!("there is no key `{shown}` outside the sections")
    } else {
        format!("[{section}] has no key `{shown}`")
    };
    match advise(section, leaf) {
        Advice::Meant(key) if key.section() == section => {
            format!("{problem}; did you mean `{}`?", key.leaf())
        }
        Advice::Meant(key) => format!("{problem}; did you mean `{}` in [{}]?", key.leaf(), key.section()),
        Advice::Keys(keys) => {
            let names: Vec<_> = keys.iter().map(|key| format!("`{}`", key.leaf())).collect();
            format!("{problem}; it has {}", names.join(", "))
        }
        Advice::Sections => format!("{problem}; {}", all_sections()),
    }
}

fn all_sections() -> String {
    let names: Vec<_> = sections().into_iter().map(|section| format!("[{section}]")).collect();
    format!("the sections are {}", names.join(", "))
}

/// Line and column of a byte, both from 1; the column counts characters.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}
