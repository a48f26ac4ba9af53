//! `cargo xtask tidy`: the house rules that clippy cannot hold. One file a rule, the reason beside it; a rule is a pure
//! function from the tree of files to findings. No rule reads the disk itself, so that each is tested on text.
//! A finding names the place, the fault and the cure on one line.

mod edges;
mod file_size;
mod finding;
mod formats;
mod generated;
mod links;
mod machine_paths;
mod map;
mod markers;
mod metrics;
mod module_doc;
mod no_logic;
mod sleeps;
#[cfg(test)]
mod testing;
mod text;
mod tree;
mod weight;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use finding::Finding;
use tree::Tree;

/// A house rule.
pub(crate) struct Rule {
    name: &'static str,
    reason: &'static str,
    find: fn(&Tree) -> Vec<Finding>,
}

const RULES: &[Rule] = &[
    file_size::RULE,
    module_doc::RULE,
    no_logic::RULE,
    map::RULE,
    links::RULE,
    formats::RULE,
    metrics::RULE,
    edges::RULE,
    markers::RULE,
    sleeps::RULE,
    machine_paths::RULE,
    weight::RULE,
    generated::RULE,
];

/// Checks every rule over the repository at `root`.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let tree = Tree::load(root)?;
    let lines: Vec<String> = RULES.iter().flat_map(|rule| report(rule, &tree)).collect();
    for line in &lines {
        println!("{line}");
    }
    if lines.is_empty() {
        println!("tidy: {} files, {} rules, clean", tree.files().len(), RULES.len());
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("tidy: {} findings", lines.len());
    Ok(ExitCode::FAILURE)
}

/// Prints each rule with its reason.
pub(crate) fn list() -> ExitCode {
    for rule in RULES {
        println!("{:<14} {}", rule.name, rule.reason);
    }
    ExitCode::SUCCESS
}

/// One rule's findings as lines, in order of place.
fn report(rule: &Rule, tree: &Tree) -> Vec<String> {
    let mut findings = (rule.find)(tree);
    findings.sort();
    findings.iter().map(|finding| finding.line(rule.name)).collect()
}
