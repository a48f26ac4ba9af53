//! Workers that stop, and others that go on.

use split::State;

use crate::doom::When;
use crate::world::{SECOND, World, by_hash, name, spec};

/// Troubles a worker at every one of its calls in turn; whoever comes next brings the same attempt to its end.
async fn survives(when: When) -> usize {
    let mut calls = 0;
    loop {
        let world = World::wide(spec()).await;
        world.engine.take_detections().await.unwrap();
        let troubled = match when {
            When::Before | When::After => world.die_after(calls, when).await,
            When::Refused | When::Unheard => world.stumble_after(calls, when).await,
        };
        let next = world.reopened().await;
        next.work().await;
        // What was put off goes on after a while.
        next.pass(60 * SECOND).await;
        next.work().await;
        let record = next.split("hot").await.record;
        assert_eq!(record.state, State::Completed, "after {calls} calls: {:?}", record.reason);
        assert_eq!(record.attempt, 1, "after {calls} calls it was begun anew");
        assert!(record.garbage.is_empty(), "after {calls} calls");
        let post = record.post_split_data.unwrap();
        assert_eq!(post.digest, record.pre_split_data.digest);
        assert_eq!(post.digest.unwrap().rows, 400);
        if !troubled {
            return calls;
        }
        calls += 1;
    }
}

#[tokio::test]
async fn a_worker_may_die_before_any_call() {
    assert!(survives(When::Before).await > 20);
}

#[tokio::test]
async fn a_worker_may_die_after_any_call() {
    assert!(survives(When::After).await > 20);
}

#[tokio::test]
async fn the_store_may_refuse_any_call() {
    assert!(survives(When::Refused).await > 20);
}

#[tokio::test]
async fn the_store_may_be_silent_about_any_call() {
    assert!(survives(When::Unheard).await > 20);
}

#[tokio::test]
async fn two_workers_on_one_partition_split_it_once() {
    for spec in [spec(), by_hash()] {
        let world = World::wide(spec).await;
        let (one, two) = (world.member().await, world.member().await);
        world.engine.take_detections().await.unwrap();
        world.engine.leave().await.unwrap();
        let both = async { tokio::join!(one.work_on_splits(), two.work_on_splits()) };
        let (first, second) = world.during_of(&[&one, &two], both).await;
        assert!(first.is_ok() && second.is_ok(), "{first:?} {second:?}");
        while world.during_of(&[&one, &two], one.work_on_splits()).await.unwrap() {}
        let record = one.get_split(&name(), &crate::world::id("hot")).await.unwrap().record;
        assert_eq!((record.state, record.attempt), (State::Completed, 1), "{:?}", record.reason);
    }
}

#[tokio::test]
async fn another_server_takes_over_from_one_that_is_silent_for_a_minute() {
    let world = World::wide(spec()).await;
    world.engine.take_detections().await.unwrap();
    let other = world.member().await;
    world.engine.leave().await.unwrap();
    assert!(world.die_in(State::Copying).await);
    // It may be at work still.
    assert!(!world.during_of(&[&other], other.work_on_splits()).await.unwrap());
    for _ in 0..61 {
        world.clock.advance(SECOND);
        other.refresh().await.unwrap();
        other.work_on_splits().await.unwrap();
    }
    while world.during_of(&[&other], other.work_on_splits()).await.unwrap() {}
    let record = other.get_split(&name(), &crate::world::id("hot")).await.unwrap().record;
    assert_eq!((record.state, record.attempt), (State::Completed, 1), "{:?}", record.reason);
    assert!(record.fence >= 2);
}
