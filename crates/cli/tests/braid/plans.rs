//! `braid ns plan`, and a namespace made from a plan.

use crate::process::{Serving, braid, ended};

const GUESS: [&str; 18] = [
    "ns",
    "plan",
    "--events-per-second",
    "100/d..144/d..260/d",
    "--ids",
    "50k..100k..200k",
    "--skew",
    "0.2..0.3..0.5",
    "--event-bytes",
    "300..500..1KiB",
    "--reads-per-second",
    "10..100..500",
    "--read-interval",
    "60s",
    "--retention",
    "14d",
    "--read-slo",
    "100ms",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    GUESS.iter().chain(more).copied().collect()
}

#[test]
fn a_namespace_is_made_as_planned() {
    let scratch = tempfile::tempdir().unwrap();
    let server = Serving::start(&scratch.path().join("data"));
    let (code, text, said) = ended(server.run(&with(&["--seed", "7"])));
    assert_eq!(code, 0, "{said}");
    assert!(text.starts_with("A plan from 128 worlds, seed 7.\n"), "{text}");
    for part in ["CHOSEN", "BASELINE", "partition p99", "partitions/read", "ids to split", "LOST BECAUSE"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(
        text.contains("The baseline lost because partitions become smaller than they need to be"),
        "{text}"
    );
    assert!(said.contains("--from-plan plan.json"), "{said}");

    let (code, json, said) = ended(server.run(&with(&["--seed", "7", "-o", "json"])));
    assert_eq!(code, 0, "{said}");
    let plan: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(plan["baseline"]["rules"]["seconds_per_bucket"], 60);
    assert!(plan["runners_up"][0]["reason"].is_string() && plan["chosen"]["cluster"]["nodes"].is_number());
    let (_, again, _) = ended(server.run(&with(&["--seed", "7", "-o", "json"])));
    assert_eq!(again, json, "the same guess gives the same plan");

    let file = scratch.path().join("plan.json");
    std::fs::write(&file, &json).unwrap();
    let file = file.to_str().unwrap();
    let (code, made, said) = ended(server.run(&["-o", "json", "ns", "create", "plays", "--from-plan", file]));
    assert_eq!(code, 0, "{said}");
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    assert_eq!(made["shape"], plan["chosen"]["shape"]);
    assert_eq!(made["retention"]["delete_after"], "1209600s");
    assert_eq!(made["slo"]["read_target"], "0.100s");
    // What is given beside the plan comes first.
    let (code, other, said) = ended(server.run(&[
        "-o",
        "json",
        "ns",
        "create",
        "other",
        "--from-plan",
        file,
        "--buckets-per-id",
        "9",
        "--delete-after",
        "0",
    ]));
    assert_eq!(code, 0, "{said}");
    let other: serde_json::Value = serde_json::from_str(&other).unwrap();
    assert_eq!(other["shape"]["buckets_per_id"], 9);
    assert_eq!(other["shape"]["seconds_per_slice"], made["shape"]["seconds_per_slice"]);
    assert_eq!(other["retention"]["delete_after"], "0s");

    let (code, csv, _) = ended(server.run(&with(&["-o", "csv"])));
    let mut lines = csv.lines();
    let header = "seconds_per_slice,seconds_per_bucket,buckets_per_id,nodes,cores_per_node,disk_gib_per_node,regret,\
                  partition_p99_bytes,partitions_per_read,worlds_short,reason";
    assert_eq!((code, lines.next()), (0, Some(header)));
    assert!(
        lines.next().unwrap().ends_with(",chosen") && lines.next().unwrap().contains("baseline: "),
        "{csv}"
    );
}

#[test]
fn what_cannot_be_planned_or_applied_is_explained() {
    let scratch = tempfile::tempdir().unwrap();
    let server = Serving::start(&scratch.path().join("data"));
    let instead = |flag: &str, value: &'static str| {
        let mut arguments = GUESS.to_vec();
        let at = arguments.iter().position(|argument| *argument == flag).unwrap();
        arguments[at + 1] = value;
        arguments
    };
    for (flag, value, expect) in [
        ("--retention", "0", "retention: is missing: what is kept for ever outgrows every disk"),
        ("--events-per-second", "0", "without events there is nothing to plan"),
        ("--read-slo", "100us", "read_slo: is under a round trip"),
        ("--ids", "10..5..20", "ids: low is 10, mid 5, high 20; give them in this order"),
        ("--ids", "1..2", "is neither a number nor low..mid..high"),
        ("--event-bytes", "1GiB", "an event has to fit into a request"),
        ("--read-interval", "15d", "reaches further back than events are kept"),
    ] {
        server.refuses(&instead(flag, value), 2, expect);
    }
    server.refuses(&with(&["--worlds", "513"]), 2, "worlds: is 513; choose 1 to 512");

    let file = scratch.path().join("plan.json");
    let path = file.to_str().unwrap();
    let create = ["ns", "create", "plays", "--from-plan", path];
    server.refuses(&create, 2, "cannot read the plan");
    for (text, expect) in [
        ("no json", "is no plan"),
        (r#"{"chosn":{}}"#, "chosn"),
        ("{}", "it has no chosen.shape; write one with `braid ns plan"),
        (r#"{"chosen":{"shape":{"seconds_per_slice":3600}}}"#, "it has no workload"),
    ] {
        std::fs::write(&file, text).unwrap();
        server.refuses(&create, 2, expect);
    }
    std::fs::write(&file, " ".repeat((1 << 20) + 1)).unwrap();
    server.refuses(&create, 2, "over 1 MiB");
    let (_, list, _) = ended(server.run(&["-o", "csv", "ns", "list"]));
    assert_eq!(list.lines().count(), 1, "nothing was made: {list}");
}

#[test]
fn the_help_of_plan_teaches_how_to_guess() {
    let (code, text, _) = ended(braid(&["ns", "plan", "--help"]).output().unwrap());
    assert_eq!(code, 0);
    for part in ["low..mid..high", "--from-plan plan.json", "10/d", "BASELINE", "provisioning.md"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
