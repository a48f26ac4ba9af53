//! Rust files stay short enough to be read in one go: nothing over 800 lines, over 500 only with a reason written here.

use super::Rule;
use super::finding::Finding;
use super::tree::Tree;

const THINK_AGAIN_LINES: usize = 500;
const MOST_LINES: usize = 800;

/// Files between the two limits, each with the reason why it is better whole.
const WHOLE: &[(&str, &str)] = &[];

pub(crate) const RULE: Rule = Rule {
    name: "file-size",
    reason: "a file that needs scrolling hides a second idea; the split is cheapest while it is small",
    find: |tree| find(tree, WHOLE),
};

fn find(tree: &Tree, whole: &[(&str, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        let lines = file.lines().count();
        let listed = whole.iter().any(|(path, _)| *path == file.path);
        if lines > MOST_LINES {
            let what = format!("{lines} lines, over {MOST_LINES}");
            findings.push(Finding::new(&file.path, lines, what, "split it by idea"));
        } else if lines > THINK_AGAIN_LINES && !listed {
            let what = format!("{lines} lines, over {THINK_AGAIN_LINES}");
            let cure = "split it, or list it with a reason in xtask/src/tidy/file_size.rs";
            findings.push(Finding::new(&file.path, lines, what, cure));
        } else if lines <= THINK_AGAIN_LINES && listed {
            let what = format!("{lines} lines, and still listed as long");
            findings.push(Finding::new(
                &file.path,
                0,
                what,
                "take it off the list in xtask/src/tidy/file_size.rs",
            ));
        }
    }
    for (path, _) in whole.iter().filter(|(path, _)| tree.get(path).is_none()) {
        let cure = "take it off the list in xtask/src/tidy/file_size.rs";
        findings.push(Finding::new(path, 0, "listed as long, and gone", cure));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_found, tree};
    use super::find;

    #[track_caller]
    fn check(lines: usize, whole: &[(&str, &str)], expect: &str) {
        let input = format!("-- a.rs --\n{}", "//\n".repeat(lines));
        check_found(find(&tree(&input), whole).iter().map(|found| found.line("size")).collect(), expect);
    }

    #[test]
    fn two_limits_and_a_list() {
        let listed = [("a.rs", "one table")];
        check(500, &[], "");
        check(501, &listed, "");
        let list = "xtask/src/tidy/file_size.rs";
        check(
            501,
            &[],
            &format!("a.rs:501: 501 lines, over 500 (size) - split it, or list it with a reason in {list}"),
        );
        check(801, &listed, "a.rs:801: 801 lines, over 800 (size) - split it by idea");
        let off = format!("(size) - take it off the list in {list}");
        check(9, &listed, &format!("a.rs:1: 9 lines, and still listed as long {off}"));
        check(9, &[("b.rs", "")], &format!("b.rs:1: listed as long, and gone {off}"));
    }
}
