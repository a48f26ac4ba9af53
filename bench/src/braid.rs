//! The product's binary, as a user runs it: `braid serve` in a process of its own.
//!
//! It lies beside this one, where `make bench` builds it. A server that is dropped without [`Braid::stop`], because
//! a question failed, is killed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use env::Spawn;
use rustix::process::{Pid, Signal, kill_process};

use crate::harness::Process;

const NAME: &str = "braid";
/// A server that is not ready by then never will be.
const READY_WITHIN: Duration = Duration::from_secs(60);
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// What the settings of the server may be called in the environment; none of whoever measures shall count.
const VARIABLES: &str = "BRAID_";
/// Only what may need somebody, so that a report is not lost in talk.
const LOG_LEVEL: (&str, &str) = ("BRAID__LOG__LEVEL", "warn");

/// Where the binary lies.
pub(crate) fn binary() -> Result<PathBuf> {
    let this = std::env::current_exe().context("cannot find where this binary lies")?;
    let binary = this.with_file_name(NAME);
    let found = binary.try_exists().with_context(|| format!("cannot look at {}", binary.display()))?;
    ensure!(found, "there is no {}; run `make bench`, which builds it first", binary.display());
    Ok(binary)
}

/// The binary with nothing of this process's environment that would change what it does.
pub(crate) fn command() -> Result<Command> {
    let mut command = Command::new(binary()?);
    let ours = |name: &std::ffi::OsString| name.to_string_lossy().starts_with(VARIABLES);
    for (name, _) in std::env::vars_os().filter(|(name, _)| ours(name)) {
        command.env_remove(name);
    }
    Ok(command)
}

/// A server that runs and has said that it is ready.
pub(crate) struct Braid {
    child: Child,
    address: SocketAddr,
    /// What it says from then on is its farewell.
    stopping: Arc<AtomicBool>,
}

/// A setting of the server, as the environment names it, and its value.
pub(crate) type Variable = (&'static str, String);

impl Braid {
    /// Starts a server on the data directory `data`, in which it also works, so that it finds no file of settings.
    pub(crate) fn serve(data: &Path, settings: &[Variable], spawn: &dyn Spawn) -> Result<Self> {
        let mut child = command()?
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .current_dir(data)
            .env(LOG_LEVEL.0, LOG_LEVEL.1)
            .envs(settings.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start braid serve")?;
        let stderr = child.stderr.take().context("braid serve has no error stream")?;
        let (found, ready) = sync_channel(1);
        // From here on, dropping it ends the child.
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut braid = Self { child, address, stopping: Arc::default() };
        let stopping = Arc::clone(&braid.stopping);
        spawn.thread("bench-stderr", Box::new(move || listen_to(stderr, &found, &stopping)))?;
        let said = ready.recv_timeout(READY_WITHIN).context("braid serve did not get ready")?;
        braid.address = said.map_err(|said| anyhow!("braid serve ended before it was ready:\n{said}"))?;
        Ok(braid)
    }

    /// Where it listens.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its process.
    pub(crate) fn process(&self) -> Process {
        Process::Other(self.child.id())
    }

    /// Whether `GET /readyz` is answered with 200.
    pub(crate) fn is_ready(&self) -> Result<bool> {
        Ok(is_ok(&self.get("/readyz")?))
    }

    /// What `GET /metrics` answers, with its head.
    pub(crate) fn metrics(&self) -> Result<String> {
        let answer = self.get("/metrics")?;
        ensure!(is_ok(&answer), "/metrics was refused: {answer}");
        Ok(answer)
    }

    fn get(&self, path: &str) -> Result<String> {
        let mut stream = TcpStream::connect(self.address).context("braid serve takes no connection")?;
        stream.set_read_timeout(Some(ANSWER_WITHIN))?;
        let request = format!("GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.address);
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).with_context(|| format!("{path} was not answered"))?;
        Ok(answer)
    }

    /// Asks it to stop and waits until it has: then its data directory is free.
    pub(crate) fn stop(mut self) -> Result<()> {
        self.stopping.store(true, Ordering::Relaxed);
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).context("no process id")?;
        kill_process(id, Signal::TERM).context("cannot stop braid serve")?;
        let status = self.child.wait()?;
        if !status.success() {
            bail!("braid serve ended with {status}");
        }
        Ok(())
    }
}

impl Drop for Braid {
    fn drop(&mut self) {
        // After `stop` there is nothing left to kill.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

/// Reads until the server says where it listens, and on until its end, so that it never waits for a reader. What it says
/// later (a warning, a panic) is passed on, but for what it says about its stop.
fn listen_to(stderr: ChildStderr, found: &SyncSender<Result<SocketAddr, String>>, stopping: &AtomicBool) {
    let (mut said, mut ready) = (String::new(), false);
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        match address_in(&line) {
            // Whoever started it has given up: the process is being killed.
            Some(address) if !ready => ready = found.send(Ok(address)).is_ok(),
            _ if !ready => said.extend([&line, "\n"]),
            _ if stopping.load(Ordering::Relaxed) => {}
            _ => eprintln!("{NAME}: {line}"),
        }
    }
    if !ready {
        let _given_up = found.send(Err(said));
    }
}

fn address_in(line: &str) -> Option<SocketAddr> {
    let (_, behind) = line.split_once("http://")?;
    behind.split([',', ' ', '/']).next()?.parse().ok()
}

fn is_ok(answer: &str) -> bool {
    answer.split(' ').nth(1) == Some("200")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_found_in_the_line_that_says_ready() {
        let check = |line, expect: Option<&str>| {
            assert_eq!(address_in(line).map(|address| address.to_string()).as_deref(), expect);
        };
        let line = "braid 0.1.0 is ready at http://127.0.0.1:40123, data in /tmp/x; stop with Ctrl-C";
        check(line, Some("127.0.0.1:40123"));
        check("ready at http://[::1]:7/", Some("[::1]:7"));
        check("starting", None);
        check("see http://example.org/", None);
    }

    #[test]
    fn only_two_hundred_is_ready() {
        assert!(is_ok("HTTP/1.1 200 OK\r\n\r\nready\n"));
        assert!(!is_ok("HTTP/1.1 503 Service Unavailable\r\n\r\n200"));
        assert!(!is_ok(""));
    }
}
