//! A read mode in full: what it is, the gates of its next step, and what was seen since it began.

use std::time::Duration;

use api::admin::v1::{ReadMode, ReadModeEvidence, ReadModeGate};
use jiff::Timestamp;

use super::super::namespace::{meaning, percent};
use super::super::{Table, value};
use super::yes_or_no;

/// Everything about a read mode.
pub(crate) fn story(mode: &ReadMode, now: Timestamp, width: Option<usize>) -> String {
    let whole = mode.since.map(|since| prost_types::Timestamp { nanos: 0, ..since });
    let age = whole.map_or(0, |since| now.as_second().saturating_sub(since.seconds));
    let age = value::duration(Duration::from_secs(u64::try_from(age).unwrap_or(0)));
    let policy = match mode.policy.as_str() {
        "manual" => "an operator moves reads on",
        _ => "servers move reads on when all gates are open",
    };
    let held = if mode.held { "until `braid readmode hold --release`" } else { "" };
    let next = match (mode.next_mode.as_str(), mode.gates.len()) {
        ("", _) => "there is no further step",
        (_, 0) => "it needs nothing",
        _ => "what it needs is below",
    };
    let row = |name: &str, value: &str, help: &str| {
        vec![name.to_owned(), value::printable(value).into_owned(), help.to_owned()]
    };
    let mut text = String::new();
    let rows = [
        row("namespace", &mode.namespace, ""),
        row("mode", &mode.mode, meaning(&mode.mode)),
        row("policy", &mode.policy, policy),
        row("held", yes_or_no(mode.held), held),
        row("since", &value::time(whole), &format!("{age} ago")),
        row("next", if mode.next_mode.is_empty() { "none" } else { &mode.next_mode }, next),
    ];
    Table::new(width).rows(&rows, &mut text);
    if !mode.gates.is_empty() {
        text.push('\n');
        Table::new(width).rows(&gates(&mode.gates), &mut text);
    }
    text.push('\n');
    Table::new(width).rows(&seen(&mode.evidence.unwrap_or_default()), &mut text);
    text
}

fn gates(gates: &[ReadModeGate]) -> Vec<Vec<String>> {
    let header = ["GATE", "WANTED", "FOUND", "OPEN", ""].map(str::to_owned).to_vec();
    let row = |gate: &ReadModeGate| {
        let note = if gate.automatic_only { "servers wait for it, operators need not" } else { "" };
        let cells = [&gate.name, &gate.wanted, &gate.found, yes_or_no(gate.passed), note];
        cells.map(|cell| value::printable(cell).into_owned()).to_vec()
    };
    std::iter::once(header).chain(gates.iter().map(row)).collect()
}

fn seen(seen: &ReadModeEvidence) -> Vec<Vec<String>> {
    let size = |bytes: i64| value::size(u64::try_from(bytes).unwrap_or(0));
    let ratio = seen.latency_ratio.map_or_else(|| "not measured".to_owned(), |ratio| format!("{ratio:.3}"));
    let row = |name: &str, value: String, help: String| vec![name.to_owned(), value, help];
    vec![
        row("compared", seen.compared.to_string(), format!("reads, {} the same", size(seen.match_bytes))),
        row("differ", seen.differ.to_string(), format!("reads, in {}", size(seen.differ_bytes))),
        row("unconfirmed", seen.unconfirmed.to_string(), "differed at the first look only".to_owned()),
        row("skipped", seen.skipped.to_string(), "reads of split partitions, not compared".to_owned()),
        row("from targets", seen.target_pages.to_string(), "pages".to_owned()),
        row(
            "fallbacks",
            seen.fallback_pages.to_string(),
            format!("pages that should have been, {}", percent(Some(seen.fallback_share))),
        ),
        row("latency", ratio, "of targets, that of origins is 1".to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::tests::shadow;
    use super::*;

    #[test]
    fn a_mode_tells_what_it_is_what_it_needs_and_what_was_seen() {
        let now = Timestamp::new(1_778_457_600 + 90, 0).unwrap();
        let expect = "\
namespace  plays
mode       shadow                origins are served; targets are read after the answer, and compared
policy     auto                  servers move reads on when all gates are open
held       no
since      2026-05-11T00:00:00Z  1m30s ago
next       canary                what it needs is below

GATE              WANTED          FOUND  OPEN
min_compared      at least 50     12     no
max_differ_bytes  at most 0       0      yes
min_time          at least 600 s  7 s    no    servers wait for it, operators need not

compared      12     reads, 2.0 KiB the same
differ        0      reads, in 0 B
unconfirmed   1      differed at the first look only
skipped       3      reads of split partitions, not compared
from targets  0      pages
fallbacks     0      pages that should have been, 0%
latency       0.500  of targets, that of origins is 1
";
        assert_eq!(story(&shadow(), now, None), expect);
        let last = ReadMode { held: true, next_mode: String::new(), gates: vec![], ..shadow() };
        let text = story(&ReadMode { evidence: None, ..last }, now, None);
        assert!(
            text.contains("\nheld       yes                   until `braid readmode hold --release`\n"),
            "{text}"
        );
        assert!(text.contains("\nnext       none                  there is no further step\n"), "{text}");
        assert!(!text.contains("GATE") && text.contains("latency       not measured"), "{text}");
    }
}
