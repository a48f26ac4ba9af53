//! Every Rust file opens with a `//!` doc: what lives here, what may not, the invariant.

use super::Rule;
use super::finding::Finding;
use super::tree::Tree;

const HOMES: [&str; 5] = ["crates/", "bench/", "proof/", "sim/", "xtask/"];

pub(crate) const RULE: Rule = Rule {
    name: "module-doc",
    reason: "the tree is the documentation: a reader should know from the first line whether this is the file",
    find,
};

fn find(tree: &Tree) -> Vec<Finding> {
    let ours = tree.rust().filter(|file| HOMES.iter().any(|home| file.path.starts_with(home)));
    let bare = ours.filter(|file| !file.text.as_ref().is_some_and(|text| text.starts_with("//! ")));
    bare.map(|file| {
        Finding::new(&file.path, 0, "no module doc", "open it with `//!`: what lives here, what may not")
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::RULE;

    #[test]
    fn the_first_line_is_a_doc() {
        check(
            &RULE,
            "
-- crates/a/src/good.rs --
//! What lives here.
-- crates/a/src/late.rs --
use b;
//! Late.
-- crates/a/tests/empty.rs --
-- elsewhere/a.rs --
fn a() {}"
                .trim_start(),
            "
crates/a/src/late.rs:1: no module doc (module-doc) - open it with `//!`: what lives here, what may not
crates/a/tests/empty.rs:1: no module doc (module-doc) - open it with `//!`: what lives here, what may not",
        );
    }
}
