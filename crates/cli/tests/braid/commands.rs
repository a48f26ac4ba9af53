//! Verbs as they are typed: what they say, where, and how they end.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use crate::process::{Serving, braid, ended};

fn serving(scratch: &Path) -> Serving {
    let server = Serving::on_chosen_store(&scratch.join("data"));
    assert_eq!(ended(server.run(&["ns", "create", "plays"])).0, 0);
    server
}

fn now() -> String {
    let output = std::process::Command::new("date").args(["-u", "+%FT%TZ"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn an_import_names_bad_lines_takes_the_rest_and_can_be_run_again() {
    let scratch = tempfile::tempdir().unwrap();
    let server = serving(scratch.path());
    let file = scratch.path().join("events.ndjson");
    let line = |time: &str, id: u8| {
        format!(
            r#"{{"time_series_id":"a","event_time":"{time}","event_id":"{id}","event_items":[{{"event_item_key":"k","event_item_value":"dg=="}}]}}"#
        )
    };
    let now = now();
    let text =
        format!("{}\nnot json\n\n{}\n{}\n", line(&now, 1), line("2020-01-01T00:00:00Z", 2), line(&now, 3));
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let (code, out, said) = ended(server.run(&["import", "-n", "plays", file]));
    assert_eq!((code, out.as_str()), (2, ""), "{said}");
    assert!(
        said.contains("events.ndjson:2: ") && said.contains("events.ndjson:4: event_time is too old"),
        "{said}"
    );
    assert!(said.contains("3 events sent, 2 accepted, 1 bad, 1 refused"), "{said}");
    assert!(said.contains("braid import -n plays --backfill"), "{said}");
    let (code, summary, _) = ended(server.run(&["-o", "json", "import", "-n", "plays", file]));
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!((code, &summary["accepted"]), (2, &2.into()), "{summary}");
    let (code, out, _) = ended(server.run(&["-o", "csv", "get", "-n", "plays", "a"]));
    assert_eq!((code, out.lines().count()), (0, 3), "twice imported, once there: {out}");
    // Retention has dropped 2020, whatever is backfilled.
    let (code, _, said) = ended(server.run(&["import", "-n", "plays", file, "--backfill"]));
    assert!(code == 2 && said.contains("dropped by retention"), "{said}");
}

#[test]
fn refusals_have_their_exit_codes_and_go_to_stderr() {
    let scratch = tempfile::tempdir().unwrap();
    let server = serving(scratch.path());
    let check = |arguments: &[&str], expect, text| server.refuses(arguments, expect, text);
    check(&["get", "-n", "nowhere", "a"], 3, "namespace `nowhere` does not exist; create it first");
    check(&["-o", "json", "get", "-n", "nowhere", "a"], 3, r#""reason":"NAMESPACE_NOT_FOUND""#);
    check(&["ns", "create", "plays"], 5, "namespace `plays` exists");
    check(&["ns", "create", "Bad Name"], 2, "namespace.name");
    check(&["ns", "create", "odd", "--bucket", "7000s"], 2, "shape: ");
    check(&["ns", "rm", "plays"], 2, "--yes");
    check(&["get", "-n", "plays", "a", "--where", "x"], 2, "write key=value");
    check(&["get", "-n", "plays", "a", "--from", "yesterday-ish"], 2, "yesterday-ish");
    check(&["put", "-n", "plays", "--id", "a", "--time", "2020-01-01", "k=v"], 2, "too old");
    check(
        &["search", "-n", "plays", "a", "--query", r#"{"boolean_query":{"operator":"OR"}}"#],
        2,
        "search_query",
    );
    check(&["-s", "127.0.0.1:1", "ns", "list"], 6, "is `braid serve` running there?");
    let (code, out, _) = ended(server.run(&["-o", "json", "get", "-n", "plays", "nobody"]));
    assert!(code == 0 && out.starts_with('{'), "nothing found is no failure: {out}");
}

#[test]
fn whoever_stops_reading_is_not_an_error() {
    let scratch = tempfile::tempdir().unwrap();
    let server = serving(scratch.path());
    let mut import = braid(&["import", "-n", "plays", "-"]);
    let mut import = import.env("BRAID_SERVER", &server.address).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = import.stdin.take().unwrap();
    let now = now();
    for id in 0..5_000 {
        let items = r#"[{"event_item_key":"k","event_item_value":"dmFsdWU="}]"#;
        writeln!(
            stdin,
            r#"{{"time_series_id":"a","event_time":"{now}","event_id":"{id}","event_items":{items}}}"#
        )
        .unwrap();
    }
    drop(stdin);
    assert!(import.wait().unwrap().success());
    let mut get = braid(&["-o", "ndjson", "get", "-n", "plays", "a"]);
    let mut get = get.env("BRAID_SERVER", &server.address).stdout(Stdio::piped()).spawn().unwrap();
    drop(get.stdout.take());
    assert_eq!(get.wait().unwrap().code(), Some(0));
}

#[test]
fn settings_are_checked_and_a_missing_server_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| ended(braid(arguments).current_dir(scratch.path()).output().unwrap());
    let (code, out, said) = run(&["config", "check"]);
    assert_eq!(code, 0, "{out}{said}");
    std::fs::write(scratch.path().join("braid.toml"), "[store]\nbackendd = \"embedded\"\n").unwrap();
    for arguments in [&["config", "check"][..], &["serve"]] {
        let (code, _, said) = run(arguments);
        assert!(
            code == 2 && said.contains("braid.toml:2: ") && said.contains("did you mean `backend`?"),
            "{said}"
        );
    }
    std::fs::remove_file(scratch.path().join("braid.toml")).unwrap();
    let (code, out, _) = run(&["-s", "127.0.0.1:1", "doctor"]);
    assert!(code == 0 && out.contains("warn") && out.contains("braid serve"), "{out}");
    assert!(out.contains("data directory braid-data"), "{out}");
    let nobody = "[store]\nbackend = \"cassandra\"\n[store.cassandra]\ncontact_points = [\"127.0.0.1:1\"]\n";
    std::fs::write(scratch.path().join("braid.toml"), nobody).unwrap();
    let (code, out, _) = run(&["-s", "127.0.0.1:1", "doctor"]);
    let place = "ok    events are kept in Cassandra at 127.0.0.1:1, keyspaces braid_*\n";
    assert!(code == 8 && out.contains(place) && !out.contains("directory"), "{out}");
}
