//! The commands on the pages that users read first run as they are written, and say what the pages show.
//!
//! In a block marked `console`, a line that begins with `$ ` is run by a shell; the lines below it must all be in what it
//! says, in that order, where anything with a digit in it may have other digits. `braid serve` is started by the test.

use std::path::Path;
use std::process::Command;

use crate::process::{BRAID, Serving};

const DEFAULT_ADDRESS: &str = "127.0.0.1:7420";

struct Step {
    command: String,
    shown: Vec<String>,
}

/// The steps of every `console` block, in order.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(kind) => inside = kind == "console",
            None if inside => match line.strip_prefix("$ ") {
                Some(command) => steps.push(Step { command: command.to_owned(), shown: Vec::new() }),
                None => steps.last_mut().expect("output before a command").shown.push(line.to_owned()),
            },
            None => {}
        }
    }
    steps
}

/// A line without what differs between runs.
fn masked(line: &str) -> String {
    let word = |word: &str| {
        if word.contains(|c: char| c.is_ascii_digit()) { "#".to_owned() } else { word.to_owned() }
    };
    line.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

fn check_page(name: &str) {
    let root = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../..");
    let page = std::fs::read_to_string(root.join(name)).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let server = Serving::start(&scratch.path().join("data"));
    let home = Path::new(BRAID).parent().unwrap();
    let path = format!("{}:{}", home.display(), std::env::var("PATH").unwrap());
    let steps = steps(&page);
    assert!(steps.len() > 3, "{name} has too few commands: is the marker of its blocks still `console`?");
    for Step { command, shown } in steps {
        if command.starts_with("braid serve") || command.starts_with("make ") {
            continue;
        }
        let ran = Command::new("sh")
            .args(["-c", &command.replace(DEFAULT_ADDRESS, &server.address)])
            .env("BRAID_SERVER", &server.address)
            .env("PATH", &path)
            .current_dir(scratch.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{name}: `{command}` failed: {said}");
        let mut lines = said.lines().map(masked);
        for line in shown {
            let expect = masked(&line);
            assert!(
                lines.any(|found| found == expect),
                "{name}: `{command}` does not say `{line}` but:\n{said}"
            );
        }
    }
}

#[test]
fn the_readme_runs() {
    check_page("README.md");
}
