//! Reads that come from targets: the same answers, whatever goes wrong.

use engine::{
    AggregateRequest, Aggregation, Fallback, NamespaceSpec, ReadMode, ReadPage, ReadRequest, ReadSpec,
    SearchQuery,
};
use model::{Interval, Order, SeriesId};
use split::State;
use store::Store;

use crate::world::{
    HOUR, NANOS, SECOND, START, World, by_hash, events_of, id, name, pages_of, request, spec,
};

/// The same, in a mode.
pub(crate) fn in_mode(spec: NamespaceSpec, mode: ReadMode) -> NamespaceSpec {
    NamespaceSpec { read: ReadSpec { mode, ..spec.read }, ..spec }
}

/// A completed split in a namespace whose reads are on; and what its series holds, newest first.
async fn served(spec: NamespaceSpec) -> (World, Vec<engine::Event>) {
    let world = World::wide(in_mode(spec, ReadMode::On)).await;
    let before = events_of(&world.read("hot").await);
    assert_eq!(before.len(), 400);
    world.work().await;
    assert_eq!(world.state("hot").await, State::Completed);
    (world, before)
}

/// The pages with events: the last one may find nothing left.
pub(crate) fn filled(pages: &[ReadPage]) -> impl Iterator<Item = &ReadPage> {
    pages.iter().filter(|page| !page.events.is_empty())
}

fn seconds(from: i64, to: i64) -> Interval {
    Interval::new((START + from) * NANOS, (START + to) * NANOS).unwrap()
}

#[tokio::test]
async fn every_read_gives_the_same_from_targets() {
    for spec in [spec(), by_hash()] {
        let (world, newest) = served(spec).await;
        let oldest: Vec<_> = newest.iter().rev().cloned().collect();
        for page_records in [1, 7, 100, 10_000] {
            for (order, expect) in [(Order::NewestFirst, &newest), (Order::OldestFirst, &oldest)] {
                let pages =
                    pages_of(&world.engine, ReadRequest { page_records, order, ..request("hot") }).await;
                assert_eq!(&events_of(&pages), expect, "{order:?} {page_records}");
                assert!(filled(&pages).all(|page| page.cost.targets > 0 && page.cost.origins == 0));
                assert!(filled(&pages).all(|page| page.cost.fallbacks == 0 && page.partitions.is_empty()));
            }
        }
        for (from, to) in [(0, 1), (17, 18), (100, 250), (399, 3_600), (3_000, 3_600)] {
            let interval = seconds(from, to);
            let expect: Vec<_> =
                newest.iter().filter(|event| interval.contains(event.time)).cloned().collect();
            let pages = pages_of(&world.engine, ReadRequest { interval, ..request("hot") }).await;
            assert_eq!(events_of(&pages), expect, "{from} to {to}");
        }
    }
}

#[tokio::test]
async fn a_narrow_read_by_time_asks_one_target_and_by_hash_all() {
    let narrow = || ReadRequest { interval: seconds(200, 201), ..request("hot") };
    let (by_time, _) = served(spec()).await;
    let page = by_time.engine.read(narrow()).await.unwrap();
    assert_eq!((page.events.len(), page.cost.targets, page.cost.partitions), (1, 1, 1));
    let (hashed, _) = served(by_hash()).await;
    let page = hashed.engine.read(narrow()).await.unwrap();
    assert_eq!(page.events.len(), 1);
    assert!(page.cost.targets > 10, "{}", page.cost.targets);
}

#[tokio::test]
async fn counts_searches_and_reads_of_everything_are_the_same_too() {
    for spec in [spec(), by_hash()] {
        let (world, newest) = served(spec).await;
        let count = AggregateRequest { read: request("hot"), aggregation: Aggregation::Count };
        let counted = world.engine.aggregate(count).await.unwrap();
        assert_eq!((counted.count, counted.cost.origins), (400, 0));
        let query = Some(SearchQuery::Exists { key: "k".into() });
        let several = vec![SeriesId::new("cold").unwrap(), SeriesId::new("hot").unwrap()];
        let found = pages_of(&world.engine, ReadRequest { series: several, query, ..request("hot") }).await;
        assert_eq!(events_of(&found), newest);
        assert!(filled(&found).all(|page| page.cost.targets > 0 && page.cost.origins > 0));
        let all = pages_of(&world.engine, ReadRequest { series: Vec::new(), ..request("hot") }).await;
        assert_eq!(events_of(&all), newest);
        assert!(all.iter().map(|page| page.cost.targets).sum::<u64>() > 0);
    }
}

#[tokio::test]
async fn targets_that_vanish_are_a_fallback_and_never_a_wrong_answer() {
    for spec in [spec(), by_hash()] {
        let (world, newest) = served(spec).await;
        world.store.drop_table(&World::wide_table()).await.unwrap();
        let pages = world.read("hot").await;
        assert_eq!(events_of(&pages), newest);
        assert!(filled(&pages).all(|page| page.cost.fallbacks == 1 && page.cost.targets == 0));
        let explained = world.engine.explain(request("hot")).await.unwrap();
        let route = &explained.groups[0].partitions[0].route;
        assert_eq!((route.filter, route.fallback), (Some(true), Some(Fallback::TargetError)));
    }
}

