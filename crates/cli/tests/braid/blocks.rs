//! Blocked ids, as an operator types them.

use crate::process::{Serving, ended};

#[test]
fn ids_are_blocked_listed_refused_and_unblocked() {
    let scratch = tempfile::tempdir().unwrap();
    let server = Serving::start(&scratch.path().join("data"));
    let run = |arguments: &[&str]| ended(server.run(arguments));
    assert_eq!(run(&["ns", "create", "plays"]).0, 0);
    let file = scratch.path().join("config.properties");
    std::fs::write(&file, "# hot\ndgwts.config.plays.block.Ids: \"user:1, user:2\"\nuser:3\n").unwrap();
    let file = file.to_str().unwrap();
    let add = ["block", "add", "-n", "plays", "user:7", "--file", file, "--writes", "--reason", "too hot"];
    let (code, _, talk) = run(&[&add[..], &["--expires", "1h", "--author", "ann"]].concat());
    assert_eq!((code, talk.as_str()), (0, "blocked 4 ids\n"));

    let (code, listed, _) = run(&["block", "list", "-n", "plays", "-o", "csv"]);
    let ids: Vec<&str> = listed.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!((code, ids), (0, vec!["user:1", "user:2", "user:3", "user:7"]));
    assert!(
        listed.lines().skip(1).all(|line| line.contains(",false,true,") && line.contains(",too hot,ann,"))
    );

    let (code, _, talk) = run(&["put", "-n", "plays", "--id", "user:2", "k=v"]);
    assert!(
        code == 4 && talk.contains("`user:2` is blocked for writes") && talk.contains("(too hot)"),
        "{talk}"
    );
    assert_eq!(run(&["get", "-n", "plays", "user:2"]).0, 0);
    assert_eq!(run(&["put", "-n", "plays", "--id", "user:4", "k=v"]).0, 0);
    run(&["block", "add", "-n", "plays", "user:2"]);
    let (code, _, talk) = run(&["get", "-n", "plays", "user:2", "-o", "json"]);
    assert!(code == 4 && talk.contains("\"reason\":\"ID_BLOCKED\""), "{talk}");

    let (code, shown, talk) = run(&["block", "rm", "-n", "plays", "--file", file, "nobody", "-o", "ndjson"]);
    assert_eq!((code, talk.as_str(), shown.lines().count()), (0, "unblocked 3 ids\n", 3));
    let (_, shown, _) = run(&["block", "list", "-n", "plays", "-o", "json"]);
    assert!(shown.starts_with("{\"blocks\":[{\"time_series_id\":\"user:7\""), "{shown}");
    assert_eq!(run(&["put", "-n", "plays", "--id", "user:2", "k=v"]).0, 0);
}

#[test]
fn a_wrong_line_is_named_and_nothing_is_blocked() {
    let scratch = tempfile::tempdir().unwrap();
    let server = Serving::start(&scratch.path().join("data"));
    let run = |arguments: &[&str]| ended(server.run(arguments));
    assert_eq!(run(&["ns", "create", "plays"]).0, 0);
    let file = scratch.path().join("ids");
    std::fs::write(&file, "user:1\ndgwts.config.plays.block.Ids: \"a\n").unwrap();
    let (code, _, talk) = run(&["block", "add", "-n", "plays", "--file", file.to_str().unwrap()]);
    assert!(code == 2 && talk.contains("ids:2: write dgwts.config.<dataset>.block.Ids"), "{talk}");
    // More than one request, and a check of them.
    let many: String = (0..2_500).map(|at| format!("user:{at}\n")).collect();
    std::fs::write(&file, many).unwrap();
    let add = ["block", "add", "-n", "plays", "--file", file.to_str().unwrap()];
    let (code, _, talk) = run(&[&add[..], &["--validate-only"]].concat());
    assert_eq!((code, talk.as_str()), (0, "checked only; nothing was changed\n"));
    assert_eq!(run(&["block", "list", "-n", "plays"]), (0, String::new(), String::new()));
    assert_eq!(run(&add).2, "blocked 2500 ids\n");
    assert_eq!(run(&["block", "list", "-n", "plays", "-o", "ndjson"]).1.lines().count(), 2_500);
    let (code, _, talk) = run(&["block", "add", "-n", "plays", "late", "--expires", "2001-01-01"]);
    assert!(code == 2 && talk.contains("is over already"), "{talk}");
    assert_eq!(run(&["block", "list", "-n", "nowhere"]).0, 3);
}
