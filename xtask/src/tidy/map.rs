//! ARCHITECTURE.md tells the truth: every path that it names exists, and every crate is named.

use super::Rule;
use super::finding::Finding;
use super::text::{Prose, has_word, markdown};
use super::tree::Tree;

const MAP: &str = "ARCHITECTURE.md";

/// What makes a word a path of this repository.
const TOPS: [&str; 8] = ["crates/", "docs/", "bench/", "proof/", "sim/", "xtask/", "dev/", ".ci/"];

pub(crate) const RULE: Rule = Rule { name: "map", reason: "a map that goes stale is worse than none", find };

fn find(tree: &Tree) -> Vec<Finding> {
    let Some(map) = tree.get(MAP) else {
        return vec![Finding::new(MAP, 0, "there is no map", "write it: bird's eye, code map, invariants")];
    };
    let mut findings = Vec::new();
    for (at, prose) in markdown(map) {
        let code = match prose {
            Prose::Code(line) => vec![line],
            Prose::Text(pieces) => pieces.into_iter().skip(1).step_by(2).collect(),
        };
        for path in code.into_iter().flat_map(paths).filter(|path| !tree.has(path)) {
            findings.push(Finding::new(MAP, at, format!("`{path}` does not exist"), "correct the map"));
        }
    }
    for name in tree.directories("crates") {
        if !map.lines().any(|(_, line)| has_word(line, name)) {
            findings.push(Finding::new(
                MAP,
                0,
                format!("crates/{name} is not on the map"),
                "say what it is for",
            ));
        }
    }
    findings
}

/// The words that look like paths, without `:line` or `::item` and without closing punctuation. Patterns are left out.
fn paths(code: &str) -> impl Iterator<Item = &str> {
    let words = code.split(|c: char| c.is_whitespace() || "(),;|\"'".contains(c));
    let words = words.filter(|word| TOPS.iter().any(|top| word.starts_with(top)));
    words
        .filter(|word| !word.contains(['*', '<', '{', '$', '…']))
        .filter_map(|word| word.split(':').next())
        .map(|word| word.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::RULE;

    #[test]
    fn names_what_exists() {
        check(
            &RULE,
            "
-- ARCHITECTURE.md --
The `a` crate: `crates/a/src/lib.rs:12`, `crates/a/`, `crates/*/src`, `bench/gone.rs` and crates/prose/is/free.
```
crates/a     good
docs/gone.   bad
```
`crates/a/src/lib.rs::item` b-c
-- crates/a/src/lib.rs --
-- crates/b/src/lib.rs --"
                .trim_start(),
            "
ARCHITECTURE.md:1: crates/b is not on the map (map) - say what it is for
ARCHITECTURE.md:1: `bench/gone.rs` does not exist (map) - correct the map
ARCHITECTURE.md:4: `docs/gone` does not exist (map) - correct the map",
        );
        check(
            &RULE,
            "-- a --",
            "ARCHITECTURE.md:1: there is no map (map) - write it: bird's eye, code map, invariants",
        );
    }
}
