//! `cargo xtask`: what the build needs beyond cargo. House rules as code ([`tidy`]) and fetched tools ([`deny`],
//! [`tools`]). Nothing of the product may live here, and nothing of the product may depend on it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks to its user")]

mod deny;
mod tidy;
mod tools;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

const USAGE: &str = "usage: cargo xtask <command>
  tidy    check the house rules
  rules   list the house rules with their reasons
  deny    check licences, sources and banned crates (deny.toml)
  typos   check spelling (typos.toml)
  foreign BRAID
          let a client that shares nothing with this project talk to the binary BRAID (dev/foreign.py)
  read-export DIR
          read what `braid export` wrote with pyarrow and DuckDB (dev/read-export.py)";

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(err) => {
            eprintln!("xtask: {err:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode> {
    let args: Vec<String> = env::args().skip(1).collect();
    if deny::is_stand_in() {
        return deny::stand_in(&args);
    }
    let root = root()?;
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["tidy"] => tidy::run(&root),
        ["rules"] => Ok(tidy::list()),
        ["deny"] => deny::run(&root),
        ["typos"] => tools::TYPOS.run(&root, &[]),
        ["foreign", braid] => tools::FOREIGN.run(&root, &["dev/foreign.py", braid]),
        ["read-export", export] => tools::READERS.run(&root, &["dev/read-export.py", export]),
        _ => {
            eprintln!("{USAGE}");
            Ok(ExitCode::from(2))
        }
    }
}

/// The repository: cargo says where this package is; its parent is the root.
fn root() -> Result<PathBuf> {
    let package = env::var("CARGO_MANIFEST_DIR").context("run this as `cargo xtask`")?;
    Ok(Path::new(&package).parent().context("xtask has no parent directory")?.to_path_buf())
}
