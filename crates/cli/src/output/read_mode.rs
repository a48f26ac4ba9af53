//! Read modes as rows and in full, what their next step lacks, and what comparisons have come to.

mod difference;
mod story;

use api::admin::v1::{ReadMode, ReadModeGate};

use super::list::Record;
use super::{Json, quoted, value};
use crate::failure::Failure;

pub(crate) use difference::{CompareRecord, MismatchRecord};
pub(crate) use story::story as mode_story;

/// A read mode on one line.
#[derive(Debug)]
pub(crate) struct ReadModeRecord<'a>(pub &'a ReadMode);

impl Record for ReadModeRecord<'_> {
    const COLUMNS: &'static [&'static str] =
        &["NAMESPACE", "MODE", "POLICY", "HELD", "NEXT", "COMPARED", "DIFFER"];
    const FIELDS: &'static [&'static str] = &[
        "namespace",
        "mode",
        "policy",
        "held",
        "since",
        "next_mode",
        "closed_gates",
        "compared",
        "match_bytes",
        "differ",
        "differ_bytes",
        "unconfirmed",
        "skipped",
        "target_pages",
        "fallback_pages",
        "fallback_share",
        "latency_ratio",
    ];

    fn row(&self) -> Vec<String> {
        let seen = self.0.evidence.unwrap_or_default();
        let cells = [
            self.0.namespace.clone(),
            self.0.mode.clone(),
            self.0.policy.clone(),
            yes_or_no(self.0.held).to_owned(),
            self.0.next_mode.clone(),
            seen.compared.to_string(),
            seen.differ.to_string(),
        ];
        cells.iter().map(|cell| value::printable(cell).into_owned()).collect()
    }

    fn lines(&self) -> Vec<Vec<String>> {
        let seen = self.0.evidence.unwrap_or_default();
        let closed: Vec<&str> =
            self.0.gates.iter().filter(|gate| !gate.passed).map(|gate| gate.name.as_str()).collect();
        vec![vec![
            self.0.namespace.clone(),
            self.0.mode.clone(),
            self.0.policy.clone(),
            self.0.held.to_string(),
            value::time(self.0.since),
            self.0.next_mode.clone(),
            closed.join(" "),
            seen.compared.to_string(),
            seen.match_bytes.to_string(),
            seen.differ.to_string(),
            seen.differ_bytes.to_string(),
            seen.unconfirmed.to_string(),
            seen.skipped.to_string(),
            seen.target_pages.to_string(),
            seen.fallback_pages.to_string(),
            seen.fallback_share.to_string(),
            seen.latency_ratio.map(|ratio| ratio.to_string()).unwrap_or_default(),
        ]]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.0)
    }
}

const fn yes_or_no(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

/// What the next step lacks, or who takes it.
pub(crate) fn missing(mode: &ReadMode) -> String {
    let next = &mode.next_mode;
    if next.is_empty() {
        return String::new();
    }
    let lacks = |gate: &&ReadModeGate| !gate.passed && !gate.automatic_only;
    let told = |gate: &ReadModeGate| format!("{} is {}, wanted {}", gate.name, gate.found, gate.wanted);
    let closed: Vec<String> = mode.gates.iter().filter(lacks).map(told).collect();
    if !closed.is_empty() {
        return format!("still missing for {next}: {}\n", closed.join("; "));
    }
    let advance = format!("braid readmode advance -n {}", quoted(&mode.namespace));
    // Nobody but an operator switches comparisons on.
    if mode.held || mode.policy != "auto" || mode.mode == "off" {
        return format!("nothing is missing for {next}; the step is yours: {advance}\n");
    }
    match mode.gates.iter().find(|gate| !gate.passed) {
        Some(wait) => {
            let (name, wanted, found) = (&wait.name, &wait.wanted, &wait.found);
            format!(
                "servers move on to {next} by themselves when {name} is {wanted}, it is {found}; at once: {advance}\n"
            )
        }
        None => format!("nothing is missing for {next}; servers move on in a moment\n"),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use api::admin::v1::ReadModeEvidence;

    use super::*;

    fn gate(name: &str, wanted: &str, found: &str, passed: bool) -> ReadModeGate {
        let automatic_only = name == "min_time";
        let text = str::to_owned;
        ReadModeGate { name: text(name), wanted: text(wanted), found: text(found), passed, automatic_only }
    }

    pub(in super::super) fn shadow() -> ReadMode {
        ReadMode {
            namespace: "plays".to_owned(),
            mode: "shadow".to_owned(),
            policy: "auto".to_owned(),
            held: false,
            since: Some(prost_types::Timestamp { seconds: 1_778_457_600, nanos: 5 }),
            next_mode: "canary".to_owned(),
            gates: vec![
                gate("min_compared", "at least 50", "12", false),
                gate("max_differ_bytes", "at most 0", "0", true),
                gate("min_time", "at least 600 s", "7 s", false),
            ],
            evidence: Some(ReadModeEvidence {
                compared: 12,
                match_bytes: 2_048,
                unconfirmed: 1,
                skipped: 3,
                latency_ratio: Some(0.5),
                ..ReadModeEvidence::default()
            }),
        }
    }

    #[test]
    fn a_mode_on_one_line() {
        let mode = shadow();
        let record = ReadModeRecord(&mode);
        assert_eq!(record.row().join(" "), "plays shadow auto no canary 12 0");
        assert_eq!(
            record.lines().concat().join(","),
            "plays,shadow,auto,false,2026-05-11T00:00:00.000000005Z,canary,min_compared min_time,12,2048,0,0,1,3,0,0,0,0.5"
        );
        assert_eq!(record.lines().concat().len(), ReadModeRecord::FIELDS.len());
        assert_eq!(record.row().len(), ReadModeRecord::COLUMNS.len());
    }

    #[test]
    fn people_are_told_what_the_next_step_lacks_or_who_takes_it() {
        let mut mode = shadow();
        assert_eq!(missing(&mode), "still missing for canary: min_compared is 12, wanted at least 50\n");
        mode.gates[0].passed = true;
        assert_eq!(
            missing(&mode),
            "servers move on to canary by themselves when min_time is at least 600 s, it is 7 s; at once: \
             braid readmode advance -n plays\n"
        );
        mode.gates[2].passed = true;
        assert_eq!(missing(&mode), "nothing is missing for canary; servers move on in a moment\n");
        let yours = "nothing is missing for canary; the step is yours: braid readmode advance -n plays\n";
        assert_eq!(missing(&ReadMode { held: true, ..mode.clone() }), yours);
        assert_eq!(missing(&ReadMode { policy: "manual".to_owned(), ..mode.clone() }), yours);
        let off = ReadMode {
            mode: "off".to_owned(),
            next_mode: "shadow".to_owned(),
            gates: vec![],
            ..mode.clone()
        };
        assert!(missing(&off).starts_with("nothing is missing for shadow; the step is yours: "));
        assert_eq!(missing(&ReadMode { next_mode: String::new(), ..mode }), "");
    }
}
