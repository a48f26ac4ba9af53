//! What reads notice.

use engine::{SplitPolicy, SplitSpec};
use split::State;

use crate::world::{HOUR, SECOND, World, id, name, spec};

#[tokio::test]
async fn paging_through_a_wide_partition_is_noticed_once() {
    let world = World::new(spec()).await;
    world.fill("hot", 400).await;
    world.fill("small", 20).await;
    // Each page reads less than the threshold; all of them together more.
    let pages = world.read("hot").await;
    assert!(pages.len() > 3);
    assert!(pages.iter().all(|page| page.cost.bytes_read < 300 << 10));
    world.read("hot").await;
    world.read("small").await;
    assert_eq!(world.engine.take_detections().await.unwrap(), 1);
    assert_eq!(world.state("hot").await, State::Candidate);
    assert!(world.engine.get_split(&name(), &id("small")).await.is_err());
    // Half a minute later it is said again, and costs one look.
    world.pass(31 * SECOND).await;
    world.read("hot").await;
    assert_eq!(world.engine.take_detections().await.unwrap(), 1);
    assert_eq!(
        world.engine.list_splits(&name(), &Default::default(), None, 10).await.unwrap().splits.len(),
        1
    );
}

#[tokio::test]
async fn an_open_partition_waits_for_closed_time_and_needs_no_other_read() {
    let world = World::new(spec()).await;
    world.fill("hot", 400).await;
    world.read("hot").await;
    world.work().await;
    let waiting = world.split("hot").await.record;
    assert_eq!(waiting.state, State::Candidate);
    assert_eq!(waiting.reason.unwrap().code, split::Reason::NotClosed);
    world.pass(2 * HOUR).await;
    world.work().await;
    assert_eq!(world.state("hot").await, State::Candidate, "events of the hour are accepted for two hours");
    world.pass(HOUR).await;
    world.work().await;
    assert_eq!(world.state("hot").await, State::Completed);
}

#[tokio::test]
async fn nobody_looks_where_the_policy_is_off_and_nobody_splits_where_it_is_manual() {
    let off = SplitSpec { policy: SplitPolicy::Off, ..spec().split };
    let world = World::wide(engine::NamespaceSpec { split: off, ..spec() }).await;
    assert_eq!(world.engine.take_detections().await.unwrap(), 0);
    let manual = SplitSpec { policy: SplitPolicy::Manual, ..spec().split };
    let world = World::wide(engine::NamespaceSpec { split: manual, ..spec() }).await;
    world.work().await;
    assert_eq!(world.state("hot").await, State::Candidate);
    let wide = world.engine.wide_partitions(&name(), None, false, 10).await.unwrap();
    assert_eq!(wide.len(), 1);
    assert!(wide[0].bytes > 256 << 10);
    world
        .engine
        .create_split(&name(), crate::world::TABLE, &wide[0].partition, engine::SplitAsk::default())
        .await
        .unwrap();
    world.work().await;
    assert_eq!(world.state("hot").await, State::Completed);
}

#[tokio::test]
async fn all_partitions_of_a_slice_can_be_measured() {
    let world = World::new(spec()).await;
    world.fill("hot", 400).await;
    world.fill("small", 20).await;
    let known = world.engine.wide_partitions(&name(), Some(crate::world::TABLE), false, 10).await.unwrap();
    assert_eq!(known, []);
    let all = world.engine.wide_partitions(&name(), Some(crate::world::TABLE), true, 10).await.unwrap();
    let series: Vec<&str> = all.iter().map(|wide| wide.partition.series.as_str()).collect();
    assert_eq!(series, ["hot", "small"]);
    assert!(world.engine.wide_partitions(&name(), Some("data_19990101"), true, 10).await.is_err());
}
