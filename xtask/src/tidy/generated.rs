//! Only sources are committed: no build output, and nothing binary except the goldens of old formats and pictures.

use super::Rule;
use super::finding::Finding;
use super::tree::{File, Tree};

const OUTPUT_DIRECTORIES: [&str; 5] = ["target", "node_modules", "__pycache__", ".venv", ".pytest_cache"];
const OUTPUT_SUFFIXES: [&str; 12] =
    [".a", ".class", ".d", ".jar", ".o", ".orig", ".profraw", ".pyc", ".rej", ".rlib", ".so", ".swp"];

/// Where a binary is the point: the bytes that an old version wrote must still be read.
const BINARY_HOMES: [&str; 2] = ["golden", "fixtures"];
const PICTURES: [&str; 4] = [".ico", ".png", ".webp", ".woff2"];

pub(crate) const RULE: Rule = Rule {
    name: "generated",
    reason: "what can be built is not reviewed, conflicts on every merge and drifts from its source",
    find,
};

fn find(tree: &Tree) -> Vec<Finding> {
    tree.files().iter().filter_map(judge).collect()
}

fn judge(file: &File) -> Option<Finding> {
    let within = |names: &[&str]| file.path.split('/').any(|part| names.contains(&part));
    let ends = |suffixes: &[&str]| suffixes.iter().any(|suffix| file.path.ends_with(suffix));
    if within(&OUTPUT_DIRECTORIES) || ends(&OUTPUT_SUFFIXES) {
        return Some(Finding::new(&file.path, 0, "build output", "remove it and name it in .gitignore"));
    }
    if file.text.is_none() && !within(&BINARY_HOMES) && !ends(&PICTURES) {
        let cure = "commit the source instead; bytes that a test must read go to a golden/ directory";
        return Some(Finding::new(&file.path, 0, "binary", cure));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::RULE;

    #[test]
    fn output_and_binaries_are_found() {
        check(
            &RULE,
            "
-- a.rs --
-- console/node_modules/b.js --
-- c.pyc --
-- d.bin --
\0
-- crates/a/golden/e.bin --
\0
-- docs/f.png --
\0"
            .trim_start(),
            "
c.pyc:1: build output (generated) - remove it and name it in .gitignore
console/node_modules/b.js:1: build output (generated) - remove it and name it in .gitignore
d.bin:1: binary (generated) - commit the source instead; bytes that a test must read go to a golden/ directory",
        );
    }
}
