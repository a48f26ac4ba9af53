//! Closed time, limits that shrink, and backfills.

use std::time::Duration;

use engine::{NamespaceSpec, Reason};
use model::Interval;

use crate::world::{HOUR, NANOS, SECOND, START, Server, World, hourly, name};

/// Closes as much as can be.
async fn close(world: &World, at: &Server, others: &[&Server]) -> i64 {
    world.during(others, at.engine.close_time_of(&name(), i64::MAX)).await.unwrap()
}

async fn reason(server: &Server, seconds: i64) -> Option<Reason> {
    match server.write(seconds).await {
        Ok(answer) => answer.refused.first().map(|refusal| refusal.reason),
        Err(error) => Some(error.reason()),
    }
}

#[tokio::test]
async fn closed_time_is_behind_what_anybody_accepts_and_never_goes_back() {
    let world = World::new();
    let (one, two) = (world.server().await, world.server().await);
    one.engine.create_namespace(&name(), hourly()).await.unwrap();
    two.engine.refresh().await.unwrap();
    let closed = close(&world, &one, &[&two]).await;
    assert_eq!(closed, (START - 600 - 10) * NANOS);
    // Raising the limit reopens nothing.
    let wide = NamespaceSpec { accept_limit: 2 * HOUR, ..hourly() };
    one.engine.update_namespace(&name(), wide, None).await.unwrap();
    world.pass(SECOND, &[&one, &two]).await;
    assert_eq!(reason(&two, START - 700).await, Some(Reason::EventTooOld));
    assert_eq!(world.during(&[&one], reason(&two, START - 609)).await, None);
    assert_eq!(close(&world, &one, &[&two]).await, closed);
    assert_eq!(one.engine.close_time_of(&name(), 5).await.unwrap(), closed);
}

#[tokio::test]
async fn a_limit_shrinks_for_servers_without_a_lease_only_when_all_have_said_that_they_know() {
    let world = World::new();
    let (one, cut) = (world.server().await, world.server().await);
    let wide = NamespaceSpec { accept_limit: HOUR, ..hourly() };
    one.engine.create_namespace(&name(), wide).await.unwrap();
    world.during(&[&cut], one.write(START)).await.unwrap();
    world.during(&[&cut], one.write(START - 1_800)).await.unwrap();
    one.engine.settle().await.unwrap();
    cut.engine.refresh().await.unwrap();
    cut.lose_metadata();
    one.engine.update_namespace(&name(), hourly(), None).await.unwrap();
    world.pass(60 * SECOND, &[&one, &cut]).await;
    one.engine.close_time().await.unwrap();
    // The one that knows refuses, the one that does not accepts, and closed time waits for it.
    assert_eq!(reason(&one, START - 1_700).await, Some(Reason::EventTooOld));
    assert_eq!(reason(&cut, START - 1_700).await, None);
    let closed = close(&world, &one, &[&one, &cut]).await;
    // A second for the waiting.
    assert!(closed <= (START + 61 - 3_600 - 10) * NANOS, "{closed}");
    cut.find_metadata();
    world.pass(2 * SECOND, &[&one, &cut]).await;
    one.engine.close_time().await.unwrap();
    let closed = close(&world, &one, &[&cut]).await;
    assert!(closed >= (START - 600) * NANOS, "{closed}");
}

#[tokio::test]
async fn a_backfill_opens_closed_time_everywhere_until_it_ends() {
    let world = World::new();
    let (one, two) = (world.server().await, world.server().await);
    one.engine.create_namespace(&name(), hourly()).await.unwrap();
    two.engine.refresh().await.unwrap();
    close(&world, &one, &[&two]).await;
    let old = START - 10 * 86_400;
    assert_eq!(reason(&one, old).await, Some(Reason::EventTooOld));
    let range = Interval::new((old - 60) * NANOS, (old + 60) * NANOS).unwrap();
    let backfill = world.during(&[&two], one.engine.begin_backfill(&name(), range)).await.unwrap();
    two.engine.refresh().await.unwrap();
    assert_eq!(two.engine.list_backfills(&name()).unwrap(), [backfill]);
    assert_eq!(world.during(&[&one], reason(&two, old)).await, None);
    assert_eq!(reason(&two, old - 61).await, Some(Reason::EventTooOld));
    assert_eq!(one.read(old, old + 1).await.events.len(), 1);
    // Without a lease nobody knows whether it is over.
    two.lose_metadata();
    world.pass(31 * SECOND, &[&one, &two]).await;
    assert_eq!(reason(&two, old + 1).await, Some(Reason::EventTooOld));
    one.engine.end_backfill(&name(), backfill.id).await.unwrap();
    assert_eq!(reason(&one, old + 1).await, Some(Reason::EventTooOld));
    let again = one.engine.end_backfill(&name(), backfill.id).await.unwrap_err();
    assert_eq!(again.reason(), Reason::EtagMismatch);
    let empty = Interval::new(5, 5).unwrap();
    assert!(one.engine.begin_backfill(&name(), empty).await.is_err());
}

#[tokio::test]
async fn slices_that_nobody_writes_to_close_by_themselves() {
    let world = World::new();
    let server = world.server().await;
    server.engine.create_namespace(&name(), hourly()).await.unwrap();
    server.write(START).await.unwrap();
    world.pass(HOUR + Duration::from_secs(609), &[&server]).await;
    server.engine.close_time().await.unwrap();
    let epoch = server.engine.epoch();
    world.pass(2 * SECOND, &[&server]).await;
    server.engine.close_time().await.unwrap();
    assert_eq!(server.engine.epoch(), epoch + 1);
    server.engine.close_time().await.unwrap();
    assert_eq!(server.engine.epoch(), epoch + 1, "once a slice");
}