#[tokio::test]
async fn without_a_lease_the_origin_is_read() {
    let (world, newest) = served(spec()).await;
    world.clock.advance(HOUR);
    world.faults.replace(store::layer::FaultPlan::default().with_chance(
        store::layer::Op::MetaGet,
        1_000,
        store::layer::Fault::Refuse,
    ));
    let reading = world.engine.read(ReadRequest { page_records: 1_000, ..request("hot") });
    let page = world.during(Box::pin(reading)).await.unwrap();
    assert_eq!(page.events, newest);
    assert_eq!((page.cost.targets, page.cost.fallbacks), (0, 1));
    let explained = world.during(Box::pin(world.engine.explain(request("hot")))).await.unwrap();
    assert_eq!(explained.groups[0].partitions[0].route.fallback, Some(Fallback::NoLease));
}

#[tokio::test]
async fn a_retirement_between_two_pages_changes_the_route_and_nothing_else() {
    for spec in [spec(), by_hash()] {
        let (world, newest) = served(spec).await;
        let mut asked = ReadRequest { page_records: 30, ..request("hot") };
        let (mut events, mut routes) = (Vec::new(), Vec::new());
        for turn in 0.. {
            let page = world.engine.read(asked.clone()).await.unwrap();
            routes.push(page.cost.targets > 0);
            events.extend(page.events);
            let Some(next) = page.next else { break };
            asked.resume = Some(next);
            if turn == 3 {
                world.engine.retire_split(&name(), &id("hot"), false).await.unwrap();
            }
            if turn == 6 {
                world.work().await;
                world.engine.retry_split(&name(), &id("hot"), engine::SplitAsk::default()).await.unwrap();
                world.work().await;
            }
        }
        assert_eq!(events, newest);
        assert_eq!(routes[..8], [true, true, true, true, false, false, false, true]);
    }
}

#[tokio::test]
async fn another_server_knows_when_it_next_looks_and_the_own_one_at_once() {
    let (world, newest) = served(spec()).await;
    let other = world.member().await;
    let read = async || {
        let page = other.read(ReadRequest { page_records: 1_000, ..request("hot") }).await.unwrap();
        assert_eq!(page.events, newest);
        page.cost.targets > 0
    };
    assert!(read().await, "filters are read before the first request");
    // A second split, by the first server: the other one has not heard of it.
    world.engine.retire_split(&name(), &id("hot"), false).await.unwrap();
    world.during_of(&[&world.engine, &other], Box::pin(world.work())).await;
    assert!(!read().await);
    world.engine.retry_split(&name(), &id("hot"), engine::SplitAsk::default()).await.unwrap();
    world.during_of(&[&world.engine, &other], Box::pin(world.work())).await;
    assert_eq!(world.state("hot").await, State::Completed);
    assert!(world.read("hot").await[0].cost.targets > 0);
    world.clock.advance(SECOND * 5);
    world.engine.refresh().await.unwrap();
    other.refresh().await.unwrap();
    other.refresh_filters().await.unwrap();
    assert!(read().await);
}

#[tokio::test]
async fn reads_of_ids_that_do_not_exist_grow_nothing() {
    let (world, _) = served(spec()).await;
    let before = world.engine.list_filters(None).unwrap();
    for number in 0..2_000 {
        let page = world.engine.read(request(&format!("nobody-{number}"))).await.unwrap();
        assert_eq!(page.events, []);
    }
    let after = world.engine.list_filters(None).unwrap();
    assert_eq!((before[0].elements, after[0].elements), (1, 1));
    assert!(after[0].false_positives < 20, "{}", after[0].false_positives);
}

#[tokio::test]
async fn a_probe_says_what_a_read_would_meet() {
    let (world, _) = served(spec()).await;
    let probe = async |series: &str| {
        let series = SeriesId::new(series).unwrap();
        world.engine.probe_filter(&name(), &series, seconds(0, 3_600)).await.unwrap().remove(0)
    };
    let hot = probe("hot").await;
    assert_eq!((hot.maybe, hot.state, hot.target), (true, Some(State::Completed), true));
    let cold = probe("cold").await;
    assert_eq!((cold.maybe, cold.state, cold.target), (false, None, false));
    let everything = Interval::ALL;
    let series = SeriesId::new("hot").unwrap();
    assert_eq!(world.engine.probe_filter(&name(), &series, everything).await.unwrap().len(), 24);
}

#[tokio::test]
async fn filters_go_with_their_slice_and_come_back_after_a_restart() {
    let (world, newest) = served(spec()).await;
    let world = world.reopened().await;
    let pages = world.read("hot").await;
    assert_eq!(events_of(&pages), newest);
    assert!(filled(&pages).all(|page| page.cost.targets > 0));
    world.pass(24 * 33 * HOUR).await;
    world.during(world.engine.drop_expired()).await.unwrap();
    world.engine.refresh_filters().await.unwrap();
    assert_eq!(world.engine.list_filters(None).unwrap(), []);
    let page = world.engine.read(request("hot")).await.unwrap();
    assert!(page.events.is_empty() && page.retention_truncated);
}
