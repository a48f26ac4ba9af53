//! What every client has done so far, for the scenarios to wait on; and how long a call may take.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use env::Env;
use store::{ErrorKind, Result};
use tokio::sync::watch;

/// The wait between two calls of a client, so that the nodes keep some of the machine to themselves.
const PACE: Duration = Duration::from_millis(50);
/// Successes of every client that show that work goes on.
const GOES_ON: u64 = 20;
/// How long that may take.
const GOES_ON_WITHIN: Duration = Duration::from_secs(100);

/// What a client does. The number tells clients of one kind apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Client {
    Writer(usize),
    Reader(usize),
    Changer(usize),
}

impl Client {
    const fn kind(self) -> &'static str {
        match self {
            Self::Writer(_) => "writes",
            Self::Reader(_) => "scans",
            Self::Changer(_) => "changes",
        }
    }

    /// How long a call may take, whatever is down. For rows no attempt begins after 10 s and each ends within 6; a
    /// record is changed within 10 s and read back within 20, and one that hangs half way once more.
    const fn deadline(self) -> Duration {
        match self {
            Self::Writer(_) | Self::Reader(_) => Duration::from_secs(18),
            Self::Changer(_) => Duration::from_secs(45),
        }
    }
}

/// The calls of one client.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Calls {
    pub(crate) done: u64,
    pub(crate) unavailable: u64,
    pub(crate) unknown: u64,
    slowest: Duration,
}

impl Calls {
    /// Calls that failed.
    pub(crate) const fn failed(self) -> u64 {
        self.unavailable + self.unknown
    }
}

type All = BTreeMap<Client, Calls>;

/// The calls of all clients.
pub(crate) struct Board {
    env: Env,
    calls: watch::Sender<All>,
    open: watch::Sender<bool>,
}

impl Board {
    pub(crate) fn new(env: &Env) -> Self {
        Self { env: env.clone(), calls: watch::Sender::default(), open: watch::Sender::new(true) }
    }

    /// Whether clients should go on.
    pub(crate) fn is_open(&self) -> bool {
        *self.open.borrow()
    }

    /// Lets the clients end.
    pub(crate) fn close(&self) {
        self.open.send_replace(false);
    }

    /// Makes a call, in its time, and counts how it ended. Fails the test where it hangs, or fails for good.
    pub(crate) async fn call<T>(&self, client: Client, call: impl Future<Output = Result<T>>) -> Result<T> {
        let began = self.env.clock.boot();
        let answer = tokio::select! {
            answer = call => answer,
            () = self.env.clock.sleep(client.deadline()) => panic!("{client:?} got no answer in its time"),
        };
        let took = self.env.clock.boot().since(began);
        let kind = answer.as_ref().err().map(store::Error::kind);
        self.calls.send_modify(|all| {
            let calls = all.entry(client).or_default();
            match kind {
                None => calls.done += 1,
                Some(ErrorKind::Unavailable) => calls.unavailable += 1,
                Some(ErrorKind::Unknown) => calls.unknown += 1,
                Some(kind) => panic!("{client:?} failed as {kind:?}: {:?}", answer.as_ref().err()),
            }
            calls.slowest = calls.slowest.max(took);
        });
        self.env.clock.sleep(PACE).await;
        answer
    }

    /// Starts to count anew.
    pub(crate) fn clear(&self) {
        self.calls.send_modify(|all| all.values_mut().for_each(|calls| *calls = Calls::default()));
    }

    /// Waits until `enough` holds for every client.
    pub(crate) async fn until(&self, what: &str, enough: impl Fn(Calls) -> bool) -> All {
        let mut seen = self.calls.subscribe();
        tokio::select! {
            all = seen.wait_for(|all| !all.is_empty() && all.values().all(|calls| enough(*calls))) => {
                all.unwrap().clone()
            }
            () = self.env.clock.sleep(GOES_ON_WITHIN) => panic!("{what} takes too long: {:?}", self.calls.borrow()),
        }
    }

    /// Waits until every client has succeeded often enough.
    pub(crate) async fn goes_on(&self, what: &str) -> All {
        self.until(what, |calls| calls.done >= GOES_ON).await
    }
}

/// One line about calls.
pub(crate) fn summary(all: &All) -> String {
    let mut text = String::new();
    for kind in ["writes", "scans", "changes"] {
        let of_kind = || all.iter().filter(|(client, _)| client.kind() == kind).map(|(_, calls)| calls);
        let sum = |of: fn(&Calls) -> u64| of_kind().map(of).sum::<u64>();
        let slowest = of_kind().map(|calls| calls.slowest).max().unwrap_or_default();
        let (done, failed) = (sum(|calls| calls.done), sum(|calls| calls.failed()));
        write!(text, "{kind} {done}, {failed} failed, slowest {:.1} s; ", slowest.as_secs_f32()).unwrap();
    }
    text.trim_end_matches("; ").to_owned()
}
