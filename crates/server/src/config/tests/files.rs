//! Which file is read, and what is told when it cannot be.

use std::fs;
use std::path::Path;

use super::super::{Flags, load};
use super::environment;

/// What `limits.streams` is, and which file gave it, or what was told.
fn streams(flag: Option<&Path>, variable: Option<&Path>, in_directory: Option<&Path>) -> String {
    let flags = Flags { config: flag.map(Path::to_owned), ..Flags::default() };
    let variable = variable.map(|path| format!("BRAID_CONFIG={}", path.display()));
    match load(&flags, environment(&variable.iter().map(String::as_str).collect::<Vec<_>>()), in_directory) {
        Ok(loaded) => {
            let file =
                loaded.file().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
            format!("{} {}", loaded.config.limits.streams, file.unwrap_or_default())
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn flag_then_variable_then_the_working_directory() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, streams: usize| {
        let path = directory.path().join(name);
        fs::write(&path, format!("[limits]\nstreams = {streams}")).unwrap();
        path
    };
    let (flag, variable, here) = (write("flag", 1), write("variable", 2), write("braid.toml", 3));
    assert_eq!(streams(Some(&flag), Some(&variable), Some(&here)), "1 flag");
    assert_eq!(streams(None, Some(&variable), Some(&here)), "2 variable");
    assert_eq!(streams(None, None, Some(&here)), "3 braid.toml");
    assert_eq!(streams(None, Some(Path::new("")), Some(&here)), "3 braid.toml");
    assert_eq!(streams(None, None, None), "64 ");
}

#[test]
fn only_a_file_that_was_named_has_to_be_there() {
    let directory = tempfile::tempdir().unwrap();
    let none = directory.path().join("none.toml");
    let told = |by: &str| {
        let path = none.display();
        format!("{path}: there is no such file, and {by} names it; correct the path or create the file")
    };
    assert_eq!(streams(None, None, Some(&none)), "64 ");
    assert_eq!(streams(Some(&none), None, None), told("--config"));
    assert_eq!(streams(None, Some(&none), None), told("BRAID_CONFIG"));
}

#[test]
fn what_is_no_text_or_too_large_cannot_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("braid.toml");
    let told = |why: &str| {
        let path = path.display();
        format!("{path}: cannot be read ({why}); make it a readable text file, or name another with --config")
    };
    fs::write(&path, b"\xff").unwrap();
    assert_eq!(streams(None, None, Some(&path)), told("stream did not contain valid UTF-8"));
    fs::write(&path, "\n".repeat(64 << 10)).unwrap();
    assert_eq!(streams(None, None, Some(&path)), "64 braid.toml");
    fs::write(&path, "\n".repeat((64 << 10) + 1)).unwrap();
    assert_eq!(streams(None, None, Some(&path)), told("it is larger than 64 KiB"));
}
