//! What only packed targets have.

use engine::{
    AggregateRequest, Aggregation, NamespaceSpec, ReadRequest, SplitAsk, SplitLayout, SplitLimits, SplitSpec,
    SplitStrategy,
};
use model::{Interval, Order};
use split::{ChunkCodec, State, TargetLayout};

use crate::corrupt::{Damage, damage};
use crate::modes::until;
use crate::routes::in_mode;
use crate::world::{
    HOUR, NANOS, START, TABLE, World, by_hash, event, events_of, id, name, partition, request, spec,
};

/// Time and id of an event, key and value of one of its items.
type Told = (i64, Vec<u8>, Vec<u8>, Vec<u8>);

/// Every item with its event, in the order of the read.
fn items_of(events: &[engine::Event]) -> Vec<Told> {
    let of = |event: &engine::Event| {
        let item = |item: engine::Item<'_>| {
            (event.time.nanos(), event.event_id().to_vec(), item.key.to_vec(), item.value.to_vec())
        };
        event.items().map(item).collect::<Vec<_>>()
    };
    events.iter().flat_map(of).collect()
}

/// Events that shrink when packed, of some items each.
async fn shrinking(spec: NamespaceSpec) -> World {
    let world = World::new(spec).await;
    let events = (0..2_000).map(|number| {
        let mut event = event("hot", number / 2, usize::try_from(number).unwrap(), 8);
        let text = format!("{{\"device\":\"tv\",\"position\":{number},\"title\":\"Arrival\"}}").repeat(3);
        for key in ["a", "b", "payload"] {
            event.items.push(engine::ItemInput {
                key: key.to_owned(),
                value: text.clone().into(),
                ..engine::ItemInput::default()
            });
        }
        event
    });
    world.write(events.collect()).await;
    world.read("hot").await;
    world.pass(4 * HOUR).await;
    world
}

#[tokio::test]
async fn what_shrinks_is_planned_in_stored_bytes_and_every_read_is_the_same() {
    for spec in [spec(), by_hash()] {
        let split = SplitSpec { strategy: spec.split.strategy, ..spec.split };
        let read = engine::ReadSpec { mode: engine::ReadMode::On, ..spec.read };
        let world = shrinking(NamespaceSpec { split, read, ..spec }).await;
        let newest = events_of(&world.read("hot").await);
        assert_eq!(newest.len(), 2_000);
        world.work().await;
        let record = world.split("hot").await.record;
        assert_eq!(record.state, State::Completed, "{:?}", record.reason);
        let post = record.post_split_data.unwrap();
        assert_eq!((post.layout, post.codec), (TargetLayout::Packed, Some(ChunkCodec::Lz4)));
        let logical: u64 = post.partitions.iter().map(|target| target.bytes).sum();
        let stored: u64 = post.partitions.iter().map(|target| target.stored_bytes).sum();
        assert!(stored < logical / 4, "{stored} of {logical}");
        assert!(post.partitions.len() <= 5, "{}", post.partitions.len());
        for (order, page_records) in [(Order::NewestFirst, 333), (Order::OldestFirst, 77)] {
            let asked = ReadRequest { order, page_records, ..request("hot") };
            let pages = crate::world::pages_of(&world.engine, asked).await;
            assert!(crate::routes::filled(&pages).all(|page| page.cost.targets > 0));
            let (found, mut expect) = (items_of(&events_of(&pages)), items_of(&newest));
            if order == Order::OldestFirst {
                expect.reverse();
            }
            assert!(found == expect, "{order:?}");
        }
    }
}

