//! `braid demo` on the smallest scale: the facts, not the figures. With `BRAID_TEST_BACKEND=cassandra` on the node of
//! `dev/cassandra`.

use crate::process::braid;

#[test]
fn the_demo_splits_the_whale_moves_reads_over_reads_back_what_it_wrote_and_tunes() {
    let scratch = tempfile::tempdir().unwrap();
    let backend = std::env::var("BRAID_TEST_BACKEND").unwrap_or_else(|_| "embedded".to_owned());
    let mut command = braid(&["demo", "--scale", "s", "--json", "--backend", &backend]);
    let output = command.current_dir(scratch.path()).env("TMPDIR", scratch.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let facts: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    println!("{facts:#}");
    let cassandra = facts["data"].as_str().unwrap().starts_with("Cassandra at ");
    assert_eq!(cassandra, backend == "cassandra");
    assert_eq!((&facts["import"]["events"], &facts["check"]["wrong"]), (&50_000.into(), &0.into()));
    let splits = facts["splits"]["splits"].as_array().unwrap();
    assert_eq!(splits.len(), 2, "the whale was wide in both hours");
    assert!(splits.iter().all(|split| split["equal"] == true && split["targets"].as_u64().unwrap() > 1));
    assert_eq!((&facts["splits"]["wide_before"], &facts["splits"]["wide_after"]), (&2.into(), &0.into()));
    for mode in ["shadow", "canary"] {
        let seen = &facts[mode]["seen"];
        assert!(seen["compared"].as_i64().unwrap() >= 20, "{mode}: {seen}");
        assert_eq!(seen["differ_bytes"], 0, "{mode}");
    }
    for (when, from_targets) in [("before", false), ("control", false), ("after", true)] {
        for how in ["whale_pages", "whale_stream"] {
            let read = &facts[when][how];
            assert_eq!(read["events"], facts["import"]["whale_events"], "{when} {how}");
            let pages = if from_targets { read["pages"].clone() } else { 0.into() };
            assert_eq!((&read["target_pages"], &read["fallbacks"]), (&pages, &0.into()), "{when} {how}");
        }
    }
    let tuned = &facts["tuning"];
    assert_eq!((&tuned["partitions"], &tuned["quality"]), (&100.into(), &"EXACT".into()), "{tuned}");
    assert_eq!((&tuned["from_seconds"], &tuned["to_seconds"]), (&60.into(), &86_400.into()));
    assert_eq!(tuned["next_seconds"], 86_400, "the next slice obeys");
    assert!(tuned["next_slice"].as_str() >= tuned["first_slice"].as_str(), "{tuned}");
    assert_eq!((&tuned["read_before"], &tuned["read_after"]), (&1_440.into(), &1.into()));
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0, "nothing is left behind");
}
