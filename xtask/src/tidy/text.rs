//! Reading source and prose without a parser: words, markdown code, where a Rust file turns into tests.

use super::tree::File;

/// Whether `word` stands in `line` with no letter, digit, `_` or `-` on either side.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + word.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

/// Whether the whole file is test code: `tests.rs`, or anything under a `tests` directory.
pub(crate) fn is_test_file(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.split('/').any(|part| part == "tests")
}

/// The line at which the module of tests opens; the house puts it last.
pub(crate) fn tests_start(file: &File) -> Option<usize> {
    file.lines().find(|(_, line)| line.trim_start().starts_with("mod tests {")).map(|(at, _)| at)
}

/// A line of markdown, told apart.
pub(crate) enum Prose<'a> {
    /// Inside a fenced block.
    Code(&'a str),
    /// Outside, cut at backticks: every second piece is inline code.
    Text(Vec<&'a str>),
}

/// The lines of a markdown file with their numbers; the fences themselves are left out.
pub(crate) fn markdown(file: &File) -> Vec<(usize, Prose<'_>)> {
    let mut fenced = false;
    let mut prose = Vec::new();
    for (at, line) in file.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            prose.push((at, Prose::Code(line)));
        } else {
            prose.push((at, Prose::Text(line.split('`').collect())));
        }
    }
    prose
}

#[cfg(test)]
mod tests {
    use super::has_word;

    #[track_caller]
    fn check(line: &str, word: &str, expect: bool) {
        assert_eq!(has_word(line, word), expect, "{word:?} in {line:?}");
    }

    #[test]
    fn a_word_has_edges() {
        check("a store here", "store", true);
        check("`store`", "store", true);
        check("store-embedded, store", "store", true);
        check("store-embedded", "store", false);
        check("restore", "store", false);
        check("mémstore", "store", false);
    }
}
