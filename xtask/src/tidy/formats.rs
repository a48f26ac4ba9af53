//! Everything persisted is documented: each file of the embedded store's keys is named on a page of docs/formats.

use super::Rule;
use super::finding::Finding;
use super::text::has_word;
use super::tree::{File, Tree};

const KEYS: &str = "crates/store-embedded/src/keys/";
const PAGES: &str = "docs/formats/";
/// Files there that hold no format: the table of contents, and tests.
const NOT_KINDS: [&str; 3] = ["mod.rs", "tests.rs", "golden.rs"];

pub(crate) const RULE: Rule = Rule {
    name: "formats",
    reason: "what is on disk outlives the code that wrote it, and is read by people who do not have that code",
    find,
};

fn find(tree: &Tree) -> Vec<Finding> {
    let pages: Vec<&File> = tree
        .files()
        .iter()
        .filter(|file| file.path.starts_with(PAGES) && file.path.ends_with(".md"))
        .collect();
    let kinds = tree.rust().filter(|file| file.path.starts_with(KEYS) && !NOT_KINDS.contains(&file.name()));
    kinds
        .filter(|kind| !pages.iter().any(|page| page.lines().any(|(_, line)| has_word(line, kind.name()))))
        .map(|kind| {
            let cure = format!("describe it on a page of {PAGES} and name {} there", kind.name());
            Finding::new(&kind.path, 0, "a persisted format without a page", cure)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::RULE;

    #[test]
    fn every_key_kind_has_a_page() {
        check(
            &RULE,
            "
-- crates/store-embedded/src/keys/mod.rs --
-- crates/store-embedded/src/keys/golden.rs --
-- crates/store-embedded/src/keys/row.rs --
-- crates/store-embedded/src/keys/meta.rs --
-- docs/formats/keys.md --
Rows: `keys/row.rs`. Not the same: `submeta.rs`.
-- docs/other.md --
meta.rs"
                .trim_start(),
            "crates/store-embedded/src/keys/meta.rs:1: a persisted format without a page (formats) - \
             describe it on a page of docs/formats/ and name meta.rs there",
        );
    }
}