#[tokio::test]
async fn a_completed_split_is_made_anew_in_the_layout_that_somebody_asks_for() {
    let world = World::wide(spec()).await;
    world.work().await;
    for (attempt, layout) in [(2, TargetLayout::Rows), (3, TargetLayout::Packed)] {
        let asked = SplitAsk { layout: Some(layout), validate_only: true };
        world.engine.retry_split(&name(), &id("hot"), asked).await.unwrap();
        assert_eq!(world.state("hot").await, State::Completed, "nothing was changed");
        let asked = SplitAsk { layout: Some(layout), validate_only: false };
        let retiring = world.engine.retry_split(&name(), &id("hot"), asked).await.unwrap();
        assert_eq!(retiring.record.state, State::Retiring);
        world.work().await;
        let record = world.split("hot").await.record;
        assert_eq!((record.state, record.attempt), (State::Completed, attempt), "{:?}", record.reason);
        assert_eq!(record.post_split_data.unwrap().layout, layout);
    }
}

#[tokio::test]
async fn a_worker_that_dies_while_it_makes_one_anew_is_followed_by_another() {
    for calls in 0.. {
        let world = World::wide(spec()).await;
        world.work().await;
        let asked = SplitAsk { layout: Some(TargetLayout::Rows), validate_only: false };
        world.engine.retry_split(&name(), &id("hot"), asked).await.unwrap();
        let died = world.die_after(calls, crate::doom::When::After).await;
        let next = world.reopened().await;
        next.work().await;
        let record = next.split("hot").await.record;
        assert_eq!((record.state, record.attempt), (State::Completed, 2), "after {calls} calls");
        if !died {
            return;
        }
    }
}

#[tokio::test]
async fn a_partition_that_is_not_wide_is_packed_into_one_target_where_that_is_asked_for() {
    let world = World::new(spec()).await;
    world.fill("small", 20).await;
    world.pass(4 * HOUR).await;
    let asked = SplitAsk { layout: Some(TargetLayout::Packed), validate_only: false };
    world.engine.create_split(&name(), TABLE, &partition("small"), asked).await.unwrap();
    world.work().await;
    let record = world.split("small").await.record;
    assert_eq!(record.state, State::Completed, "{:?}", record.reason);
    assert_eq!(record.post_split_data.unwrap().partitions.len(), 1);
}

#[tokio::test]
async fn events_too_large_for_a_chunk_are_kept_as_rows() {
    let world = World::new(spec()).await;
    world.write((0..4).map(|number| event("large", 7, number, 900_000)).collect()).await;
    world.write((0..4).map(|number| event("large", 8, 10 + number, 900_000)).collect()).await;
    world.read("large").await;
    world.pass(4 * HOUR).await;
    world.work().await;
    let record = world.split("large").await.record;
    assert_eq!(record.state, State::Completed, "{:?}", record.reason);
    let post = record.post_split_data.unwrap();
    assert_eq!(post.layout, TargetLayout::Rows, "{}", post.strategy_reason);
}

/// The stored keys of all targets.
async fn stored_keys(world: &World) -> Vec<(u32, model::RowKey)> {
    let mut keys = Vec::new();
    for event_bucket in 0..16 {
        keys.extend(world.target("hot", event_bucket).await.into_iter().map(|row| (event_bucket, row.key)));
    }
    keys
}

/// Two workers that cut at different rows would leave chunks that overlap.
#[tokio::test]
async fn whoever_goes_on_cuts_the_same_chunks() {
    for strategy in [SplitStrategy::TimeRange, SplitStrategy::EventBucket] {
        let split = SplitSpec { strategy, layout: SplitLayout::Packed, ..spec().split };
        let spec = NamespaceSpec { split, ..spec() };
        let undisturbed = World::wide(spec.clone()).await;
        undisturbed.work().await;
        let expected = stored_keys(&undisturbed).await;
        assert!(expected.len() > 12, "{}", expected.len());
        for calls in (0..).step_by(3) {
            // So slow that it writes down how far it came.
            let slow =
                SplitLimits { bytes_per_second: 100_000, page_bytes: 40_000, ..SplitLimits::default() };
            let world = World::wide(spec.clone()).await;
            world.engine.take_detections().await.unwrap();
            let died = world.die_after_with(slow, calls, crate::doom::When::After).await;
            let next = world.reopened().await;
            next.work().await;
            let record = next.split("hot").await.record;
            assert_eq!((record.state, record.attempt), (State::Completed, 1), "after {calls} calls");
            assert_eq!(stored_keys(&next).await, expected, "{strategy:?} after {calls} calls");
            if !died {
                break;
            }
        }
    }
}

