//! One writer and one reader through the API, and what they hold the server to: an event that was acknowledged is in every
//! later read, whole and once; a call that fails says that it may be sent again; nothing hangs.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::time::Duration;

use api::v1;
use env::Env;
use rpc::client::{CallError, Client};
use tokio::sync::watch;

pub(crate) const NAMESPACE: &str = "plays";
const SERIES: &str = "s";
/// The wait between two calls of a client, so that the node keeps some of the machine to itself.
const PACE: Duration = Duration::from_millis(20);
/// No call takes longer, whatever is down: the server answers within 60 s.
const CALL_WITHIN: Duration = Duration::from_secs(70);
/// How long any scenario may take until it sees what it waits for.
const SEEN_WITHIN: Duration = Duration::from_secs(150);

/// How calls have ended, since the last look.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Calls {
    pub(crate) written: u64,
    pub(crate) read: u64,
    pub(crate) failed_writes: u64,
    pub(crate) failed_reads: u64,
}

pub(crate) struct Workload {
    env: Env,
    client: Client,
    /// Events sent so far; number `n` has the time `n`.
    sent: Cell<i64>,
    acknowledged: RefCell<BTreeSet<i64>>,
    calls: watch::Sender<Calls>,
    open: Cell<bool>,
}

impl Workload {
    pub(crate) fn new(env: &Env, address: &str) -> Self {
        Self {
            env: env.clone(),
            client: Client::new(address).unwrap(),
            sent: Cell::new(0),
            acknowledged: RefCell::default(),
            calls: watch::Sender::default(),
            open: Cell::new(true),
        }
    }

    /// Lets the clients end.
    pub(crate) fn close(&self) {
        self.open.set(false);
    }

    /// Counts anew and waits until `enough` holds.
    pub(crate) async fn until(&self, what: &str, enough: impl Fn(&Calls) -> bool) -> Calls {
        self.calls.send_replace(Calls::default());
        let mut seen = self.calls.subscribe();
        tokio::select! {
            calls = seen.wait_for(enough) => *calls.unwrap(),
            () = self.env.clock.sleep(SEEN_WITHIN) => panic!("{what} takes too long: {:?}", self.calls.borrow()),
        }
    }

    /// Writes one event after the other; none is sent twice.
    pub(crate) async fn write(&self) {
        while self.open.get() {
            let number = self.sent.get();
            self.sent.set(number + 1);
            let request =
                v1::WriteEventRecordsRequest { namespace: NAMESPACE.to_owned(), events: vec![event(number)] };
            match self.call(self.client.write_synced(request)).await {
                Ok(answer) => {
                    assert_eq!((answer.accepted, answer.results.len()), (1, 0), "event {number}");
                    self.acknowledged.borrow_mut().insert(number);
                    self.calls.send_modify(|calls| calls.written += 1);
                }
                Err(error) => self.failed(&error, |calls| &mut calls.failed_writes),
            }
        }
    }

    /// Reads everything, again and again.
    pub(crate) async fn read(&self) {
        while self.open.get() {
            self.read_all().await;
        }
    }

    /// Reads everything once, page by page, and compares it with what was acknowledged before.
    pub(crate) async fn read_all(&self) {
        let before = self.acknowledged.borrow().clone();
        let end = self.sent.get() + 1;
        let mut found = Vec::new();
        let mut request = v1::ReadEventRecordsRequest {
            namespace: NAMESPACE.to_owned(),
            time_series_id: SERIES.to_owned(),
            time_interval: Some(v1::TimeInterval { start: Some(at(0)), end: Some(at(end)) }),
            page_size: 500,
            order: v1::Order::OldestFirst.into(),
            ..v1::ReadEventRecordsRequest::default()
        };
        loop {
            let page = match self.call(self.client.read(request.clone())).await {
                Ok(page) => page,
                Err(error) => return self.failed(&error, |calls| &mut calls.failed_reads),
            };
            for record in page.records {
                let number = record.event_time.unwrap().seconds;
                assert_eq!(record, event(number), "event {number} is not as it was written");
                found.push(number);
            }
            if page.next_page_token.is_empty() {
                break;
            }
            request.page_token = page.next_page_token;
        }
        assert!(found.is_sorted_by(|a, b| a < b), "an event came twice, or out of order: {found:?}");
        let found: BTreeSet<i64> = found.into_iter().collect();
        let lost: Vec<&i64> = before.difference(&found).collect();
        assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
        self.calls.send_modify(|calls| calls.read += 1);
    }

    async fn call<T>(&self, call: impl Future<Output = Result<T, CallError>>) -> Result<T, CallError> {
        let answer = tokio::select! {
            answer = call => answer,
            () = self.env.clock.sleep(CALL_WITHIN) => panic!("a call hangs"),
        };
        self.env.clock.sleep(PACE).await;
        answer
    }

    /// A call may fail, but only in a way that says: send it again.
    fn failed(&self, error: &CallError, count: fn(&mut Calls) -> &mut u64) {
        let honest = matches!(error.code, "UNAVAILABLE" | "DEADLINE_EXCEEDED");
        assert!(honest && error.exit_code() == 6, "not an error to try again on: {error:?}");
        self.calls.send_modify(|calls| *count(calls) += 1);
    }
}

fn at(seconds: i64) -> prost_types::Timestamp {
    prost_types::Timestamp { seconds, nanos: 0 }
}

/// Two items, so that half an event would show.
fn event(number: i64) -> v1::Event {
    let item = |key: &str| v1::EventItem {
        event_item_key: key.to_owned(),
        event_item_value: bytes::Bytes::from(format!("{key} of {number}")),
        ..v1::EventItem::default()
    };
    v1::Event {
        time_series_id: SERIES.to_owned(),
        event_time: Some(at(number)),
        event_id: format!("e{number}"),
        event_items: vec![item("a"), item("b")],
        continues: false,
    }
}
