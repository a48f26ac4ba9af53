//! Who runs, and who changed what: as an operator asks for it.

use serde_json::Value;

use crate::process::{Serving, braid, ended};

#[test]
fn the_servers_that_run_are_listed() {
    let scratch = tempfile::tempdir().unwrap();
    let server = Serving::start(&scratch.path().join("data"));
    let (code, shown, said) = ended(server.run(&["workers"]));
    assert_eq!((code, said.as_str()), (0, "detections: by the store itself\n"));
    let lines: Vec<Vec<&str>> = shown.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines.len(), 2, "{shown}");
    assert_eq!(lines[0], ["SERVER", "ADDRESS", "VERSION", "ROLES", "EPOCH", "LEASE", "SILENT"]);
    assert_eq!((lines[1][1], lines[1][3]), (server.address.as_str(), "api,split_worker,slice_keeper,tuner"));
    assert_eq!((lines[1][5], lines[1][7]), ("yes", "here"));
    let (code, shown, _) = ended(server.run(&["-o", "json", "workers"]));
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((code, &shown["workers"][0]["server_id"]), (0, &lines[1][0].into()));
    let (_, shown, _) = ended(server.run(&["doctor"]));
    assert!(shown.contains("ok    the server holds a lease and knows all changes up to "), "{shown}");
    server.refuses(&["-s", "127.0.0.1:1", "workers"], 6, "is `braid serve` running there?");
}

#[test]
fn every_change_is_in_the_audit_with_who_and_why() {
    let scratch = tempfile::tempdir().unwrap();
    let server = Serving::start(&scratch.path().join("data"));
    let run = |author: &str, arguments: &[&str]| {
        let mut command = braid(arguments);
        command.env("BRAID_SERVER", &server.address).env("USER", "ann").env("BRAID_AUTHOR", author);
        let (code, shown, said) = ended(command.output().unwrap());
        assert_eq!(code, 0, "{arguments:?}: {said}");
        shown
    };
    assert_eq!(ended(server.run(&["audit"])), (0, String::new(), String::new()));
    let by_user = |arguments: &[&str]| {
        let mut command = braid(arguments);
        ended(command.env("BRAID_SERVER", &server.address).env("USER", "ann").output().unwrap()).0
    };
    assert_eq!(by_user(&["ns", "create", "plays", "--reason", "a new one"]), 0);
    run("bob", &["ns", "set", "plays", "--read-max", "5s", "--reason", "slow pages"]);
    run("bob", &["ns", "set", "plays", "--read-max", "6s", "--validate-only"]);
    run("bob", &["block", "add", "-n", "plays", "user:7", "--reason", "floods us", "--author", "eve"]);
    run("bob", &["ns", "rm", "plays", "--yes", "--reason", "moved"]);

    let (code, shown, said) = ended(server.run(&["audit"]));
    assert_eq!((code, said.as_str()), (0, ""));
    let lines: Vec<String> =
        shown.lines().map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")).collect();
    let expect = [
        "WHO WHAT WHY",
        "bob namespace plays: deleted moved",
        "eve blocks plays: created floods us",
        "bob namespace plays: changed slow pages",
        "ann namespace plays: created a new one",
    ];
    assert_eq!(lines, expect, "{shown}");

    let (_, shown, _) = ended(server.run(&["-o", "ndjson", "audit", "--limit", "3"]));
    let entries: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let actions: Vec<&str> = entries.iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["DELETED", "CREATED", "CHANGED"]);
    let kept = |at: usize, side: &str| -> Value {
        serde_json::from_str(entries[at][side].as_str().unwrap()).unwrap()
    };
    assert_eq!(kept(2, "before")["spec"]["read_max"]["secs"], 10);
    assert_eq!(kept(2, "after")["spec"]["read_max"]["secs"], 5);
    assert_eq!(kept(1, "after")["blocks"][0]["author"], "eve");
    assert_eq!(kept(0, "after")["deleted"], true);
    let (_, shown, _) = ended(server.run(&["-o", "json", "audit", "--limit", "1"]));
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert!(shown["next_page_token"].is_string() && shown["entries"][0]["reason"] == "moved", "{shown}");
    server.refuses(&["audit", "--limit", "0"], 2, "--limit");
}