/// Everything that is in a read, and what it costs in bytes.
async fn aggregated(
    world: &World,
    aggregation: Aggregation,
    read: ReadRequest,
) -> (u64, Vec<engine::Bucket>, u64) {
    let asked = AggregateRequest { read, aggregation };
    let page = world.engine.aggregate(asked).await.unwrap();
    assert_eq!((page.next, page.cost.origins, page.cost.fallbacks), (None, 0, 0));
    (page.count, page.buckets, page.cost.bytes_read)
}

#[tokio::test]
async fn counts_and_histograms_come_from_headers_and_are_exact() {
    let read = engine::ReadSpec { mode: engine::ReadMode::On, ..spec().read };
    let world = World::wide(NamespaceSpec { read, ..spec() }).await;
    let newest = events_of(&world.read("hot").await);
    world.work().await;
    let stored: u64 = world
        .split("hot")
        .await
        .record
        .post_split_data
        .unwrap()
        .partitions
        .iter()
        .map(|t| t.stored_bytes)
        .sum();
    for (from, to) in [(0, 3_600), (0, 1), (17, 181), (100, 101), (399, 3_600), (500, 600)] {
        for order in [Order::NewestFirst, Order::OldestFirst] {
            let second = |second: i64| (START + second) * NANOS;
            let interval = Interval::new(second(from), second(to)).unwrap();
            let within: Vec<i64> = newest
                .iter()
                .map(|event| event.time.nanos())
                .filter(|time| (second(from)..second(to)).contains(time))
                .collect();
            let asked = || ReadRequest { interval, order, ..request("hot") };
            let (count, _, bytes) = aggregated(&world, Aggregation::Count, asked()).await;
            assert_eq!(count, within.len() as u64, "{from} to {to}");
            assert!(bytes < stored / 4, "{bytes} of {stored}");
            let width = 60 * NANOS;
            let (count, buckets, _) = aggregated(&world, Aggregation::TimeHistogram { width }, asked()).await;
            assert_eq!(count, within.len() as u64, "{from} to {to}");
            let mut expected = std::collections::BTreeMap::<i64, u64>::new();
            within.iter().for_each(|time| *expected.entry(time - time.rem_euclid(width)).or_default() += 1);
            let found: std::collections::BTreeMap<i64, u64> = buckets
                .iter()
                .map(|bucket| match &bucket.key {
                    engine::BucketKey::Time(time) => (time.start(), bucket.count),
                    engine::BucketKey::Value(_) => unreachable!("times were asked for"),
                })
                .collect();
            assert_eq!(found, expected, "{from} to {to}");
        }
    }
    // Behind a page that ended in the middle the rest is counted.
    let first = world.engine.read(request("hot")).await.unwrap();
    let rest = ReadRequest { resume: first.next, ..request("hot") };
    assert_eq!(aggregated(&world, Aggregation::Count, rest).await.0, 300);
}

/// Nothing is compared in mode on, and workers compare again after an hour only.
#[tokio::test]
async fn damage_that_a_read_meets_takes_the_split_out_of_use() {
    let world = World::wide(in_mode(spec(), engine::ReadMode::On)).await;
    world.work().await;
    damage(&world, Damage::Flip).await;
    let pages = world.read("hot").await;
    assert_eq!(events_of(&pages).len(), 400);
    assert!(pages.iter().any(|page| page.cost.fallbacks > 0), "what is damaged is read from the origin");
    let info = until(&world, |info| info.evidence.differ > 0).await;
    assert_eq!(info.mode, engine::ReadMode::Shadow);
    assert!(matches!(world.state("hot").await, State::Retiring | State::Retired));
    let pages = world.read("hot").await;
    assert!(pages.iter().all(|page| page.cost.targets == 0 && page.cost.fallbacks == 0));
}
