//! Relative links in the documentation lead somewhere. Links to other hosts are not followed: a build needs no network.

use super::Rule;
use super::finding::Finding;
use super::text::{Prose, markdown};
use super::tree::{File, Tree};

const PAGES: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];

pub(crate) const RULE: Rule =
    Rule { name: "links", reason: "a dead link tells the reader that nobody reads these pages", find };

fn find(tree: &Tree) -> Vec<Finding> {
    let in_docs = |path: &str| path.starts_with("docs/") && path.ends_with(".md");
    let pages = tree.files().iter().filter(|file| PAGES.contains(&file.path.as_str()) || in_docs(&file.path));
    pages.flat_map(|page| dead(tree, page)).collect()
}

fn dead(tree: &Tree, page: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, prose) in markdown(page) {
        let Prose::Text(pieces) = prose else { continue };
        // A link's text may be inline code, so put the line together again without what the code says.
        let line = pieces.into_iter().step_by(2).collect::<Vec<_>>().join("`");
        for target in targets(&line) {
            if !resolve(&page.path, target).is_some_and(|path| path.is_empty() || tree.has(&path)) {
                findings.push(Finding::new(
                    &page.path,
                    at,
                    format!("dead link `{target}`"),
                    "correct or remove it",
                ));
            }
        }
    }
    findings
}

/// Targets of `[text](target)` and `[label]: target` that stay inside the repository, without anchor and title.
fn targets(line: &str) -> Vec<&str> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let defined = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target);
    inline
        .chain(defined)
        .filter_map(|target| target.split_whitespace().next())
        .map(|target| target.trim_matches(['<', '>']))
        .filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
        .filter_map(|target| target.split('#').next())
        .filter(|target| !target.is_empty())
        .collect()
}

/// The repository path that `target` means on `page`. None where it leads out of the repository.
fn resolve(page: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    if target.starts_with('/') {
        parts.clear();
    }
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::RULE;

    #[test]
    fn relative_links_resolve() {
        check(
            &RULE,
            "
-- README.md --
[a](docs/a.md#part) [b](https://elsewhere/b) [`c`](docs/) [d](#here) [e](docs/e.md \"title\")
[label]: docs/f.md
```
[in code](docs/g.md)
```
`[inline](docs/h.md)`
-- docs/a.md --
[up](../README.md) [out](../../README.md) [root](/docs/a.md)
-- other/README.md --
[not ours](x.md)"
                .trim_start(),
            "
README.md:1: dead link `docs/e.md` (links) - correct or remove it
README.md:2: dead link `docs/f.md` (links) - correct or remove it
docs/a.md:1: dead link `../../README.md` (links) - correct or remove it",
        );
    }
}
