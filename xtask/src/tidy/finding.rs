//! One fault: where, what, and what to do about it.

/// A breach of a rule. Ordered by place. Line 0 means the file as a whole and is shown as line 1.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    what: String,
    cure: String,
}

impl Finding {
    pub(crate) fn new(path: &str, line: usize, what: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into(), cure: cure.into() }
    }

    /// `path:line: what is wrong (rule) - what to do`, as editors and CI logs can follow it.
    pub(crate) fn line(&self, rule: &str) -> String {
        format!("{}:{}: {} ({rule}) - {}", self.path, self.line.max(1), self.what, self.cure)
    }
}
