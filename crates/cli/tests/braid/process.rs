//! `braid` as a process.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};

use rpc::client::Client;

pub(crate) const BRAID: &str = env!("CARGO_BIN_EXE_braid");

/// The command with nothing of this environment that could change what it does.
pub(crate) fn braid(arguments: &[&str]) -> Command {
    let mut command = Command::new(BRAID);
    command.args(arguments).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

/// A server in its own process. Killed when dropped.
pub(crate) struct Serving {
    child: Child,
    pub(crate) address: String,
    said: BufReader<ChildStderr>,
}

impl Serving {
    pub(crate) fn start(data: &Path) -> Self {
        let mut command = braid(&["serve", "--listen", "127.0.0.1:0", "--data"]);
        command.arg(data).current_dir(data.parent().unwrap());
        Self::from(command)
    }

    /// Starts `command` and waits for the line that names the address.
    pub(crate) fn from(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        let mut serving = Self { child, address: String::new(), said };
        let mut all = String::new();
        while serving.address.is_empty() {
            let mut line = String::new();
            let ended = serving.said.read_line(&mut line).unwrap() == 0;
            all.push_str(&line);
            assert!(!ended, "it did not start: {all}");
            if let Some((_, rest)) = line.split_once("http://") {
                serving.address = rest.split([' ', ',', '\n']).next().unwrap().to_owned();
            }
        }
        serving
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(&self.address).unwrap()
    }

    /// kill -9.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop and gives back its exit code and what it said.
    pub(crate) fn stop(mut self) -> (i32, String) {
        let stopped = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(stopped.success());
        let mut rest = String::new();
        self.said.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code().unwrap(), rest)
    }

    /// Runs a command against this server.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        braid(arguments).env("BRAID_SERVER", &self.address).output().unwrap()
    }

    /// Runs a command that must fail with this code, say this much on stderr and nothing else.
    pub(crate) fn refuses(&self, arguments: &[&str], expect: i32, text: &str) {
        let (code, out, said) = ended(self.run(arguments));
        assert_eq!((code, out.as_str()), (expect, ""), "{arguments:?}: {said}");
        assert!(said.contains(text), "{arguments:?}: {said}");
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended already; then there is nothing to kill.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

/// Exit code, stdout and stderr of a command.
pub(crate) fn ended(output: Output) -> (i32, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}
