//! `braid demo` on the smallest scale: the facts, not the figures.

use crate::process::braid;

#[test]
fn the_demo_reads_back_what_it_wrote() {
    let scratch = tempfile::tempdir().unwrap();
    let mut command = braid(&["demo", "--scale", "s", "--json"]);
    let output = command.current_dir(scratch.path()).env("TMPDIR", scratch.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let facts: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    println!("{facts:#}");
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0, "nothing is left behind");
}
