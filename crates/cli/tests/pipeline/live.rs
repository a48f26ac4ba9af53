//! A writer and a reader of the present that never stop, and what they hold the servers to: an event that was acknowledged is in
//! every later read, whole, once and in order; a call that fails says that it may be sent again.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::Duration;

use api::v1;
use env::Env;
use rpc::client::CallError;
use tokio::sync::watch;

use crate::fleet::{Fleet, SEEN_WITHIN};

pub(crate) const NAMESPACE: &str = "plays";
const SERIES: &str = "live";
/// The wait between two calls of a client, so that the others have some of the machine.
const PACE: Duration = Duration::from_millis(20);
/// Who waits longer asks somebody else: a server may hang.
const PATIENCE: Duration = Duration::from_secs(10);
/// So many of the newest events are read at a time, until the end.
const WINDOW: usize = 600;
const PAGE: i32 = 250;
/// So many calls of each kind have to end well for the workload to go on.
const ENOUGH: u64 = 8;

/// Kinds of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Write,
    Read,
    Wide,
}

/// How calls of a kind have ended.
#[derive(Clone, Copy, Debug, Default)]
struct Ended {
    well: u64,
    failed: u64,
}

/// How calls have ended.
type Calls = BTreeMap<Kind, Ended>;

fn well(calls: &Calls, kind: Kind) -> u64 {
    calls.get(&kind).map_or(0, |ended| ended.well)
}

pub(crate) struct Live<'a> {
    fleet: &'a Fleet,
    /// Events that were sent, by their time; whether somebody has acknowledged them.
    sent: RefCell<BTreeMap<i64, bool>>,
    calls: watch::Sender<Calls>,
    open: Cell<bool>,
    /// Pages that were asked for: whose turn it is, for each reader by itself. With one count for both a server that hangs may meet
    /// one of them at every page.
    turns: RefCell<BTreeMap<Kind, usize>>,
}

/// The answer, unless nobody gives one.
pub(crate) async fn within<T>(env: &Env, call: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        answer = call => Some(answer),
        () = env.clock.sleep(PATIENCE) => None,
    }
}

impl<'a> Live<'a> {
    pub(crate) fn new(fleet: &'a Fleet) -> Self {
        let calls = watch::Sender::default();
        Self { fleet, sent: RefCell::default(), calls, open: Cell::new(true), turns: RefCell::default() }
    }

    pub(crate) fn close(&self) {
        self.open.set(false);
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.get()
    }

    pub(crate) async fn rest(&self) {
        self.fleet.env.clock.sleep(PACE).await;
    }

    pub(crate) fn summary(&self) -> String {
        let calls = self.calls.borrow();
        let line =
            |(kind, ended): (&Kind, &Ended)| format!("{kind:?} {} ({} failed)", ended.well, ended.failed);
        calls.iter().map(line).collect::<Vec<_>>().join(", ")
    }

    /// Calls that have failed so far, of any kind.
    pub(crate) fn failed(&self) -> u64 {
        self.calls.borrow().values().map(|ended| ended.failed).sum()
    }

    /// Waits until more writes and reads have ended well.
    pub(crate) async fn goes_on(&self, when: &str) {
        let before = self.calls.borrow().clone();
        let enough = |calls: &Calls| {
            [Kind::Write, Kind::Read]
                .into_iter()
                .all(|kind| well(calls, kind) >= well(&before, kind) + ENOUGH)
        };
        let mut seen = self.calls.subscribe();
        let waited = tokio::select! {
            calls = seen.wait_for(enough) => calls.is_ok(),
            () = self.fleet.env.clock.sleep(SEEN_WITHIN) => false,
        };
        assert!(waited, "the workload does not go on {when}: {}", self.summary());
        self.fleet.say(&format!("{when}: {}", self.summary()));
    }

    /// Counts a call, or a whole read, that ended well.
    pub(crate) fn counted(&self, kind: Kind) {
        self.calls.send_modify(|calls| calls.entry(kind).or_default().well += 1);
    }

    /// Makes a call. It may fail, or hang with its server, but only in a way that says: send it again.
    pub(crate) async fn call<T>(
        &self,
        call: impl Future<Output = Result<T, CallError>>,
        kind: Kind,
    ) -> Option<T> {
        let answer = within(&self.fleet.env, call).await;
        self.rest().await;
        match answer {
            Some(Ok(answer)) => return Some(answer),
            Some(Err(error)) => {
                assert_eq!(error.exit_code(), 6, "not an error to try again on: {error:?}");
            }
            None => {}
        }
        self.calls.send_modify(|calls| calls.entry(kind).or_default().failed += 1);
        None
    }

