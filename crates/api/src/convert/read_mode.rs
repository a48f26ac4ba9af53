//! Read modes: what operators ask of them, how far they are, and what comparisons have come to.

use engine::{Evidence, Gate, Mismatch, MismatchSide, Named, ReadMode, ReadModeInfo, Result, Swept};
use model::NamespaceName;

use super::namespace::{named, namespace_name};
use super::split_asked::{page_size, split_token};
use super::time::timestamp_to_wire;
use super::write::signed;
use crate::admin::v1;

/// Splits that one call compares.
const SPLITS_DEFAULT: usize = 10;
const SPLITS_MAX: usize = 100;

/// Where a rollback goes; none where the engine is to choose.
pub fn rollback_to(to: &str) -> Result<Option<ReadMode>> {
    let mut mode = ReadMode::default();
    Ok(named("to", to, &mut mode)?.then_some(mode))
}

/// Splits that are to be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompareAsked {
    /// Of which namespace.
    pub namespace: NamespaceName,
    /// Behind which split to begin.
    pub after: Option<String>,
    /// How many.
    pub splits_max: usize,
}

/// The splits that a request wants compared.
pub fn compare_request(wire: v1::CompareReadModeRequest) -> Result<CompareAsked> {
    let namespace = namespace_name("namespace", &wire.namespace)?;
    let splits_max = page_size(wire.page_size, SPLITS_DEFAULT, SPLITS_MAX)?;
    let after = split_token(&namespace, wire.page_token)?;
    Ok(CompareAsked { namespace, after, splits_max })
}

/// What comparing has come to.
pub fn compare_response(swept: Swept) -> v1::CompareReadModeResponse {
    v1::CompareReadModeResponse {
        splits: signed(swept.splits),
        pages: signed(swept.pages),
        records: signed(swept.records),
        bytes: signed(swept.bytes),
        differ: signed(swept.differ),
        differ_bytes: signed(swept.differ_bytes),
        next_page_token: swept.next.unwrap_or_default(),
    }
}

/// How far reads of a namespace have moved.
pub fn read_mode_to_wire(info: ReadModeInfo) -> v1::ReadMode {
    let ReadModeInfo { namespace, mode, policy, held, since, gates, evidence } = info;
    v1::ReadMode {
        namespace: namespace.as_str().to_owned(),
        mode: mode.name().to_owned(),
        policy: policy.name().to_owned(),
        held,
        since: Some(timestamp_to_wire(since)),
        next_mode: mode.next().map(|next| next.name().to_owned()).unwrap_or_default(),
        gates: gates.into_iter().map(gate).collect(),
        evidence: Some(evidence_to_wire(&evidence)),
    }
}

fn gate(gate: Gate) -> v1::ReadModeGate {
    v1::ReadModeGate {
        name: gate.name.to_owned(),
        wanted: gate.wanted,
        found: gate.found,
        passed: gate.passed,
        automatic_only: gate.automatic_only,
    }
}

fn evidence_to_wire(seen: &Evidence) -> v1::ReadModeEvidence {
    v1::ReadModeEvidence {
        compared: signed(seen.compared),
        match_bytes: signed(seen.match_bytes),
        differ: signed(seen.differ),
        differ_bytes: signed(seen.differ_bytes),
        unconfirmed: signed(seen.unconfirmed),
        skipped: signed(seen.skipped),
        target_pages: signed(seen.target_pages),
        fallback_pages: signed(seen.fallback_pages),
        fallback_share: seen.fallback_share(),
        latency_ratio: seen.latency_ratio(),
    }
}

/// A confirmed difference.
pub fn mismatch_to_wire(mismatch: Mismatch) -> v1::Mismatch {
    v1::Mismatch {
        time: Some(timestamp_to_wire(mismatch.time)),
        server: mismatch.server,
        split_id: mismatch.split,
        read: mismatch.read,
        origin: Some(side(mismatch.origin)),
        target: Some(side(mismatch.target)),
    }
}

