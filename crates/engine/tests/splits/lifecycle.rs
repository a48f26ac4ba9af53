//! From found to completed to retired.

use engine::Reason;
use split::State;

use crate::world::{HOUR, SECOND, TABLE, World, by_hash, id, name, partition, spec};

#[tokio::test]
async fn a_wide_partition_is_copied_by_time_and_proven_equal() {
    let world = World::wide(spec()).await;
    let before = world.read("hot").await;
    world.work().await;
    let record = world.split("hot").await.record;
    assert_eq!(record.state, State::Completed, "{:?}", record.reason);
    let states: Vec<State> = record.transitions.iter().map(|transition| transition.state).collect();
    let expected = [
        State::Candidate,
        State::Planning,
        State::Planned,
        State::Copying,
        State::Verifying,
        State::Completed,
    ];
    assert_eq!(states, expected);
    let post = record.post_split_data.clone().unwrap();
    assert_eq!(post.digest, record.pre_split_data.digest);
    assert_eq!(post.time_slice, "wide_data_20260328_0");
    assert!(post.time_range_partition_strategy.is_some());
    // About 800 KB into targets of about 64 KiB.
    assert!((10..=16).contains(&post.partitions.len()), "{}", post.partitions.len());
    assert!(post.partitions.iter().all(|target| target.bytes < 100_000), "{:?}", post.partitions);
    for target in &post.partitions {
        let stored = world.target("hot", target.event_bucket).await;
        let bytes: u64 = stored.iter().map(model::Row::logical_bytes).sum();
        assert_eq!((target.stored_rows, target.stored_bytes), (stored.len() as u64, bytes));
    }
    assert_eq!(post.partitions.iter().map(|target| target.rows).sum::<u64>(), 400);
    // Reads stay where they were.
    assert_eq!(world.read("hot").await.len(), before.len());
    let summary = world.engine.split_summary(&name()).await.unwrap();
    assert_eq!(summary.states, [(State::Completed, 1)]);
    if crate::LAYOUT == engine::SplitLayout::Rows {
        assert_eq!(summary.origin_bytes, summary.doubled_bytes);
    }
    assert!(summary.largest_target_bytes < summary.largest_origin_bytes / 8);
}

#[tokio::test]
async fn by_hash_the_targets_are_the_published_ones_and_keep_write_times() {
    let world = World::wide(by_hash()).await;
    world.work().await;
    let record = world.split("hot").await.record;
    assert_eq!(record.state, State::Completed, "{:?}", record.reason);
    let strategy = record.post_split_data.unwrap().event_bucket_partition_strategy.unwrap();
    assert_eq!(strategy.start_event_bucket, 0);
    let written = (crate::world::START + 3_000) * 1_000_000;
    for target in 0..u32::from(strategy.target_event_buckets) {
        let rows = world.target("hot", target).await;
        assert!(!rows.is_empty());
        assert!(rows.iter().all(|row| row.write_time >= written && row.write_time < written + 1_000_000));
    }
}

#[tokio::test]
async fn a_completed_split_is_compared_again_by_itself_and_by_hand() {
    let world = World::wide(spec()).await;
    world.work().await;
    world.pass(HOUR + SECOND).await;
    assert_eq!(world.work().await, 1);
    let record = world.split("hot").await.record;
    assert_eq!((record.rechecked, record.rechecks.iter().all(|recheck| recheck.equal)), (1, true));
    let verified = world.during(world.engine.verify_split(&name(), &id("hot"))).await.unwrap();
    assert_eq!(verified.record.rechecked, 2);
    world.pass(5 * HOUR).await;
    world.work().await;
    assert_eq!(world.state("hot").await, State::Completed);
}

#[tokio::test]
async fn a_retired_split_loses_its_targets_and_is_left_alone_until_somebody_asks() {
    let world = World::wide(spec()).await;
    world.work().await;
    let retiring = world.engine.retire_split(&name(), &id("hot"), true).await.unwrap();
    assert_eq!((retiring.record.state, world.state("hot").await), (State::Retiring, State::Completed));
    world.engine.retire_split(&name(), &id("hot"), false).await.unwrap();
    world.work().await;
    assert_eq!(world.state("hot").await, State::Retired);
    assert!(!world.target("hot", 0).await.is_empty(), "for a while they stay");
    world.pass(11 * 60 * SECOND).await;
    world.work().await;
    assert_eq!(world.target("hot", 0).await, []);
    world.read("hot").await;
    world.work().await;
    assert_eq!(world.state("hot").await, State::Retired);
    world.engine.create_split(&name(), TABLE, &partition("hot"), engine::SplitAsk::default()).await.unwrap();
    world.work().await;
    let again = world.split("hot").await.record;
    assert_eq!((again.state, again.attempt), (State::Completed, 2));
    assert_eq!(again.post_split_data.unwrap().partitions[0].event_bucket, 16, "never where others were");
}

#[tokio::test]
async fn a_backfill_takes_splits_out_of_use_and_they_come_back() {
    let world = World::wide(spec()).await;
    world.work().await;
    let interval =
        model::Interval::new(crate::world::START * 1_000_000_000, (crate::world::START + 60) * 1_000_000_000);
    let backfill = world.during(world.engine.begin_backfill(&name(), interval.unwrap())).await.unwrap();
    let state = world.state("hot").await;
    assert!(matches!(state, State::Retiring | State::Retired), "{state:?}");
    world.write(vec![crate::world::event("hot", 3, 9_999, 2_000)]).await;
    world.work().await;
    assert_eq!(world.state("hot").await, State::Retired);
    world.pass(60 * SECOND).await;
    world.read("hot").await;
    world.work().await;
    assert_eq!(world.state("hot").await, State::Candidate, "its time is open");
    world.engine.end_backfill(&name(), backfill.id).await.unwrap();
    world.pass(60 * SECOND).await;
    world.work().await;
    let record = world.split("hot").await.record;
    assert_eq!(record.state, State::Completed, "{:?}", record.reason);
    assert_eq!(record.pre_split_data.digest.unwrap().rows, 401);
}

#[tokio::test]
async fn splits_go_with_their_slice() {
    let world = World::wide(spec()).await;
    world.work().await;
    assert_eq!(world.engine.sweep_tables().await.unwrap(), 0, "the targets' table is not left over");
    world.pass(24 * 33 * HOUR).await;
    world.during(world.engine.drop_expired()).await.unwrap();
    let gone = world.engine.get_split(&name(), &id("hot")).await.unwrap_err();
    assert_eq!(gone.reason(), Reason::SplitNotFound);
    assert_eq!(store::Store::list_tables(&*world.store).await.unwrap(), []);
    world.work().await;
    assert_eq!(world.engine.split_summary(&name()).await.unwrap().states, []);
}

#[tokio::test]
async fn a_paused_namespace_is_left_alone_in_the_middle_and_goes_on() {
    let world = World::wide(spec()).await;
    world.engine.take_detections().await.unwrap();
    world.engine.pause_splits(Some(&name())).await.unwrap();
    world.work().await;
    let paused = world.split("hot").await.record;
    assert_eq!((paused.state, paused.reason.unwrap().code), (State::Candidate, split::Reason::Paused));
    assert!(world.engine.split_summary(&name()).await.unwrap().paused);
    world.engine.resume_splits(None).await.unwrap();
    world.pass(31 * SECOND).await;
    world.work().await;
    assert_eq!(world.state("hot").await, State::Completed);
}