    /// A page from the next server, or from the other one where that fails.
    pub(crate) async fn page(
        &self,
        request: &v1::ReadEventRecordsRequest,
        kind: Kind,
    ) -> Option<v1::ReadEventRecordsResponse> {
        let clients = &self.fleet.clients;
        let turn = {
            let mut turns = self.turns.borrow_mut();
            let turn = turns.entry(kind).or_default();
            *turn += 1;
            *turn % clients.len()
        };
        for client in clients.iter().cycle().skip(turn).take(clients.len()) {
            if let Some(page) = self.call(client.read(request.clone()), kind).await {
                return Some(page);
            }
        }
        None
    }

    /// Writes one event after the other, in turn to each server; none is sent twice.
    pub(crate) async fn write(&self) {
        let mut last = 0;
        for client in self.fleet.clients.iter().cycle().take_while(|_| self.is_open()) {
            // Times grow, also where the clock does not.
            last = self.fleet.env.clock.wall().max(last + 1);
            self.sent.borrow_mut().insert(last, false);
            let events = vec![event(last)];
            let request = v1::WriteEventRecordsRequest { namespace: NAMESPACE.to_owned(), events };
            if let Some(answer) = self.call(client.write_synced(request), Kind::Write).await {
                assert_eq!((answer.accepted, answer.results.len()), (1, 0), "{:?}", answer.results);
                self.sent.borrow_mut().insert(last, true);
                self.counted(Kind::Write);
            }
        }
    }

    /// Reads the newest events, again and again.
    pub(crate) async fn read(&self) {
        while self.is_open() {
            let first = self.sent.borrow().keys().rev().nth(WINDOW).copied();
            if self.read_from(first.unwrap_or(0)).await {
                self.counted(Kind::Read);
            }
        }
    }

    /// Everything, once the writer has ended.
    pub(crate) async fn check_all(&self) {
        let read = async || self.read_from(0).await.then_some(());
        self.fleet.until("all events are read", read).await;
    }

    /// Reads from a time on, each page from the next server, and compares with what was acknowledged before. False where a call
    /// failed.
    async fn read_from(&self, first: i64) -> bool {
        let before = self.sent.borrow().clone();
        let (start, end) = match (before.range(first..).next(), before.keys().next_back()) {
            (Some((start, _)), Some(end)) => (*start, end + 1),
            _ => {
                self.rest().await;
                return false;
            }
        };
        let mut request = v1::ReadEventRecordsRequest {
            namespace: NAMESPACE.to_owned(),
            time_series_id: SERIES.to_owned(),
            time_interval: Some(v1::TimeInterval { start: Some(time(start)), end: Some(time(end)) }),
            page_size: PAGE,
            order: v1::Order::OldestFirst.into(),
            ..v1::ReadEventRecordsRequest::default()
        };
        let mut found = Vec::new();
        loop {
            let Some(page) = self.page(&request, Kind::Read).await else { return false };
            if page.partial.is_some() {
                // Honest, and not all: a server without a lease says what is certain.
                return false;
            }
            for record in page.records {
                let at = nanos(record.event_time.unwrap());
                assert_eq!(record, event(at), "an event is not as it was written");
                found.push(at);
            }
            if page.next_page_token.is_empty() {
                break;
            }
            request.page_token = page.next_page_token;
        }
        assert!(found.is_sorted_by(|a, b| a < b), "an event came twice, or out of order");
        let mut wanted = before.range(start..).filter(|(_, acknowledged)| **acknowledged);
        let lost = wanted.find(|(at, _)| found.binary_search(at).is_err());
        assert_eq!(lost, None, "acknowledged and lost");
        let unknown = found.iter().find(|at| !before.contains_key(at));
        assert_eq!(unknown, None, "nobody has sent it");
        true
    }
}

fn time(nanos: i64) -> prost_types::Timestamp {
    let second = 1_000_000_000;
    prost_types::Timestamp { seconds: nanos / second, nanos: i32::try_from(nanos % second).unwrap() }
}

fn nanos(time: prost_types::Timestamp) -> i64 {
    time.seconds * 1_000_000_000 + i64::from(time.nanos)
}

/// Two items, so that half an event would show.
fn event(at: i64) -> v1::Event {
    let item = |key: &str| v1::EventItem {
        event_item_key: key.to_owned(),
        event_item_value: format!("{key} of {at}").into(),
        ..v1::EventItem::default()
    };
    v1::Event {
        time_series_id: SERIES.to_owned(),
        event_time: Some(time(at)),
        event_id: format!("e{at}"),
        event_items: vec![item("a"), item("b")],
        continues: false,
    }
}
