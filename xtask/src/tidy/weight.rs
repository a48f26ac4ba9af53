//! No file over 1 MiB.

use super::Rule;
use super::finding::Finding;
use super::tree::Tree;

const MOST_BYTES: usize = 1 << 20;

pub(crate) const RULE: Rule = Rule {
    name: "weight",
    reason: "what is committed is cloned by everyone for ever, also after it was deleted",
    find,
};

fn find(tree: &Tree) -> Vec<Finding> {
    let heavy = tree.files().iter().filter(|file| file.bytes > MOST_BYTES);
    heavy
        .map(|file| {
            let what = format!("{} bytes, over {MOST_BYTES}", file.bytes);
            Finding::new(&file.path, 0, what, "generate it where it is needed, or cut it down")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::RULE;

    #[test]
    fn heavy_files_are_found() {
        let line = "x".repeat((1 << 20) - 1);
        check(&RULE, &format!("-- a --\n{line}"), "");
        let expect =
            "a:1: 1048577 bytes, over 1048576 (weight) - generate it where it is needed, or cut it down";
        check(&RULE, &format!("-- a --\n{line}x"), expect);
    }
}
