//! `braid demo` on the smallest scale: the facts, not the figures. With `BRAID_TEST_BACKEND=cassandra` on the node of
//! `dev/cassandra`.

use crate::process::braid;

#[test]
fn the_demo_reads_back_what_it_wrote() {
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
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0, "nothing is left behind");
}
