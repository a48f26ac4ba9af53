//! Three nodes that a question has for itself, and shares of a core that each is held to, by the control groups of the kernel.
//!
//! The ring is in thirds and everything is kept once, so a partition is the work of one node.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use super::node::{dev_cassandra, processes};
use crate::harness::{Process, Setting};

/// Where the first of them listens; the others follow. Another address where these are taken.
const ADDRESS: &str = "127.0.0.61";
const ANOTHER: &str = "BENCH_TRIO_IP";
const HEAP: &str = "1g";
/// How many there are.
pub(crate) const NODES: usize = 3;
/// Of so many microseconds a node may use a part.
const PERIOD_MICROS: u32 = 20_000;
const GROUPS_V1: &str = "/sys/fs/cgroup/cpu";
const GROUPS_V2: &str = "/sys/fs/cgroup";

/// The nodes. Dropping it wipes them.
pub(crate) struct Trio {
    /// Where the first of them listens.
    pub(crate) first: SocketAddr,
    pub(crate) processes: Vec<Process>,
    groups: Vec<PathBuf>,
    directory: TempDir,
}

impl Trio {
    /// Starts them.
    pub(crate) fn start(setting: &Setting) -> Result<Self> {
        let directory = setting.directory()?;
        let address = std::env::var(ANOTHER).unwrap_or_else(|_| ADDRESS.to_owned());
        let first = SocketAddr::new(address.parse().with_context(|| format!("{ANOTHER}={address}"))?, 9_042);
        let mut trio = Self { first, processes: Vec::new(), groups: Vec::new(), directory };
        let how = ["--nodes", "3", "--heap", HEAP, "--ip", &address];
        dev_cassandra(Some(trio.directory()), "start", &how).context("cannot start three nodes")?;
        trio.processes = processes(&dev_cassandra(Some(trio.directory()), "status", &[])?);
        ensure!(trio.processes.len() == NODES, "{} of {NODES} nodes run", trio.processes.len());
        Ok(trio)
    }

    /// Where they keep what they have.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Holds each to so many thousandths of a core.
    pub(crate) fn hold(&mut self, thousandths: u32) -> Result<()> {
        let quota = PERIOD_MICROS * thousandths / 1_000;
        for (number, process) in (1..).zip(&self.processes) {
            let Process::Other(id) = process else { continue };
            let name = format!("braid-bench-{}-{number}", std::process::id());
            let group =
                Groups::find()?.make(&name, quota).context("cannot hold a node to a part of a core")?;
            self.groups.push(group.clone());
            std::fs::write(group.join("cgroup.procs"), id.to_string())?;
        }
        Ok(())
    }
}

impl Drop for Trio {
    fn drop(&mut self) {
        // What is left lies in the directory, which goes as well; a group of processes that are gone can be removed.
        let _wiped = dev_cassandra(Some(self.directory.path()), "wipe", &[]);
        for group in &self.groups {
            let _removed = std::fs::remove_dir(group);
        }
    }
}

/// Which control groups the machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Groups {
    V1,
    V2,
}

impl Groups {
    fn find() -> Result<Self> {
        let has = |path: &str| Path::new(path).try_exists().unwrap_or(false);
        if has(&format!("{GROUPS_V1}/cpu.cfs_quota_us")) {
            return Ok(Self::V1);
        }
        ensure!(
            has(&format!("{GROUPS_V2}/cgroup.controllers")),
            "there are no control groups; mount cgroup2 at {GROUPS_V2}"
        );
        Ok(Self::V2)
    }

    /// Makes a group that may use so much of every period.
    fn make(self, name: &str, quota: u32) -> Result<PathBuf> {
        let group = Path::new(match self {
            Self::V1 => GROUPS_V1,
            Self::V2 => GROUPS_V2,
        })
        .join(name);
        if self == Self::V2 {
            std::fs::write(Path::new(GROUPS_V2).join("cgroup.subtree_control"), "+cpu")?;
        }
        std::fs::create_dir(&group).with_context(|| format!("cannot make {}; be root", group.display()))?;
        for (file, value) in self.limits(quota) {
            std::fs::write(group.join(file), value)?;
        }
        Ok(group)
    }

    /// What is written where.
    fn limits(self, quota: u32) -> Vec<(&'static str, String)> {
        match self {
            Self::V1 => vec![
                ("cpu.cfs_period_us", PERIOD_MICROS.to_string()),
                ("cpu.cfs_quota_us", quota.to_string()),
            ],
            Self::V2 => vec![("cpu.max", format!("{quota} {PERIOD_MICROS}"))],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_written_as_the_kernel_wants_it() {
        assert_eq!(Groups::V2.limits(8_000), [("cpu.max", "8000 20000".to_owned())]);
        let v1 = Groups::V1.limits(8_000).into_iter().map(|(_, value)| value).collect::<Vec<_>>();
        assert_eq!(v1, ["20000", "8000"]);
    }
}