fn side(side: MismatchSide) -> v1::MismatchSide {
    v1::MismatchSide {
        records: signed(side.records),
        bytes: signed(side.bytes),
        first: side.first.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use engine::ReadModePolicy;
    use prost_types::Timestamp;

    use super::*;

    #[test]
    fn a_rollback_names_a_mode_or_none() {
        assert_eq!(rollback_to("").unwrap(), None);
        assert_eq!(rollback_to("off").unwrap(), Some(ReadMode::Off));
        assert_eq!(rollback_to("shadow").unwrap(), Some(ReadMode::Shadow));
        let refused = rollback_to("half").unwrap_err().to_string();
        assert_eq!(refused, "to: is `half`; choose off, shadow, canary or on");
    }

    #[test]
    fn splits_are_compared_some_at_a_time_behind_a_split() {
        let asked = |page_size, token: &str| {
            let namespace = "plays".to_owned();
            let page_token = token.to_owned();
            compare_request(v1::CompareReadModeRequest { namespace, page_size, page_token })
                .map(|asked| (asked.after, asked.splits_max))
                .map_err(|error| format!("{} {error}", error.reason().as_str()))
        };
        assert_eq!(asked(0, ""), Ok((None, 10)));
        let behind = "data_20260328/7/2/a/b";
        assert_eq!(asked(100, behind), Ok((Some(behind.to_owned()), 100)));
        assert!(asked(101, "").unwrap_err().starts_with("RANGE_TOO_WIDE page_size: is 101; send 1 to 100"));
        assert!(asked(1, "forged").unwrap_err().starts_with("PAGE_TOKEN_INVALID page_token: "));
        let swept = Swept {
            splits: 1,
            pages: 2,
            records: 3,
            bytes: 4,
            differ: 5,
            differ_bytes: 6,
            next: Some(behind.to_owned()),
        };
        let expect = v1::CompareReadModeResponse {
            splits: 1,
            pages: 2,
            records: 3,
            bytes: 4,
            differ: 5,
            differ_bytes: 6,
            next_page_token: behind.to_owned(),
        };
        assert_eq!(compare_response(swept), expect);
        assert_eq!(compare_response(Swept::default()), v1::CompareReadModeResponse::default());
    }

    fn info(mode: ReadMode) -> ReadModeInfo {
        ReadModeInfo {
            namespace: NamespaceName::new("plays").unwrap(),
            mode,
            policy: ReadModePolicy::Manual,
            held: true,
            since: 5_000_000_000,
            gates: vec![Gate {
                name: "min_time",
                wanted: "at least 600 s".to_owned(),
                found: "7 s".to_owned(),
                passed: false,
                automatic_only: true,
            }],
            evidence: Evidence {
                compared: 1,
                match_bytes: 2,
                differ: 3,
                differ_bytes: 4,
                unconfirmed: 5,
                skipped: 6,
                target_pages: 3,
                fallback_pages: 1,
                timed: 1,
                origin_nanos: 8,
                target_nanos: 4,
            },
        }
    }

    #[test]
    fn a_mode_shows_its_next_step_and_what_that_needs() {
        let wire = read_mode_to_wire(info(ReadMode::Canary));
        let gate = v1::ReadModeGate {
            name: "min_time".to_owned(),
            wanted: "at least 600 s".to_owned(),
            found: "7 s".to_owned(),
            passed: false,
            automatic_only: true,
        };
        let evidence = v1::ReadModeEvidence {
            compared: 1,
            match_bytes: 2,
            differ: 3,
            differ_bytes: 4,
            unconfirmed: 5,
            skipped: 6,
            target_pages: 3,
            fallback_pages: 1,
            fallback_share: 0.25,
            latency_ratio: Some(0.5),
        };
        let expect = v1::ReadMode {
            namespace: "plays".to_owned(),
            mode: "canary".to_owned(),
            policy: "manual".to_owned(),
            held: true,
            since: Some(Timestamp { seconds: 5, nanos: 0 }),
            next_mode: "on".to_owned(),
            gates: vec![gate],
            evidence: Some(evidence),
        };
        assert_eq!(wire, expect);
        let bare = ReadModeInfo { evidence: Evidence::default(), ..info(ReadMode::On) };
        let last = read_mode_to_wire(bare);
        assert_eq!((last.mode.as_str(), last.next_mode.as_str()), ("on", ""));
        assert_eq!(last.evidence.unwrap().latency_ratio, None, "nothing was timed");
    }

    #[test]
    fn a_difference_shows_both_sides() {
        let side = |records, first: Option<&str>| MismatchSide {
            records,
            bytes: records * 10,
            first: first.map(str::to_owned),
        };
        let wire = mismatch_to_wire(Mismatch {
            version: 1,
            time: 1,
            server: "s1".to_owned(),
            split: "data_20260328/7/2/a".to_owned(),
            read: "a".to_owned(),
            origin: side(2, Some("e1 (15 bytes)")),
            target: side(1, None),
        });
        let expect = v1::Mismatch {
            time: Some(Timestamp { seconds: 0, nanos: 1 }),
            server: "s1".to_owned(),
            split_id: "data_20260328/7/2/a".to_owned(),
            read: "a".to_owned(),
            origin: Some(v1::MismatchSide { records: 2, bytes: 20, first: "e1 (15 bytes)".to_owned() }),
            target: Some(v1::MismatchSide { records: 1, bytes: 10, first: String::new() }),
        };
        assert_eq!(wire, expect);
    }
}
