//! `braid` as a process.
//!
//! Its events are in a directory. With `BRAID_TEST_BACKEND=cassandra` a test may have them in the node of `dev/cassandra`, under a
//! keyspace prefix of its own that is gone when the test ends.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use env::Env;
use rpc::client::Client;

pub(crate) const BRAID: &str = env!("CARGO_BIN_EXE_braid");

/// The command with nothing of this environment that could change what it does.
pub(crate) fn braid(arguments: &[&str]) -> Command {
    let mut command = Command::new(BRAID);
    command.args(arguments).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

/// Whether the suite runs over Cassandra.
pub(crate) fn over_cassandra() -> bool {
    match std::env::var("BRAID_TEST_BACKEND").as_deref() {
        Ok("cassandra") => true,
        Ok("embedded" | "") | Err(_) => false,
        Ok(other) => panic!("BRAID_TEST_BACKEND is {other}; give embedded or cassandra"),
    }
}

/// Keyspaces of one test in the node. Dropped with it.
struct Keyspaces {
    settings: [(&'static str, String); 2],
}

impl Keyspaces {
    fn new() -> Self {
        // The process tells runs apart, the number tests: 3 + 4 + 3 characters are all that a prefix has.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id() % 0x1_0000, NUMBER.fetch_add(1, Ordering::Relaxed));
        let settings = [
            ("BRAID__STORE__BACKEND", "cassandra".to_owned()),
            ("BRAID__STORE__CASSANDRA__KEYSPACE_PREFIX", format!("cli{process:04x}{number:x}")),
        ];
        Self { settings }
    }
}

impl Drop for Keyspaces {
    fn drop(&mut self) {
        let flags = server::config::Flags { config: None, data: None, listen: None };
        let settings = self.settings.clone().map(|(key, value)| (key.to_owned(), value));
        let config = server::config::load(&flags, settings, None).unwrap().config;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let dropped = runtime.block_on(async { server::drop_keyspaces(&config, &Env::system()).await });
        // A panic on top of another would hide it.
        assert!(dropped.is_ok() || std::thread::panicking(), "{dropped:?}");
    }
}

/// A server in its own process. Killed when dropped.
pub(crate) struct Serving {
    child: Child,
    /// They go when the process is gone, so that nobody works in them any more.
    keyspaces: Option<Keyspaces>,
    pub(crate) address: String,
    said: BufReader<ChildStderr>,
}

impl Serving {
    pub(crate) fn start(data: &Path) -> Self {
        let mut command = braid(&["serve", "--listen", "127.0.0.1:0", "--data"]);
        command.arg(data).current_dir(data.parent().unwrap());
        Self::from(command)
    }

    /// The same on the store that the suite runs on.
    pub(crate) fn on_chosen_store(data: &Path) -> Self {
        if !over_cassandra() {
            return Self::start(data);
        }
        let keyspaces = Keyspaces::new();
        let mut command = braid(&["serve", "--listen", "127.0.0.1:0"]);
        command.current_dir(data.parent().unwrap()).envs(keyspaces.settings.clone());
        let mut serving = Self::from(command);
        serving.keyspaces = Some(keyspaces);
        serving
    }

    /// Starts `command` and waits for the line that names the address.
    pub(crate) fn from(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        let mut serving = Self { child, keyspaces: None, address: String::new(), said };
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
