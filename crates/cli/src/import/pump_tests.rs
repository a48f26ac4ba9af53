//! Whole imports against a server in memory.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use api::v1;
use env::ManualClock;
use tokio::sync::mpsc;

use super::super::order::{Feed, Finished, import};
use super::super::testing::{FakeServer, OLD_SECONDS, error, with_quick_clock};
use super::*;
use crate::failure::Failure;

/// Events 1 to `count`, a day apart every `per_day`, and every line that `bad` names is bad.
struct Days {
    next: u64,
    count: u64,
    per_day: u64,
    bad: fn(u64) -> bool,
    given: Arc<AtomicU64>,
}

impl Source for Days {
    fn next(&mut self) -> Option<(Place, Found)> {
        self.next += 1;
        self.given.fetch_add(1, Ordering::Relaxed);
        let (line, place) = (self.next, Place { input: 0, line: self.next });
        assert_ne!(line, 666, "a bug in a source");
        if line > self.count {
            return None;
        }
        if (self.bad)(line) {
            return Some((place, Found::Bad("bad".to_owned())));
        }
        let seconds = OLD_SECONDS - 5 + i64::try_from(line / self.per_day * 86_400 + line).unwrap();
        let event = v1::Event {
            time_series_id: "s".to_owned(),
            event_time: Some(prost_types::Timestamp { seconds, nanos: 0 }),
            event_id: line.to_string(),
            ..v1::Event::default()
        };
        Some((place, Found::Event(event)))
    }
}

fn days(count: u64, per_day: u64) -> Days {
    Days { next: 0, count, per_day, bad: |_| false, given: Arc::default() }
}

fn settings() -> Settings {
    Settings { namespace: "plays".to_owned(), batch: 50, parallel: 3, queued: false, backfill: true }
}

/// A feed, and what is said while it is imported.
fn feed(env: &Env, source: Days) -> (Feed, Arc<Mutex<String>>) {
    let said = Arc::new(Mutex::new(String::new()));
    let hear = Arc::clone(&said);
    let progress =
        Progress::speaking(&env.clock, Arc::default(), move |text| hear.lock().unwrap().push_str(text));
    (Feed { source: Box::new(source), names: vec!["days".to_owned()], progress }, said)
}

async fn run(server: &FakeServer, source: Days, settings: &Settings) -> (Result<Finished, Failure>, String) {
    let (_pressed, mut interrupts) = mpsc::channel(1);
    with_quick_clock(async |env| {
        let (feed, said) = feed(env, source);
        let finished = import(server, env, settings, feed, &mut interrupts).await;
        let said = said.lock().unwrap().clone();
        (finished, said)
    })
    .await
}

/// Refused, bad and taken events are counted once each, whatever goes wrong on the way.
#[tokio::test]
async fn every_event_is_taken_once_over_failures_and_new_slices() {
    let server = FakeServer::new();
    let broken = || Some(error("UNAVAILABLE", Some("BACKEND_OVERLOADED"), Some(1)));
    server.state().write_errors = vec![None, broken(), broken(), None, Some(error("UNKNOWN", None, None))];
    let source = Days { bad: |line| line.is_multiple_of(100), ..days(600, 2) };
    let (finished, _) = run(&server, source, &settings()).await;
    let finished = finished.unwrap();
    let counts = finished.summary.counts;
    assert_eq!((counts.sent, counts.accepted, counts.bad, counts.refused), (594, 594, 6, 0));
    // 25 days in a batch and 8 a request: at least three tries each.
    assert!(counts.retries >= 24, "{}", counts.retries);
    let state = server.state();
    assert_eq!(state.taken.len(), 594);
    assert!(state.taken.values().all(|times| *times == 1));
    assert_eq!((state.changes.join(" "), state.queued), ("begin 1 end 1".to_owned(), false));
    assert!(finished.failure.is_none() && !finished.summary.interrupted);
    assert_eq!(finished.end().unwrap_err().exit_code(), 2);
}

#[tokio::test]
async fn trouble_that_lasts_is_told_once() {
    let server = FakeServer::new();
    let gone = || Some(error("UNAVAILABLE", None, Some(1)));
    server.state().write_errors = (0..9).map(|_| gone()).collect();
    let (finished, said) = run(&server, days(600, 1_000), &settings()).await;
    assert_eq!(finished.unwrap().summary.counts.accepted, 600);
    let told = "sending again until it works, or for half a minute: UNAVAILABLE on purpose\n";
    assert_eq!(said.matches(told).count(), 1, "{said}");
}

#[tokio::test]
async fn an_import_without_a_fault_ends_well() {
    let server = FakeServer::new();
    let (finished, _) = run(&server, days(100, 1_000), &Settings { queued: true, ..settings() }).await;
    let finished = finished.unwrap();
    assert!(server.state().queued && finished.summary.queued);
    assert_eq!(finished.summary.counts.accepted, 100);
    assert!(finished.end().is_ok());
    let (nothing, _) = run(&server, days(0, 1), &settings()).await;
    let nothing = nothing.unwrap();
    assert!(nothing.end().is_ok());
}

#[tokio::test]
async fn old_events_are_refused_without_a_backfill_and_counted() {
    let server = FakeServer::new();
    let settings = Settings { backfill: false, ..settings() };
    let (finished, said) = run(&server, days(100, 1_000), &settings).await;
    let finished = finished.unwrap();
    assert!(said.starts_with("days:1: no (EVENT_TOO_OLD)\ndays:2: no (EVENT_TOO_OLD)\n"), "{said}");
    // Lines 1 to 4 lie before the limit.
    assert_eq!((finished.too_old, finished.summary.counts.refused), (4, 4));
    assert_eq!(finished.summary.counts.accepted, 96);
    assert!(server.state().changes.is_empty());
    assert_eq!(finished.end().unwrap_err().exit_code(), 2);
}

