//! What was found, and what to do about it.

use crate::failure::Failure;
use crate::output::{Json, Record, value};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// As it should be.
    Ok,
    /// Works, or may soon not.
    Warn,
    /// Does not work.
    Fail,
}

impl Level {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "FAIL",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub level: Level,
    pub what: String,
    /// Empty where there is nothing to do.
    pub todo: String,
}

impl Finding {
    pub(crate) fn ok(what: impl Into<String>) -> Self {
        Self { level: Level::Ok, what: what.into(), todo: String::new() }
    }

    pub(crate) fn warn(what: impl Into<String>, todo: impl Into<String>) -> Self {
        Self { level: Level::Warn, what: what.into(), todo: todo.into() }
    }

    pub(crate) fn fail(what: impl Into<String>, todo: impl Into<String>) -> Self {
        Self { level: Level::Fail, what: what.into(), todo: todo.into() }
    }

    /// `FAIL  what  -> what to do`, whole: a line that is cut helps nobody.
    pub(crate) fn line(&self) -> String {
        let arrow = if self.todo.is_empty() { "" } else { "  -> " };
        let Self { level, what, todo } = self;
        format!("{:<4}  {}{arrow}{}\n", level.as_str(), value::printable(what), value::printable(todo))
    }
}

/// A finding in a list for programs.
#[derive(Debug)]
pub(crate) struct FindingRecord<'a>(pub &'a Finding);

#[derive(serde::Serialize)]
struct Object<'a> {
    level: &'a str,
    what: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    todo: &'a str,
}

impl Record for FindingRecord<'_> {
    const COLUMNS: &'static [&'static str] = &["LEVEL", "WHAT", "WHAT TO DO"];
    const FIELDS: &'static [&'static str] = &["level", "what", "todo"];

    fn row(&self) -> Vec<String> {
        let Finding { level, what, todo } = self.0;
        [level.as_str(), what, todo].map(|text| value::printable(text).into_owned()).to_vec()
    }

    fn lines(&self) -> Vec<Vec<String>> {
        vec![vec![self.0.level.as_str().to_owned(), self.0.what.clone(), self.0.todo.clone()]]
    }

    fn json(&self, _: &Json) -> Result<Vec<u8>, Failure> {
        let Finding { level, what, todo } = self.0;
        serde_json::to_vec(&Object { level: level.as_str(), what, todo })
            .map_err(|error| Failure::Other(format!("a finding cannot be shown: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_and_what_to_do() {
        assert_eq!(Finding::ok("fine").line(), "ok    fine\n");
        assert_eq!(Finding::warn("low", "free some").line(), "warn  low  -> free some\n");
        assert_eq!(Finding::fail("bad\x1b", "mend it").line(), "FAIL  bad\\u{1b}  -> mend it\n");
        let finding = Finding::fail("bad", "mend it");
        let json = FindingRecord(&finding).json(&Json::new().unwrap()).unwrap();
        assert_eq!(json, br#"{"level":"FAIL","what":"bad","todo":"mend it"}"#);
        let json = FindingRecord(&Finding::ok("x")).json(&Json::new().unwrap()).unwrap();
        assert_eq!(json, br#"{"level":"ok","what":"x"}"#);
    }
}
