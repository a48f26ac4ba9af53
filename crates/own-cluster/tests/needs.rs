//! What `dev/cassandra` says where something is missing that it runs on: all of it, in one line, and nothing is made.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// What every Debian has, and the script uses on its way to what may be missing.
const SYSTEM: [&str; 6] = ["bash", "env", "realpath", "seq", "sed", "grep"];

/// A machine with nothing but these programs, no Java, and an empty cache.
struct Bare {
    directory: TempDir,
}

impl Bare {
    fn with(programs: &[&str]) -> Self {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("bin");
        std::fs::create_dir(&path).unwrap();
        for program in SYSTEM.iter().chain(programs) {
            std::os::unix::fs::symlink(found(program), path.join(program)).unwrap();
        }
        Self { directory }
    }

    fn cache(&self) -> PathBuf {
        self.directory.path().join("cache")
    }

    fn run(&self, verb: &str) -> Output {
        // Asked when it runs: what was built may be kept for another checkout.
        let crate_home = std::env::var("CARGO_MANIFEST_DIR").unwrap();
        let mut command = Command::new(Path::new(&crate_home).join("../../dev/cassandra"));
        command.arg(verb).env_clear().env("PATH", self.directory.path().join("bin"));
        command.env("XDG_CACHE_HOME", self.cache()).env("BRAID_JVMS", self.directory.path());
        command.output().unwrap()
    }

    /// Runs a verb, which has to end with this on stderr and nothing else anywhere.
    fn says(&self, verb: &str, expect: &str) {
        let ended = self.run(verb);
        let (out, complained) =
            (String::from_utf8(ended.stdout).unwrap(), String::from_utf8(ended.stderr).unwrap());
        assert_eq!((ended.status.code(), out.as_str(), complained.as_str()), (Some(1), "", expect));
        let made = self.cache().try_exists().unwrap();
        assert!(!made, "something was made before it was known that it cannot work");
    }
}

/// Where a program of this machine is.
fn found(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut all = std::env::split_paths(&path).map(|directory| directory.join(program));
    all.find(|file| file.is_file()).unwrap_or_else(|| panic!("this machine has no {program}"))
}

#[test]
fn everything_that_is_missing_is_named_in_one_line() {
    Bare::with(&[]).says(
        "start",
        "dev/cassandra: please install mvn, Java 17, python3, flock (on Debian: apt-get install maven \
         openjdk-17-jre-headless python3 util-linux) and try again\n",
    );
}

#[test]
fn what_is_there_is_not_named() {
    Bare::with(&["python3", "flock"]).says(
        "start",
        "dev/cassandra: please install mvn, Java 17 (on Debian: apt-get install maven openjdk-17-jre-headless) and \
         try again\n",
    );
}

#[test]
fn looking_at_nodes_needs_python_alone() {
    let advice = "dev/cassandra: please install python3 (on Debian: apt-get install python3) and try again\n";
    Bare::with(&[]).says("status", advice);
    // With it the look goes on, to nodes that are not there.
    let bare = Bare::with(&["python3"]);
    let nodes = bare.cache().join("braid/cassandra/cluster");
    bare.says("status", &format!("dev/cassandra: there are no nodes in {}; start some\n", nodes.display()));
}