#[tokio::test]
async fn a_request_refused_as_a_whole_costs_only_the_event_that_is_wrong() {
    let server = FakeServer::new();
    let wrong = || Some(error("INVALID_ARGUMENT", Some("FIELD_INVALID"), None));
    // The whole, its first half, that one's second half, and then a single event.
    server.state().write_errors = vec![wrong(), wrong(), None, wrong(), wrong(), None];
    let settings = Settings { batch: 8, parallel: 1, ..settings() };
    let (finished, _) = run(&server, days(8, 100), &settings).await;
    let finished = finished.unwrap();
    assert_eq!((finished.summary.counts.accepted, finished.summary.counts.refused), (7, 1));
    assert!(!server.state().taken.contains_key(&("s".to_owned(), "3".to_owned())));
}

#[tokio::test]
async fn a_failure_for_good_stops_the_reading_and_closes_the_namespace() {
    let server = FakeServer::new();
    let gone = error("NOT_FOUND", Some("NAMESPACE_NOT_FOUND"), None);
    server.state().write_errors = vec![None, Some(gone)];
    let source = days(600, 1_000);
    let given = Arc::clone(&source.given);
    let (finished, _) = run(&server, source, &settings()).await;
    let finished = finished.unwrap();
    assert!(given.load(Ordering::Relaxed) < 600, "read on");
    assert_eq!(server.state().changes, ["begin 1", "end 1"]);
    let ended = finished.end().unwrap_err();
    let Failure::Call(error) = &ended else { panic!("{ended:?}") };
    assert!(error.message.starts_with("NOT_FOUND on purpose; what was accepted stays"), "{}", error.message);
    assert_eq!(ended.exit_code(), 3);
}

#[tokio::test]
async fn a_namespace_that_is_not_there_is_said_before_anything_is_read() {
    let server = FakeServer::new();
    server.state().read_errors = vec![error("NOT_FOUND", Some("NAMESPACE_NOT_FOUND"), None)];
    let source = days(10, 1);
    let given = Arc::clone(&source.given);
    assert_eq!(run(&server, source, &settings()).await.0.unwrap_err().exit_code(), 3);
    assert_eq!((given.load(Ordering::Relaxed), server.state().writes), (0, 0));
}

#[tokio::test]
async fn a_reader_that_dies_is_not_taken_for_the_end() {
    let server = FakeServer::new();
    let (finished, _) = run(&server, days(700, 1_000), &settings()).await;
    let finished = finished.unwrap();
    assert_eq!(finished.end().unwrap_err().exit_code(), 1);
    assert_eq!(server.state().changes, ["begin 1", "end 1"]);
}

#[tokio::test]
async fn reading_stays_close_to_sending_and_ctrl_c_ends_both() {
    let server = FakeServer::new();
    server.state().hangs = true;
    let source = days(600, 1_000);
    let given = Arc::clone(&source.given);
    let (pressed, mut interrupts) = mpsc::channel(1);
    let press = async {
        while server.state().writes < 3 {
            tokio::task::yield_now().await;
        }
        // Lets what is under way end, and then does not.
        pressed.send(()).await.unwrap();
        pressed.send(()).await.unwrap();
    };
    let work =
        async |env: &Env| import(&server, env, &settings(), feed(env, source).0, &mut interrupts).await;
    let (finished, ()) = futures::join!(with_quick_clock(work), press);
    // Three under way, two read ahead, one that waits to be sent, one being filled.
    assert!(given.load(Ordering::Relaxed) <= 50 * 7, "{given:?}");
    let finished = finished.unwrap();
    assert_eq!((finished.summary.counts.sent, finished.summary.counts.accepted), (150, 0));
    assert!(finished.summary.interrupted && finished.failure.is_none());
    assert_eq!(server.state().changes, ["begin 1", "end 1"]);
    assert_eq!(finished.end().unwrap_err().exit_code(), 130);
}

#[tokio::test]
async fn ctrl_c_ends_the_waiting_for_another_try() {
    let server = FakeServer::new();
    let later = || Some(error("UNAVAILABLE", Some("NOT_READY"), Some(5)));
    server.state().write_errors = vec![later()];
    // A clock that stands still: only Ctrl-C can end this.
    let clock = ManualClock::starting_at(0);
    let env = Env { clock: Arc::new(clock.clone()), ..Env::system() };
    let (pressed, mut interrupts) = mpsc::channel(1);
    let press = async {
        clock.sleepers(1).await;
        pressed.send(()).await.unwrap();
    };
    let settings = Settings { parallel: 1, ..settings() };
    let (feed, said) = feed(&env, days(600, 1_000));
    let (finished, ()) = futures::join!(import(&server, &env, &settings, feed, &mut interrupts), press);
    let finished = finished.unwrap();
    assert!(finished.summary.interrupted && finished.failure.is_none());
    assert_eq!((finished.summary.counts.sent, finished.summary.counts.accepted), (50, 0));
    assert_eq!(server.state().writes, 1);
    assert_eq!(server.state().changes, ["begin 1", "end 1"]);
    let said = said.lock().unwrap().clone();
    assert!(said.ends_with("Ctrl-C again abandons it\nplays takes old events no longer\n"), "{said}");
}
