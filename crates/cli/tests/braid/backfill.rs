//! Old events: `import --backfill` opens closed time and closes it again, however it ends.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::process::{Serving, braid, ended};

fn serving(scratch: &Path) -> Serving {
    let server = Serving::on_chosen_store(&scratch.join("data"));
    let create = ["ns", "create", "plays", "--delete-after", "0"];
    assert_eq!(ended(server.run(&create)).0, 0);
    server
}

fn backfills(server: &Serving) -> String {
    let (code, shown, said) = ended(server.run(&["-o", "csv", "ns", "backfills", "plays"]));
    assert_eq!(code, 0, "{said}");
    shown.lines().skip(1).map(|line| format!("{line}\n")).collect()
}

/// An import that waits for its first line, and what it says.
fn waiting(server: &Serving) -> (Child, BufReader<ChildStderr>) {
    let mut command = braid(&["import", "-n", "plays", "--backfill", "-"]);
    command.env("BRAID_SERVER", &server.address).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut import = command.spawn().unwrap();
    let mut said = BufReader::new(import.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert!(line.starts_with("plays takes events of any age until this ends (by hand: `braid ns "), "{line}");
    (import, said)
}

#[test]
fn events_of_closed_time_are_taken_by_a_backfill_only() {
    let scratch = tempfile::tempdir().unwrap();
    let server = serving(scratch.path());
    let file = scratch.path().join("old.csv");
    std::fs::write(&file, "time_series_id,event_time,title\nuser:9,2020-01-01T12:00:00Z,Solaris\n").unwrap();
    let file = file.to_str().unwrap();
    let import = ["import", "-n", "plays", file];
    let (code, _, said) = ended(server.run(&import));
    assert!(code == 2 && said.contains("event_time is too old"), "{said}");
    assert!(said.contains(&format!("to take them: braid import -n plays --backfill {file}")), "{said}");
    let (code, _, said) = ended(server.run(&[&import[..], &["--backfill"]].concat()));
    assert!(code == 0 && said.contains("1 accepted"), "{said}");
    assert!(said.contains("plays takes old events no longer"), "{said}");
    assert_eq!(backfills(&server), "");
    assert_eq!(ended(server.run(&import)).0, 2, "it is over");
    let get = ["-o", "csv", "get", "-n", "plays", "user:9", "--from", "2020-01-01", "--to", "2020-01-02"];
    let (code, shown, _) = ended(server.run(&get));
    assert_eq!((code, shown.lines().count()), (0, 2), "{shown}");
    let (_, shown, _) = ended(server.run(&["-o", "csv", "audit"]));
    let reasons = shown.lines().filter(|line| line.contains(",braid import --backfill,"));
    assert_eq!(reasons.count(), 2, "{shown}");
}

#[test]
fn ctrl_c_ends_a_backfill_and_what_kill_9_leaves_can_be_ended_by_hand() {
    let scratch = tempfile::tempdir().unwrap();
    let server = serving(scratch.path());
    let (mut import, _said) = waiting(&server);
    // Waiting for the process would close it, and the import could end before it sees the signal.
    let _stdin = import.stdin.take();
    assert_eq!(backfills(&server).lines().count(), 1);
    assert!(Command::new("kill").args(["-INT", &import.id().to_string()]).status().unwrap().success());
    assert_eq!(import.wait().unwrap().code(), Some(130));
    assert_eq!(backfills(&server), "");

    let (mut import, _said) = waiting(&server);
    import.kill().unwrap();
    import.wait().unwrap();
    let left = backfills(&server);
    let id = left.split(',').next().unwrap();
    assert!(left.ends_with(",true\n"), "{left}");
    let (code, _, said) = ended(server.run(&["import", "-n", "plays", "--backfill", "/dev/null"]));
    assert!(code == 0 && said.contains("plays has 1 other backfill, perhaps of imports that"), "{said}");
    let end = ["ns", "backfills", "plays", "--end", id];
    let (code, _, said) = ended(server.run(&[&end[..], &["--validate-only"]].concat()));
    assert_eq!((code, said.as_str()), (0, "checked only; nothing was changed\n"));
    let (code, _, said) = ended(server.run(&end));
    assert_eq!((code, said), (0, format!("plays takes events of backfill {id} no longer\n")));
    assert_eq!(backfills(&server), "");
    server.refuses(&end, 5, "it was ended before");
    server.refuses(&["ns", "backfills", "nowhere"], 3, "create it first");
}
