//! This machine: the data directory, open files, the clock.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{Access, access, statvfs};
use rustix::process::{Resource, getrlimit};

use super::finding::Finding;
use crate::output::value::size;

/// The file that a server locks in its data directory.
const LOCK_FILE: &str = "LOCK";
/// Below this the store cannot even turn its journal over.
const FREE_BYTES_LEAST: u64 = 256 << 20;
/// Below this it is time to look.
const FREE_BYTES_LOW: u64 = 2 << 30;
/// Files that the store itself has open, with room for growth.
const STORE_FILES: u64 = 1_024;
/// Below this a server is likely to fail under any load.
const OPEN_FILES_LEAST: u64 = 256;
/// 2025-01-01: a clock before that was never set.
const CLOCK_LEAST_SECONDS: i64 = 1_735_689_600;

/// What is known of a data directory.
#[derive(Debug)]
pub(crate) struct Directory {
    /// Itself, or the nearest directory above that exists: where it would be made.
    exists: Exists,
    writable: bool,
    free_bytes: Option<u64>,
    /// Who has it open, if anybody.
    pub owner: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum Exists {
    Yes,
    /// Not yet; this is the directory above.
    Above(PathBuf),
    /// It is something else.
    NoDirectory,
}

/// Looks at the directory without changing anything.
pub(crate) fn look(data: &Path) -> Directory {
    let exists = match std::fs::metadata(data) {
        Ok(found) if found.is_dir() => Exists::Yes,
        Ok(_) => Exists::NoDirectory,
        Err(_) => Exists::Above(above(data)),
    };
    let place = match &exists {
        Exists::Above(above) => above,
        _ => data,
    };
    let free_bytes = statvfs(place).ok().map(|found| found.f_bavail.saturating_mul(found.f_frsize));
    let writable = access(place, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    Directory { writable, free_bytes, owner: owner(data), exists }
}

/// The nearest directory above that exists; a relative path starts here.
fn above(data: &Path) -> PathBuf {
    let named = data.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty());
    named.into_iter().find(|path| path.is_dir()).unwrap_or_else(|| Path::new(".")).to_owned()
}

/// Whether a process holds the lock. A shared lock for a moment tells, and is given back at once.
fn owner(data: &Path) -> Option<String> {
    let file = File::open(data.join(LOCK_FILE)).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {
            let process = std::fs::read_to_string(data.join(LOCK_FILE)).unwrap_or_default();
            Some(if process.is_empty() { "another process".to_owned() } else { format!("process {process}") })
        }
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

/// Judges the directory.
pub(crate) fn judge(data: &Path, directory: &Directory) -> Vec<Finding> {
    let name = data.display();
    let rights = "let the server's user write there, or choose another with --data";
    let mut findings = vec![match (&directory.exists, directory.writable) {
        (Exists::NoDirectory, _) => {
            Finding::fail(format!("{name} is not a directory"), "choose another with --data")
        }
        (Exists::Yes, false) => Finding::fail(format!("data directory {name} cannot be written"), rights),
        (Exists::Above(above), false) => {
            let what =
                format!("data directory {name} does not exist, and {} cannot be written", above.display());
            Finding::fail(what, rights)
        }
        (Exists::Yes, true) => {
            let owner = directory
                .owner
                .as_ref()
                .map_or_else(|| "not in use".to_owned(), |owner| format!("in use by {owner}"));
            Finding::ok(format!("data directory {name} can be written and is {owner}"))
        }
        (Exists::Above(_), true) => {
            Finding::ok(format!("data directory {name} does not exist yet; `braid serve` makes it"))
        }
    }];
    findings.push(match directory.free_bytes {
        None => Finding::warn(format!("free space for {name} is not known"), "look with `df`"),
        Some(free) if free < FREE_BYTES_LEAST => Finding::fail(
            format!("{} are free for {name}", size(free)),
            "free some, or choose another disk with --data",
        ),
        Some(free) if free < FREE_BYTES_LOW => {
            Finding::warn(format!("{} are free for {name}", size(free)), "free some, or shorten retention")
        }
        Some(free) => Finding::ok(format!("{} are free for {name}", size(free))),
    });
    findings
}

/// How many files this user's processes may open; none where there is no limit.
pub(crate) fn open_files() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// Judges the limit for a server that takes so many connections.
pub(crate) fn judge_open_files(limit: Option<u64>, connections: usize) -> Finding {
    let needed = STORE_FILES.saturating_add(u64::try_from(connections).unwrap_or(u64::MAX));
    let todo = format!("raise it to {needed} for the server, as with `ulimit -n {needed}`");
    match limit {
        None => Finding::ok("open files are not limited"),
        Some(limit) if limit < OPEN_FILES_LEAST => {
            Finding::fail(format!("only {limit} files may be open"), todo)
        }
        Some(limit) if limit < needed => {
            let what = format!(
                "{limit} files may be open; {connections} connections and the store can need {needed}"
            );
            Finding::warn(what, todo)
        }
        Some(limit) => Finding::ok(format!("{limit} files may be open")),
    }
}

/// Judges the clock by itself.
pub(crate) fn judge_clock(now: Timestamp) -> Finding {
    if now.as_second() < CLOCK_LEAST_SECONDS {
        return Finding::fail(format!("the clock says {now}"), "set it; events are judged by their age");
    }
    Finding::ok(format!("the clock says {}", now.round(jiff::Unit::Second).unwrap_or(now)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(directory: &Directory) -> String {
        judge(Path::new("d"), directory).iter().map(Finding::line).collect()
    }

    #[test]
    fn directories_are_judged_by_what_a_server_needs() {
        let made = |exists, writable, free_bytes| Directory { exists, writable, free_bytes, owner: None };
        let above = || Exists::Above(PathBuf::from("up"));
        let cases = [
            (
                made(Exists::Yes, true, Some(3 << 30)),
                "ok    data directory d can be written and is not in use\nok    3.0 GiB are free for d\n",
            ),
            (
                made(Exists::Yes, true, Some(1 << 30)),
                "ok    data directory d can be written and is not in use\nwarn  1.0 GiB are free for d  -> free some, or shorten retention\n",
            ),
            (
                made(above(), true, Some(1 << 20)),
                "ok    data directory d does not exist yet; `braid serve` makes it\nFAIL  1.0 MiB are free for d  -> free some, or choose another disk with --data\n",
            ),
            (
                made(above(), false, None),
                "FAIL  data directory d does not exist, and up cannot be written  -> let the server's user write there, or choose another with --data\nwarn  free space for d is not known  -> look with `df`\n",
            ),
        ];
        for (directory, expect) in cases {
            assert_eq!(lines(&directory), expect);
        }
        assert!(
            lines(&made(Exists::Yes, false, None))
                .starts_with("FAIL  data directory d cannot be written  -> ")
        );
        assert!(lines(&made(Exists::NoDirectory, true, None)).starts_with("FAIL  d is not a directory  -> "));
        let owned = Directory { owner: Some("process 7".to_owned()), ..made(Exists::Yes, true, None) };
        assert!(
            lines(&owned).starts_with("ok    data directory d can be written and is in use by process 7\n")
        );
    }

    #[test]
    fn looking_finds_the_owner_and_changes_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        let missing = scratch.path().join("a/b");
        let found = look(&missing);
        assert_eq!((found.exists, found.writable), (Exists::Above(scratch.path().to_owned()), true));
        assert!(!missing.try_exists().unwrap());
        assert!(found.free_bytes.is_some());
        std::fs::write(scratch.path().join(LOCK_FILE), "77").unwrap();
        assert_eq!(look(scratch.path()).owner, None);
        let held = File::open(scratch.path().join(LOCK_FILE)).unwrap();
        held.try_lock().unwrap();
        assert_eq!(look(scratch.path()).owner.as_deref(), Some("process 77"));
        drop(held);
        assert_eq!(look(scratch.path()).owner, None);
        assert_eq!(look(&scratch.path().join(LOCK_FILE)).exists, Exists::NoDirectory);
        assert_eq!(above(Path::new("no-such-directory")), Path::new("."));
    }

    #[test]
    fn open_files_are_judged_by_the_connections() {
        let line = |limit| judge_open_files(limit, 1_000).line();
        assert_eq!(line(None), "ok    open files are not limited\n");
        assert_eq!(line(Some(2_024)), "ok    2024 files may be open\n");
        assert_eq!(
            line(Some(2_023)),
            "warn  2023 files may be open; 1000 connections and the store can need 2024  -> \
             raise it to 2024 for the server, as with `ulimit -n 2024`\n"
        );
        assert!(line(Some(255)).starts_with("FAIL  only 255 files may be open  -> raise it to 2024"));
    }

    #[test]
    fn a_clock_that_was_never_set_fails() {
        assert!(judge_clock(Timestamp::UNIX_EPOCH).line().starts_with("FAIL  the clock says 1970-"));
        let now = Timestamp::new(1_778_542_920, 5).unwrap();
        assert_eq!(judge_clock(now).line(), "ok    the clock says 2026-05-11T23:42:00Z\n");
    }
}
