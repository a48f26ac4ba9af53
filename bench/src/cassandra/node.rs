//! The node: one on this machine, which `dev/cassandra start` runs.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::harness::{Answer, Process, Unit};

const PORT: u16 = 9042;
const CONNECT_WITHIN: Duration = Duration::from_secs(2);
/// Where another node listens than the one at 127.0.0.1, and its `--dir`.
const ADDRESS: &str = "BENCH_CASSANDRA_IP";
const DIRECTORY: &str = "BENCH_CASSANDRA_DIR";
/// What runs the node's own tool.
const DEV_CASSANDRA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dev/cassandra");

/// Where it listens.
pub(super) fn address() -> SocketAddr {
    let other = std::env::var(ADDRESS).ok().and_then(|address| address.parse().ok());
    SocketAddr::from((other.unwrap_or(Ipv4Addr::LOCALHOST), PORT))
}

/// `dev/cassandra` with a verb, for the cluster in `directory` or for the one of this run; what it says.
pub(super) fn dev_cassandra(directory: Option<&Path>, verb: &str, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(DEV_CASSANDRA);
    command.arg(verb);
    let directory =
        directory.map(Path::to_path_buf).or_else(|| std::env::var_os(DIRECTORY).map(PathBuf::from));
    if let Some(directory) = directory {
        command.arg("--dir").arg(directory);
    }
    let ran = command.args(arguments).output().with_context(|| format!("cannot run {DEV_CASSANDRA}"))?;
    let said = String::from_utf8_lossy(&ran.stderr);
    ensure!(ran.status.success(), "dev/cassandra {verb} {} failed: {}", arguments.join(" "), said.trim());
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// The processes of the nodes, in their order, as `dev/cassandra status` tells them.
pub(super) fn processes(status: &str) -> Vec<Process> {
    let ids = status.split_whitespace().filter_map(|word| word.strip_prefix("pid="));
    ids.filter_map(|id| id.parse().ok()).map(Process::Other).collect()
}

/// Measures if a node is there; else the answer says what to start.
pub(crate) fn beside(
    question: &'static str,
    unit: Unit,
    measure: impl FnOnce() -> Result<Answer>,
) -> Result<Answer> {
    match TcpStream::connect_timeout(&address(), CONNECT_WITHIN) {
        Ok(_) => measure(),
        Err(error) => Ok(Answer::new(question, unit, Vec::new(), &[])?.note(skipped(&error))),
    }
}

fn skipped(error: &std::io::Error) -> String {
    format!(
        "skipped: no Cassandra at {} ({error}); run `make bench-cassandra`, or `dev/cassandra start` and this again",
        address()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processes_are_found_in_what_is_said_of_the_nodes() {
        let status = "node1 127.0.0.1:9042 5.0.8 pid=77 memory_mib=900\nnode2 127.0.0.2:9042 5.0.8 pid=78 memory_mib=9\n";
        assert_eq!(processes(status), [Process::Other(77), Process::Other(78)]);
        assert_eq!(processes("node1 127.0.0.1:9042 down\n"), []);
    }

    #[test]
    fn who_is_skipped_says_what_to_start() {
        let said = skipped(&std::io::ErrorKind::ConnectionRefused.into());
        assert_eq!(
            said,
            "skipped: no Cassandra at 127.0.0.1:9042 (connection refused); run `make bench-cassandra`, or \
             `dev/cassandra start` and this again"
        );
    }
}
