//! Every metric is explained: each name that product code registers is on the page for operators.

use super::Rule;
use super::finding::Finding;
use super::tree::Tree;

const PAGE: &str = "docs/operating/metrics.md";
const PREFIX: &str = "\"braid_";
/// Said in a line that registers, or in the one above the name.
const REGISTERS: &str = "register";

pub(crate) const RULE: Rule =
    Rule { name: "metrics", reason: "whoever is woken by a metric has to find what to do about it", find };

fn find(tree: &Tree) -> Vec<Finding> {
    let page = tree.files().iter().find(|file| file.path == PAGE);
    let explained = |name: &str| page.is_some_and(|page| page.lines().any(|(_, line)| line.contains(name)));
    let mut findings = Vec::new();
    for file in tree.rust().filter(|file| file.path.starts_with("crates/")) {
        let mut before = "";
        for (at, line) in file.lines() {
            let registers = line.contains(REGISTERS) || before.contains(REGISTERS);
            before = line;
            let name = line.split_once(PREFIX).and_then(|(_, rest)| rest.split('"').next());
            let Some(name) = name.filter(|_| registers) else { continue };
            // A unit or `_total` is added where it is registered, so the page has more than the name.
            if !explained(&format!("`braid_{name}")) {
                let what = format!("braid_{name} is not explained");
                findings.push(Finding::new(
                    &file.path,
                    at,
                    what,
                    format!("say on {PAGE} what to do when it moves"),
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::RULE;

    #[test]
    fn every_metric_that_is_registered_is_on_the_page() {
        check(
            &RULE,
            "
-- crates/engine/src/metrics.rs --
registry.register(
    \"braid_reads\",
);
registry.register(\"braid_writes\", x);
}
let keyspace = \"braid_meta\";
registry.register_with_unit(
    \"braid_lost\",
-- docs/operating/metrics.md --
| `braid_reads_total{route}` | |
| `braid_lost_bytes` | |"
                .trim_start(),
            "crates/engine/src/metrics.rs:4: braid_writes is not explained (metrics) - \
             say on docs/operating/metrics.md what to do when it moves",
        );
    }
}
