//! Whatever happens in between, a namespace is left as it was found, or it is said that it is not.

use tokio::sync::mpsc;

use super::super::testing::{FakeServer, error, with_quick_clock};
use super::*;

/// Opens, does something, closes; the texts.
async fn check(
    server: &FakeServer,
    between: impl FnOnce(&FakeServer),
) -> (Result<String, String>, Result<String, String>) {
    with_quick_clock(async |env| {
        let (backfill, opened) = match Backfill::open(server, env, "plays").await {
            Ok((backfill, text)) => (backfill, text),
            Err(error) => return (Err(error.message), Err(String::new())),
        };
        between(server);
        let (_pressed, mut interrupts) = mpsc::channel(1);
        let closed = backfill.close(server, env, &mut interrupts, false).await;
        (Ok(opened), closed.map_err(|error| error.message))
    })
    .await
}

const OPENED: &str =
    "plays takes events of any age until this ends (by hand: `braid ns backfills plays --end 1`)";
const CLOSED: &str = "plays takes old events no longer";

fn gone() -> CallError {
    error("UNAVAILABLE", None, Some(1))
}

#[tokio::test]
async fn a_backfill_of_the_whole_past_is_open_in_between() {
    let server = FakeServer::new();
    let between = |server: &FakeServer| {
        let open = server.state().backfills.clone();
        let seconds = |time: Option<prost_types::Timestamp>| time.unwrap().seconds;
        assert_eq!((open.len(), seconds(open[0].start), seconds(open[0].end)), (1, 0, 86_400));
    };
    let (opened, closed) = check(&server, between).await;
    assert_eq!((opened.unwrap().as_str(), closed.unwrap().as_str()), (OPENED, CLOSED));
    assert_eq!(server.state().changes, ["begin 1", "end 1"]);
}

#[tokio::test]
async fn what_an_import_left_that_was_killed_is_told_and_stays() {
    let server = FakeServer::new();
    server.begin_backfill(admin::BeginBackfillRequest::default()).await.unwrap();
    let (opened, closed) = check(&server, |_| ()).await;
    assert_eq!(
        opened.unwrap(),
        "plays takes events of any age until this ends (by hand: `braid ns backfills plays --end 2`)\nplays has 1 other \
         backfill, perhaps of imports that were killed; `braid ns backfills plays` shows them and how to end them"
    );
    assert_eq!(closed.unwrap(), CLOSED);
    assert_eq!(server.state().backfills.len(), 1);
}

#[tokio::test]
async fn an_end_by_somebody_else_is_an_end() {
    let server = FakeServer::new();
    let (_, closed) = check(&server, |server| server.state().backfills.clear()).await;
    assert_eq!(closed.unwrap(), CLOSED);
}

#[tokio::test]
async fn an_answer_that_is_lost_leaves_nothing_open() {
    let server = FakeServer::new();
    server.state().begin_errors = vec![(gone(), Some(true))];
    let (opened, closed) = check(&server, |server| server.state().end_errors = vec![(gone(), true)]).await;
    assert_eq!((opened.unwrap().as_str(), closed.unwrap().as_str()), (OPENED, CLOSED));
    assert_eq!(server.state().changes, ["begin 1", "end 1"]);
    // Announced, and then the server was gone: ended and begun anew.
    let server = FakeServer::new();
    server.state().begin_errors = vec![(gone(), Some(false))];
    let (_, closed) = check(&server, |_| ()).await;
    assert_eq!(closed.unwrap(), CLOSED);
    assert_eq!(server.state().changes, ["begin 1", "end 1", "begin 2", "end 2"]);
    // The same, and no use in trying again.
    let server = FakeServer::new();
    server.state().begin_errors = vec![(error("DEADLINE_EXCEEDED", None, None), Some(false))];
    let (opened, _) = check(&server, |_| ()).await;
    assert_eq!(opened.unwrap_err(), "DEADLINE_EXCEEDED on purpose");
    assert!(server.state().backfills.is_empty());
}

/// So many calls that nobody hears.
fn gone_for(tries: usize) -> Vec<(CallError, bool)> {
    (0..tries).map(|_| (gone(), false)).collect()
}

#[tokio::test]
async fn a_server_that_is_gone_at_the_end_is_tried_for_a_while_and_then_the_way_out_is_told() {
    let server = FakeServer::new();
    let (_, closed) = check(&server, |server| server.state().end_errors = gone_for(3)).await;
    assert_eq!(closed.unwrap(), CLOSED);
    let server = FakeServer::new();
    let (_, closed) = check(&server, |server| server.state().end_errors = gone_for(99)).await;
    assert_eq!(
        closed.unwrap_err(),
        "plays still takes events of any age: UNAVAILABLE on purpose; end that with \
         `braid ns backfills plays --end 1`"
    );
}

#[tokio::test]
async fn the_second_ctrl_c_ends_the_trying_and_the_first_does_not() {
    // Nobody moves the clock, so a server that was gone once is never asked again.
    let clock = env::ManualClock::starting_at(0);
    let env = Env { clock: std::sync::Arc::new(clock), ..Env::system() };
    for (interrupted, pressed_more) in [(true, 1), (false, 2)] {
        let server = FakeServer::new();
        let (backfill, _) = Backfill::open(&server, &env, "plays").await.unwrap();
        server.state().end_errors = gone_for(1);
        let (pressed, mut interrupts) = mpsc::channel(2);
        for _ in 0..pressed_more {
            pressed.send(()).await.unwrap();
        }
        let closed = backfill.close(&server, &env, &mut interrupts, interrupted).await.unwrap_err();
        assert!(closed.message.contains("ending it was interrupted; end that with `braid ns"), "{closed}");
    }
    let server = FakeServer::new();
    let (backfill, _) = Backfill::open(&server, &env, "plays").await.unwrap();
    let (pressed, mut interrupts) = mpsc::channel(1);
    pressed.send(()).await.unwrap();
    assert_eq!(backfill.close(&server, &env, &mut interrupts, false).await.unwrap(), CLOSED);
}
