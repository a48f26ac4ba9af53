//! A client that shares nothing with this project: Python's gRPC by reflection, and the published bodies as JSON.

use std::process::Command;

use crate::process::BRAID;

#[test]
fn a_foreign_client_writes_and_reads() {
    let output = Command::new(env!("CARGO")).args(["xtask", "foreign", BRAID]).output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("30 events written, read in pages and streamed"), "{said}");
    assert!(said.contains("the published request bodies are answered"), "{said}");
}
