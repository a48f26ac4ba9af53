//! A `braid serve` of a suite, as a process that can be killed, paused and started again.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use env::Env;
use rustix::process::{Pid, Signal, kill_process};

/// A server of a suite. Killed when dropped.
pub struct OwnServer {
    program: PathBuf,
    directory: PathBuf,
    settings: Vec<(String, String)>,
    /// None while it does not run.
    child: Option<Child>,
    address: String,
}

impl OwnServer {
    /// Starts `program` in `directory` with these settings and no others, on any free port; returns once it says where it listens.
    ///
    /// # Panics
    /// Where it does not start, as everything here: a test then fails.
    pub fn start(program: &str, directory: &Path, settings: &[(&str, String)]) -> Self {
        let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let (program, directory) = (program.into(), directory.to_owned());
        let mut server =
            Self { program, directory, settings, child: None, address: "127.0.0.1:0".to_owned() };
        server.start_again();
        server
    }

    /// Starts it again behind [`Self::kill`] or [`Self::stop`], at the address that it had.
    pub fn start_again(&mut self) {
        let mut command = Command::new(&self.program);
        command.args(["serve", "--listen", &self.address]).current_dir(&self.directory).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs(self.settings.iter().map(|(key, value)| (key, value)));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("a program");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let mut said = String::new();
        self.address = loop {
            let line = lines.next().and_then(Result::ok);
            let line = line.unwrap_or_else(|| panic!("it did not start, and said\n{said}"));
            if let Some((_, rest)) = line.split_once("is ready at http://") {
                break rest.split([' ', ',']).next().expect("an address").to_owned();
            }
            said = format!("{said}{line}\n");
        };
        // It goes on talking, and must not wait for anybody to listen.
        let talk = Box::new(move || lines.for_each(drop));
        Env::system().spawn.thread("braid-said", talk).expect("a thread");
        self.child = Some(child);
    }

    /// Where it listens, as host:port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// kill -9.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("a process");
            child.wait().expect("a process");
        }
    }

    /// Asks it to end, and waits until it has.
    pub fn stop(&mut self) {
        self.signal(Signal::TERM);
        if let Some(mut child) = self.child.take() {
            child.wait().expect("a process");
        }
    }

    /// Lets it hang.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let child = self.child.as_ref().expect("it runs");
        kill_process(Pid::from_child(child), signal).expect("a process");
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended by itself.
            let _gone = child.kill();
            let _gone = child.wait();
        }
    }
}
