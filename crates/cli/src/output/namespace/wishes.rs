//! What a namespace wishes of splits, of reads from their targets and of the tuner: a line each.

use api::admin::v1::{Namespace, SplitSettings, TuneSettings};

use super::super::value;

/// A name, a value and what it means.
pub(super) type Line = (&'static str, String, &'static str);

/// What a namespace wishes of splits.
pub(super) fn splitting(split: &SplitSettings) -> [Line; 6] {
    let policy = match split.policy.as_str() {
        "manual" => "wide partitions are listed; `braid split create` splits one",
        "off" => "nobody looks for wide partitions",
        _ => "wide partitions that a read finds are split",
    };
    [
        ("split", split.policy.clone(), policy),
        ("wide over", size(split.threshold_bytes), "a partition with more is wide"),
        ("target", size(split.target_bytes), "what a part of it should have"),
        ("max targets", split.max_split_buckets.to_string(), "so many parts at most"),
        ("strategy", split.strategy.clone(), "how to cut"),
        ("layout", split.layout.clone(), "how parts keep events"),
    ]
}

/// What it wishes of reads of those targets.
pub(super) fn reading(namespace: &Namespace) -> [Line; 9] {
    let gates = namespace.read_gates.unwrap_or_default();
    let policy = match namespace.read_mode_policy.as_str() {
        "manual" => "`braid readmode advance` moves reads on",
        _ => "servers move reads on when the gates let them",
    };
    let ratio = gates.max_latency_ratio.unwrap_or(0.0);
    let slower =
        if ratio > 0.0 { "so long targets may take, the origin 1" } else { "how long targets take is shown" };
    [
        ("read mode", namespace.read_mode.clone(), meaning(&namespace.read_mode)),
        ("read policy", namespace.read_mode_policy.clone(), policy),
        ("canary", percent(namespace.canary_share), "of reads come from targets in canary"),
        ("compare", percent(namespace.compare_share), "of reads of split partitions are compared"),
        ("compared", gates.min_compared.unwrap_or(0).to_string(), "reads before they move on"),
        ("may differ", size(gates.max_differ_bytes.unwrap_or(0)), "reads move on up to so much"),
        ("fallbacks", percent(gates.max_fallback_share), "of reads from targets at most"),
        ("slower", if ratio > 0.0 { ratio.to_string() } else { "any".to_owned() }, slower),
        ("mode lasts", value::duration(value::from_wire(gates.min_time)), "before servers move on"),
    ]
}

/// What it wishes of the tuner.
pub(super) fn tuning(tune: &TuneSettings) -> [Line; 3] {
    let policy = match tune.policy.as_str() {
        "auto" => "servers change the shape of future slices",
        "off" => "nobody looks at the sizes of partitions",
        _ => "servers propose; `braid tune accept` changes future slices",
    };
    [
        ("tune", tune.policy.clone(), policy),
        ("density min", size(tune.density_min_bytes), "below this p99 there are too many partitions"),
        ("density max", size(tune.density_max_bytes), "above it they are too large"),
    ]
}

/// What a read mode means.
pub(in super::super) fn meaning(mode: &str) -> &'static str {
    match mode {
        "off" => "targets are made and not read",
        "shadow" => "origins are served; targets are read after the answer, and compared",
        "canary" => "a share of reads is served from targets",
        "on" => "reads are served from targets",
        _ => "",
    }
}

/// Hundredths of a whole.
pub(in super::super) fn percent(share: Option<f64>) -> String {
    let hundredths = (share.unwrap_or(0.0) * 10_000.0).round() / 100.0;
    format!("{hundredths}%")
}

fn size(bytes: i64) -> String {
    value::size(u64::try_from(bytes).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use api::admin::v1::ReadGates;

    use super::*;

    fn text(lines: &[Line]) -> Vec<String> {
        lines.iter().map(|(name, value, help)| format!("{name}: {value}, {help}")).collect()
    }

    #[test]
    fn wishes_about_reads_say_what_zero_means() {
        let mut namespace = Namespace {
            read_mode: "shadow".to_owned(),
            read_mode_policy: "auto".to_owned(),
            read_gates: Some(ReadGates {
                min_compared: Some(50),
                max_differ_bytes: Some(0),
                max_fallback_share: Some(0.01),
                max_latency_ratio: Some(0.0),
                min_time: Some(prost_types::Duration { seconds: 600, nanos: 0 }),
            }),
            canary_share: Some(0.25),
            compare_share: Some(1.0),
            ..Namespace::default()
        };
        let expect = [
            "read mode: shadow, origins are served; targets are read after the answer, and compared",
            "read policy: auto, servers move reads on when the gates let them",
            "canary: 25%, of reads come from targets in canary",
            "compare: 100%, of reads of split partitions are compared",
            "compared: 50, reads before they move on",
            "may differ: 0 B, reads move on up to so much",
            "fallbacks: 1%, of reads from targets at most",
            "slower: any, how long targets take is shown",
            "mode lasts: 10m, before servers move on",
        ];
        assert_eq!(text(&reading(&namespace)), expect);
        namespace.read_mode_policy = "manual".to_owned();
        namespace.read_gates.as_mut().unwrap().max_latency_ratio = Some(1.25);
        namespace.canary_share = Some(0.0125);
        let changed = text(&reading(&namespace));
        assert_eq!(changed[1], "read policy: manual, `braid readmode advance` moves reads on");
        assert_eq!(changed[2], "canary: 1.25%, of reads come from targets in canary");
        assert_eq!(changed[7], "slower: 1.25, so long targets may take, the origin 1");
    }

    #[test]
    fn every_mode_and_policy_says_what_it_does() {
        let modes = ["off", "shadow", "canary", "on"].map(meaning);
        assert!(modes.iter().all(|said| !said.is_empty()), "{modes:?}");
        let policies = ["auto", "manual", "off"].map(|policy| {
            splitting(&SplitSettings { policy: policy.to_owned(), ..SplitSettings::default() })[0].2
        });
        assert!(policies[0] != policies[1] && policies[1] != policies[2], "{policies:?}");
    }
}
