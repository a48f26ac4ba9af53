//! No path of somebody's machine in any text: it is wrong for everyone else.

use super::Rule;
use super::finding::Finding;
use super::tree::Tree;

/// Spelt in two halves, so that this file is clean.
const PLACES: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];
/// Followed by a user's name.
const HOMES: &str = concat!("/ho", "me/");

pub(crate) const RULE: Rule = Rule {
    name: "machine-paths",
    reason: "a path of one machine in a script breaks it elsewhere, and in a page or a golden it leaks",
    find,
};

fn find(tree: &Tree) -> Vec<Finding> {
    let lines = tree.files().iter().flat_map(|file| file.lines().map(move |(at, line)| (file, at, line)));
    lines
        .filter_map(|(file, at, line)| {
            let place = place(line)?;
            Some(Finding::new(
                &file.path,
                at,
                format!("`{place}` is a path of one machine"),
                "make it relative",
            ))
        })
        .collect()
}

fn place(line: &str) -> Option<&'static str> {
    let absolute = |place: &&&str| starts(line, place).next().is_some();
    PLACES.iter().find(absolute).copied().or_else(|| {
        let named = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        starts(line, HOMES).any(named).then_some(HOMES)
    })
}

/// What follows each `place` in `line` at which a path begins: after a word it is the middle of a path or of an address.
fn starts<'a>(line: &'a str, place: &'a str) -> impl Iterator<Item = &'a str> {
    let inside = |c: char| c.is_alphanumeric() || "_-.~}".contains(c);
    line.match_indices(place)
        .filter(move |(at, _)| !line.get(..*at).is_some_and(|before| before.ends_with(inside)))
        .filter_map(move |(at, _)| line.get(at + place.len()..))
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::RULE;

    #[test]
    fn absolute_paths_are_found() {
        check(
            &RULE,
            "
-- a.md --
cd /w~ork/main
file:///r~oot/x
see /h~ome/ann
the directory /h~ome/<name>, docs/w~ork/a, https://a.b/w~ork/c, ${DIR}/r~oot/"
                .trim_start(),
            "
a.md:1: `/w~ork/` is a path of one machine (machine-paths) - make it relative
a.md:2: `/r~oot/` is a path of one machine (machine-paths) - make it relative
a.md:3: `/h~ome/` is a path of one machine (machine-paths) - make it relative",
        );
    }
}
