//! `braid serve` over a cluster that is not there.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::process::braid;

#[test]
fn serve_says_that_the_cluster_is_not_there_and_goes_on_trying() {
    let scratch = tempfile::tempdir().unwrap();
    let mut command = braid(&["serve", "--listen", "127.0.0.1:0"]);
    command
        .current_dir(scratch.path())
        .env("BRAID__STORE__BACKEND", "cassandra")
        .env("BRAID__STORE__CASSANDRA__CONTACT_POINTS", "127.0.0.1:1");
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let stopped = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(stopped.success(), "it ended by itself: {line}");
    child.wait().unwrap();
    let parts = ["WARN", "not ready at 127.0.0.1:", "trying again every 2 s", "check the contact points"];
    assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0, "no directory for data is made");
}
