//! What is not split, and why.

use engine::{NamespaceSpec, Reason, SplitLimits};
use split::State;
use store::Consistency;

use crate::world::{HOUR, SECOND, TABLE, World, event, id, name, partition, spec};

async fn rejected(world: &World, series: &str) -> split::Reason {
    world.work().await;
    let record = world.split(series).await.record;
    assert_eq!(record.state, State::Rejected, "{:?}", record.reason);
    record.reason.unwrap().code
}

#[tokio::test]
async fn one_giant_event_is_indivisible() {
    let world = World::new(spec()).await;
    world.write(vec![event("giant", 1, 1, 400_000)]).await;
    world.read("giant").await;
    world.pass(4 * HOUR).await;
    assert_eq!(rejected(&world, "giant").await, split::Reason::Indivisible);
    // Asked for again, it is looked at again.
    world.engine.retry_split(&name(), &id("giant"), engine::SplitAsk::default()).await.unwrap();
    assert_eq!(rejected(&world, "giant").await, split::Reason::Indivisible);
}

#[tokio::test]
async fn what_is_not_wide_is_refused_by_hand_too() {
    let world = World::new(spec()).await;
    world.fill("small", 20).await;
    let early = world
        .engine
        .create_split(&name(), TABLE, &partition("small"), engine::SplitAsk::default())
        .await
        .unwrap_err();
    assert_eq!(early.reason(), Reason::SplitNotImmutable);
    world.pass(4 * HOUR).await;
    world
        .engine
        .create_split(&name(), TABLE, &partition("small"), engine::SplitAsk::default())
        .await
        .unwrap();
    assert_eq!(rejected(&world, "small").await, split::Reason::NotWide);
    let twice = world
        .engine
        .create_split(&name(), "data_19990101", &partition("small"), engine::SplitAsk::default())
        .await;
    assert_eq!(twice.unwrap_err().reason(), Reason::SliceNotFound);
    let beyond = model::PartitionKey { event_bucket: 7, ..partition("small") };
    assert!(world.engine.create_split(&name(), TABLE, &beyond, engine::SplitAsk::default()).await.is_err());
}

#[tokio::test]
async fn events_of_one_timestamp_are_cut_by_hash() {
    let world = World::new(spec()).await;
    world.write((0..400).map(|number| event("burst", 7, number, 2_000)).collect()).await;
    world.read("burst").await;
    world.pass(4 * HOUR).await;
    world.work().await;
    let record = world.split("burst").await.record;
    assert_eq!(record.state, State::Completed, "{:?}", record.reason);
    assert!(record.post_split_data.unwrap().event_bucket_partition_strategy.is_some());
}

#[tokio::test]
async fn a_partition_over_the_cap_is_cut_into_as_many_as_may_be() {
    let world = World::new(spec()).await;
    world.fill("ultra", 1_500).await;
    world.read("ultra").await;
    world.pass(4 * HOUR).await;
    world.work().await;
    let record = world.split("ultra").await.record;
    assert_eq!((record.state, record.capped), (State::Completed, true), "{:?}", record.reason);
    assert_eq!(record.post_split_data.unwrap().partitions.len(), 16);
}

#[tokio::test]
async fn less_than_a_quorum_cannot_be_proven() {
    let world = World::wide(NamespaceSpec { consistency: Consistency::LocalOne, ..spec() }).await;
    assert_eq!(rejected(&world, "hot").await, split::Reason::Consistency);
}

#[tokio::test]
async fn a_blocked_series_waits() {
    let world = World::wide(spec()).await;
    world.engine.take_detections().await.unwrap();
    let block = engine::NewBlock {
        series: model::SeriesId::new("hot").unwrap(),
        reads: true,
        writes: true,
        reason: String::new(),
        author: String::new(),
        expires: None,
        etag: None,
    };
    world.engine.add_blocks(&name(), vec![block]).await.unwrap();
    world.work().await;
    let record = world.split("hot").await.record;
    assert_eq!((record.state, record.reason.unwrap().code), (State::Candidate, split::Reason::Blocked));
}

#[tokio::test]
async fn a_full_disk_begins_nothing_until_there_is_room() {
    let world = World::wide(spec()).await;
    world.store.set_disk_share(Some(0.8));
    world.work().await;
    let record = world.split("hot").await.record;
    assert_eq!((record.state, record.reason.unwrap().code), (State::Candidate, split::Reason::Disk));
    world.store.set_disk_share(Some(0.5));
    world.pass(31 * SECOND).await;
    world.work().await;
    assert_eq!(world.state("hot").await, State::Completed);
}

#[tokio::test]
async fn a_disk_that_fills_meanwhile_ends_the_attempt() {
    let world = World::wide(spec()).await;
    let slow = SplitLimits { bytes_per_second: 64 << 10, ..SplitLimits::default() };
    let world = world.reopened_with(slow).await;
    world.read("hot").await;
    world.engine.take_detections().await.unwrap();
    let fills = async {
        while world.engine.get_split(&name(), &id("hot")).await.unwrap().record.state != State::Copying {
            tokio::task::yield_now().await;
        }
        world.store.set_disk_share(Some(0.9));
    };
    let both = Box::pin(async { tokio::join!(world.engine.work_on_splits(), fills) });
    let (worked, ()) = world.during(both).await;
    assert!(worked.unwrap());
    let record = world.split("hot").await.record;
    assert_eq!((record.state, record.reason.unwrap().code), (State::Failed, split::Reason::Disk));
    assert_eq!(record.garbage.len(), 1, "what was copied goes");
}

#[tokio::test]
async fn detections_that_name_nothing_cost_one_look() {
    let world = World::wide(spec()).await;
    world.work().await;
    assert_eq!(
        world.engine.get_split(&name(), "data_20260328/0/0/nobody").await.unwrap_err().reason(),
        Reason::SplitNotFound
    );
    assert_eq!(world.engine.get_split(&name(), "nonsense").await.unwrap_err().reason(), Reason::FieldInvalid);
    let done = world.engine.retry_split(&name(), &id("hot"), engine::SplitAsk::default()).await.unwrap_err();
    assert_eq!(done.reason(), Reason::SplitRefused);
}
