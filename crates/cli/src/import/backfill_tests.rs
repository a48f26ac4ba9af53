//! Whatever happens in between, a namespace is left as it was found, or it is said that it is not.

use tokio::sync::mpsc;

use super::super::testing::{FakeServer, error, with_quick_clock};
use super::*;

/// Opens, does something, closes; the three texts.
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
        let closed = backfill.close(server, env, &mut interrupts).await;
        (Ok(opened), closed.map_err(|error| error.message))
    })
    .await
}

#[tokio::test]
async fn the_limit_is_zero_in_between_and_then_what_it_was() {
    let server = FakeServer::new();
    let between = |server: &FakeServer| assert_eq!(server.state().accept_limit_seconds, 0);
    let (opened, closed) = check(&server, between).await;
    assert_eq!(
        opened.unwrap(),
        "accept_limit of plays is 0 until this ends, then 10m again (by hand: `braid ns set plays --accept-limit 10m`)"
    );
    assert_eq!(closed.unwrap(), "accept_limit of plays is 10m again");
    assert_eq!(server.state().updates, [0, 600]);
}

#[tokio::test]
async fn a_limit_that_is_zero_already_stays_and_that_is_said() {
    let server = FakeServer::default();
    let (opened, closed) = check(&server, |_| ()).await;
    assert!(
        opened
            .unwrap()
            .starts_with("accept_limit of plays is 0 already, perhaps since a backfill was killed")
    );
    assert_eq!(closed.unwrap(), "accept_limit of plays is still 0");
    assert!(server.state().updates.is_empty());
}

#[tokio::test]
async fn a_change_by_somebody_else_is_respected() {
    let server = FakeServer::new();
    let (_, closed) = check(&server, |server| server.state().accept_limit_seconds = 60).await;
    assert_eq!(closed.unwrap(), "accept_limit of plays was set by somebody else meanwhile, and stays");
    assert_eq!(server.state().updates, [0]);
    // A change of something else only means another etag.
    let server = FakeServer::new();
    server.state().update_errors = vec![(error("ABORTED", Some("ETAG_MISMATCH"), None), false)];
    let (_, closed) = check(&server, |server| server.state().etag += 1).await;
    assert_eq!(closed.unwrap(), "accept_limit of plays is 10m again");
    assert_eq!(server.state().updates, [0, 600]);
}

#[tokio::test]
async fn an_answer_that_is_lost_does_not_lose_the_old_limit() {
    let lost = || (error("UNAVAILABLE", None, Some(1)), true);
    let server = FakeServer::new();
    server.state().update_errors = vec![lost()];
    let (opened, closed) = check(&server, |server| server.state().update_errors = vec![lost()]).await;
    assert!(opened.unwrap().contains("then 10m again"));
    assert_eq!(closed.unwrap(), "accept_limit of plays is 10m again");
    assert_eq!(server.state().updates, [0, 600]);
}

#[tokio::test]
async fn a_server_that_is_gone_at_the_end_is_tried_for_a_while_and_then_the_way_back_is_told() {
    let gone = || error("UNAVAILABLE", None, Some(1));
    let server = FakeServer::new();
    let (_, closed) =
        check(&server, |server| server.state().read_errors = (0..3).map(|_| gone()).collect()).await;
    assert_eq!(closed.unwrap(), "accept_limit of plays is 10m again");
    let server = FakeServer::new();
    let (_, closed) =
        check(&server, |server| server.state().read_errors = (0..99).map(|_| gone()).collect()).await;
    assert_eq!(
        closed.unwrap_err(),
        "accept_limit of plays is still 0: UNAVAILABLE on purpose; put it back with `braid ns set plays --accept-limit 10m`"
    );
    // Ctrl-C does not wait for that.
    let server = FakeServer::new();
    let clock = env::ManualClock::starting_at(0);
    let env = Env { clock: std::sync::Arc::new(clock), ..Env::system() };
    let (backfill, _) = Backfill::open(&server, &env, "plays").await.unwrap();
    server.state().read_errors = vec![gone()];
    let (pressed, mut interrupts) = mpsc::channel(1);
    pressed.send(()).await.unwrap();
    let closed = backfill.close(&server, &env, &mut interrupts).await.unwrap_err();
    assert!(closed.message.contains("putting it back was interrupted; put it back with `braid ns set"));
}
