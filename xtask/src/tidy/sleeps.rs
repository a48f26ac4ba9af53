//! Tests do not sleep. Clippy bans the calls elsewhere; a test could still expect the lint away, so it is held here.

use super::Rule;
use super::finding::Finding;
use super::text::{is_test_file, tests_start};
use super::tree::{File, Tree};

/// Spelt in two halves, so that this file is clean.
const SLEEPS: [&str; 2] = [concat!("thread::", "sleep"), concat!("tokio::time::", "sleep")];

pub(crate) const RULE: Rule = Rule {
    name: "sleeps",
    reason: "a sleep is a guess: too short it fails at random, too long it is paid by everyone, every run",
    find,
};

fn find(tree: &Tree) -> Vec<Finding> {
    tree.rust().flat_map(in_tests).collect()
}

fn in_tests(file: &File) -> Vec<Finding> {
    let start = if is_test_file(&file.path) { 0 } else { tests_start(file).unwrap_or(usize::MAX) };
    let lines = file.lines().filter(|(at, _)| *at >= start);
    lines
        .filter_map(|(at, line)| {
            let call = SLEEPS.iter().find(|call| line.contains(**call))?;
            let cure = "drive env's manual clock, or wait on a channel for the event itself";
            Some(Finding::new(&file.path, at, format!("`{call}` in a test"), cure))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::RULE;

    #[test]
    fn only_tests_are_judged() {
        check(
            &RULE,
            "
-- crates/a/src/a.rs --
tokio::time::s~leep(d).await;
mod tests {
    std::thread::s~leep(d);
}
-- crates/a/tests/b.rs --
use tokio::time::s~leep;
clock.sleep(d).await;"
                .trim_start(),
            "
crates/a/src/a.rs:3: `thread::s~leep` in a test (sleeps) - drive env's manual clock, or wait on a channel for the event itself
crates/a/tests/b.rs:1: `tokio::time::s~leep` in a test (sleeps) - drive env's manual clock, or wait on a channel for the event itself",
        );
    }
}
