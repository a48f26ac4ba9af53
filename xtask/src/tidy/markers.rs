//! Nothing unfinished is kept: no skipped tests, no placeholders, no notes to self in code.

use super::Rule;
use super::finding::Finding;
use super::text::has_word;
use super::tree::{File, Tree};

/// Spelt in two halves, so that this file is clean.
const PLACEHOLDERS: [&str; 3] =
    [concat!("#[", "ignore"), concat!("to", "do!"), concat!("unimpl", "emented!")];
const NOTES: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];

pub(crate) const RULE: Rule = Rule {
    name: "markers",
    reason: "a note in the code is read by nobody who could act on it; an issue is",
    find,
};

fn find(tree: &Tree) -> Vec<Finding> {
    let code = tree.files().iter().filter(|file| is_code(file));
    code.flat_map(|file| file.lines().filter_map(|(at, line)| judge(&file.path, at, line))).collect()
}

/// Rust, Python and shell, the last also without a suffix.
fn is_code(file: &File) -> bool {
    let suffix = [".rs", ".py", ".sh"].iter().any(|suffix| file.path.ends_with(suffix));
    suffix || file.text.as_ref().is_some_and(|text| text.starts_with("#!/"))
}

fn judge(path: &str, at: usize, line: &str) -> Option<Finding> {
    if let Some(found) = PLACEHOLDERS.iter().find(|found| line.contains(**found)) {
        return Some(Finding::new(path, at, format!("`{found}`"), "finish it or take it out"));
    }
    let note = NOTES.iter().find(|note| has_word(line, note))?;
    Some(Finding::new(path, at, format!("`{note}`"), "do it now, or open an issue and take the note out"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::RULE;

    #[test]
    fn unfinished_things_are_found() {
        check(
            &RULE,
            "
-- a.rs --
#[~ignore = \"slow\"]
to~do!()
// T~ODO: later
// mktemp /tmp/X~XXXXX is not one
-- b.md --
T~ODO in prose is free
-- dev/run --
#!/bin/sh
# F~IXME"
                .trim_start(),
            "
a.rs:1: `#[~ignore` (markers) - finish it or take it out
a.rs:2: `to~do!` (markers) - finish it or take it out
a.rs:3: `T~ODO` (markers) - do it now, or open an issue and take the note out
dev/run:2: `F~IXME` (markers) - do it now, or open an issue and take the note out",
        );
    }
}
