//! How much is measured, and where on disk.
//!
//! Data lies beside the binary, under `target/`: the temporary directory of many machines is memory, where a sync
//! costs nothing and a durable write would look free.

use std::path::PathBuf;

use anyhow::{Context, Result};
use tempfile::TempDir;

const ROUNDS: usize = 5;
const ROUNDS_QUICK: usize = 3;
/// A short run on less data: any value but the empty one.
const QUICK: &str = "QUICK";
const SCRATCH: &str = "bench-data";

/// How much is measured, and where.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// Whether a short run was asked for. Its figures are for finding mistakes, not for quoting.
    pub(crate) quick: bool,
    /// How often each side runs.
    pub(crate) rounds: usize,
    scratch: PathBuf,
}

impl Setting {
    /// What the environment asks for.
    pub(crate) fn from_env() -> Result<Self> {
        let quick = std::env::var_os(QUICK).is_some_and(|value| !value.is_empty());
        let binary = std::env::current_exe().context("cannot find where this binary lies")?;
        let scratch = binary.with_file_name(SCRATCH);
        Ok(Self { quick, rounds: if quick { ROUNDS_QUICK } else { ROUNDS }, scratch })
    }

    /// A short run, for tests of what is shown.
    #[cfg(test)]
    pub(crate) fn for_test(rounds: usize) -> Self {
        Self { quick: true, rounds, scratch: PathBuf::new() }
    }

    /// The size for this run.
    pub(crate) fn size(&self, full: u64, quick: u64) -> u64 {
        if self.quick { quick } else { full }
    }

    /// A fresh directory, removed when it is dropped.
    pub(crate) fn directory(&self) -> Result<TempDir> {
        let failed = || format!("cannot make a directory in {}; free disk space", self.scratch.display());
        std::fs::create_dir_all(&self.scratch).with_context(failed)?;
        tempfile::tempdir_in(&self.scratch).with_context(failed)
    }
}
