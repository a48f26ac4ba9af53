//! Tests as data: files in, lines out. A `~` vanishes from both, so that a test can spell what a rule forbids.

use super::tree::{File, Tree};
use super::{Rule, report};

/// Reads `input` as files, each under a line `-- path --`, and compares the rule's findings with `expect`, a line each.
#[track_caller]
pub(crate) fn check(rule: &Rule, input: &str, expect: &str) {
    check_found(report(rule, &tree(input)), expect);
}

/// The same comparison for findings got another way.
#[track_caller]
pub(crate) fn check_found(found: Vec<String>, expect: &str) {
    let lines = |text: &str| text.trim().lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    assert_eq!(found, lines(&expect.replace('~', "")));
}

pub(crate) fn tree(input: &str) -> Tree {
    let mut files: Vec<(String, String)> = Vec::new();
    for line in input.replace('~', "").lines() {
        match line.strip_prefix("-- ").and_then(|rest| rest.strip_suffix(" --")) {
            Some(path) => files.push((path.to_owned(), String::new())),
            None => {
                let (_, text) = files.last_mut().expect("input starts with a path");
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    Tree::new(files.into_iter().map(|(path, text)| File::new(path, text.into_bytes())).collect())
}
