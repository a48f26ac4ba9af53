//! `lib.rs` and `mod.rs` hold docs, modules in reading order and re-exports. A short function is let pass, so that a
//! small impl needs no file of its own.
//!
//! Leans on rustfmt: a body ends at the first line that closes at the indent where its function began.

use super::Rule;
use super::finding::Finding;
use super::text::tests_start;
use super::tree::{File, Tree};

const MOST_BODY_LINES: usize = 10;

pub(crate) const RULE: Rule = Rule {
    name: "no-logic",
    reason: "lib.rs and mod.rs are tables of contents; behaviour goes where its name says",
    find,
};

fn find(tree: &Tree) -> Vec<Finding> {
    let roots = tree.rust().filter(|file| matches!(file.name(), "lib.rs" | "mod.rs"));
    roots.flat_map(long_functions).collect()
}

fn long_functions(file: &File) -> Vec<Finding> {
    let end = tests_start(file).unwrap_or(usize::MAX);
    let lines: Vec<(usize, &str)> = file.lines().take_while(|(at, _)| *at < end).collect();
    let starts = lines.iter().enumerate().filter(|(_, (_, line))| starts_function(line));
    starts
        .filter_map(|(index, (at, line))| {
            let body = body_lines(line, lines.get(index..)?)?;
            let what = format!("a function of {body} lines, over {MOST_BODY_LINES}");
            (body > MOST_BODY_LINES)
                .then(|| Finding::new(&file.path, *at, what, "move it to a file named after it"))
        })
        .collect()
}

fn starts_function(line: &str) -> bool {
    let mut words = line.trim_start().split(' ');
    let qualifier = |word: &&str| matches!(*word, "const" | "async" | "unsafe") || word.starts_with("pub");
    words.by_ref().find(|word| !qualifier(word)) == Some("fn")
}

/// Lines between the braces. None for a declaration without a body, or a body on one line.
fn body_lines(first: &str, lines: &[(usize, &str)]) -> Option<usize> {
    let indent = first.len() - first.trim_start().len();
    let open = lines
        .iter()
        .position(|(_, line)| line.ends_with('{') || line.ends_with(';') || line.ends_with('}'))?;
    if !lines.get(open)?.1.ends_with('{') {
        return None;
    }
    let closes =
        |line: &str| line.len() - line.trim_start().len() == indent && line.trim_start().starts_with('}');
    lines.get(open + 1..)?.iter().position(|(_, line)| closes(line))
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::RULE;

    fn function(head: &str, body_lines: usize) -> String {
        format!("{head}\n{}}}\n", "    a();\n".repeat(body_lines))
    }

    #[test]
    fn long_bodies_are_found_only_in_roots() {
        let long = function("pub(crate) async fn a() {", 11);
        let expect = "(no-logic) - move it to a file named after it";
        check(
            &RULE,
            &format!("-- a/lib.rs --\n{long}"),
            &format!("a/lib.rs:1: a function of 11 lines, over 10 {expect}"),
        );
        check(&RULE, &format!("-- a/other.rs --\n{long}"), "");
        check(&RULE, &format!("-- a/lib.rs --\nmod tests {{\n{long}}}\n"), "");
        let wrapped = function("fn a(\n    b: u8,\n) -> u8 {", 12);
        check(
            &RULE,
            &format!("-- mod.rs --\n//!\n{wrapped}"),
            &format!("mod.rs:2: a function of 12 lines, over 10 {expect}"),
        );
    }

    #[test]
    fn short_bodies_and_declarations_pass() {
        check(&RULE, &format!("-- a/lib.rs --\n{}", function("fn a() {", 10)), "");
        let declared =
            format!("fn a();\nfn b() {{}}\n/// fn c() {{\nstruct D {{\n{}}}\n", "    e: u8,\n".repeat(20));
        check(&RULE, &format!("-- a/lib.rs --\n{declared}"), "");
    }
}
