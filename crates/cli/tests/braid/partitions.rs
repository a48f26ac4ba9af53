//! `braid partitions hist`.

use crate::process::{Serving, ended};

#[test]
fn sizes_of_partitions_are_shown_for_people_and_for_programs() {
    let scratch = tempfile::tempdir().unwrap();
    let server = Serving::start(&scratch.path().join("data"));
    assert_eq!(ended(server.run(&["ns", "create", "plays"])).0, 0);
    let large = format!("k={}", "x".repeat(5_000));
    for (series, value) in [("a", "k=v"), ("b", "k=v"), ("large", large.as_str())] {
        assert_eq!(ended(server.run(&["put", "-n", "plays", "--id", series, value])).0, 0);
    }
    let (code, table, said) = ended(server.run(&["partitions", "hist", "-n", "plays", "--measure"]));
    assert_eq!(code, 0, "{said}");
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        lines[0],
        ["TABLE", "P50", "P75", "P95", "P98", "P99", "MIN", "MAX", "PARTITIONS", "QUALITY", "SOURCE"]
    );
    assert!(table.contains("4.9 KiB") && table.trim_end().ends_with("3           EXACT    scan"), "{table}");
    let slice = lines[1][0];

    // What was measured is kept until the next write.
    let (code, json, _) = ended(server.run(&["-o", "json", "partitions", "hist", "-n", "plays", slice]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let histogram = &json["histograms"][0];
    assert_eq!((code, &histogram["quality"], &histogram["partitions"]), (0, &"EXACT".into(), &"3".into()));
    let max: u64 = histogram["max"].as_str().unwrap().parse().unwrap();
    assert!((5_000..5_100).contains(&max), "{histogram}");
    let (_, csv, _) = ended(server.run(&["-o", "csv", "partitions", "hist", "-n", "plays"]));
    let mut csv = csv.lines();
    assert_eq!(
        csv.next(),
        Some("table,start,p50,p75,p95,p98,p99,min,max,partitions,quality,source,observed,nodes_missing")
    );
    assert!(csv.next().unwrap().contains(&format!(",{max},3,EXACT,scan,")));

    let (code, out, said) = ended(server.run(&["partitions", "hist", "-n", "plays", "data_20000101"]));
    assert_eq!((code, out.as_str()), (3, ""));
    assert!(said.contains("namespace `plays` has no slice `data_20000101`; list its slices"), "{said}");
}
