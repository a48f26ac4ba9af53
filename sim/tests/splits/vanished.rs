//! The table of targets is gone, behind the back of all servers, or cannot be read from some moment on: reads fall back to the
//! origin, and a page is never made of both.

use std::time::Duration;

use engine::{Event, Options, SplitLayout};
use sim::World;
use sim::cluster::EVERY_SCAN;
use store::Store;

use crate::scene::{EVENTS, LAYOUTS, name, read, server, wide, wide_of, wide_table};

async fn dropped(world: World, layout: SplitLayout) {
    let cluster = world.cluster(sim::cluster::Options::default());
    let (engine, _) = server(&world, &cluster, "here", Options::default()).await;
    let (table, partition, _) = wide(&world, &engine, layout).await;
    engine.create_split(&name(), &table, &partition, engine::SplitAsk::default()).await.expect("asked for");
    assert!(engine.work_on_splits().await.expect("it works"), "there is something to do");
    let page = read(&engine, 1_000).await;
    assert_eq!((page.events.len() as u64, page.cost.fallbacks), (EVENTS, 0));
    assert!(page.cost.targets > 1, "{:?}", page.cost);
    cluster.drop_table(&wide_table(&table)).await.expect("dropped");
    let page = read(&engine, 1_000).await;
    assert_eq!((page.events.len() as u64, page.cost.fallbacks, page.cost.targets), (EVENTS, 1, 0));
}

#[test]
fn a_table_that_is_gone_is_not_an_empty_one() {
    for layout in LAYOUTS {
        World::run(1, |world| Box::pin(dropped(world, layout))).expect("no task panics");
    }
}

/// A page as it should be, and one whose targets cannot be read any more from some moment on; whether that fell back.
struct Pages {
    wanted: Vec<Event>,
    found: Vec<Event>,
    fell_back: bool,
}

/// Few events of several rows each: a page of them takes several looks at every target.
const PAGE_RECORDS: usize = 12;
const ITEMS: usize = 3;

async fn lost_meanwhile(world: World, after: Duration, options: Options, layout: SplitLayout) -> Pages {
    let cluster = world.cluster(sim::cluster::Options::default());
    let (engine, _) = server(&world, &cluster, "here", options).await;
    let (table, partition, _) = wide_of(&world, &engine, layout, ITEMS).await;
    engine.create_split(&name(), &table, &partition, engine::SplitAsk::default()).await.expect("asked for");
    assert!(engine.work_on_splits().await.expect("it works"), "there is something to do");
    let wanted = read(&engine, PAGE_RECORDS).await;
    assert!(wanted.cost.targets > 1 && wanted.events.len() == PAGE_RECORDS, "{:?}", wanted.cost);
    let trouble = async {
        world.clock().sleep(after).await;
        cluster.set_trouble(&wide_table(&table), EVERY_SCAN);
    };
    let (found, ()) = futures::join!(read(&engine, PAGE_RECORDS), trouble);
    Pages { wanted: wanted.events, found: found.events, fell_back: found.cost.fallbacks > 0 }
}

/// Loses the targets at every moment of a page.
fn all(options: impl Fn() -> Options, layout: SplitLayout) -> Vec<Pages> {
    let moments = (0..80).map(Duration::from_millis);
    let run = |after| World::run(1, |world| Box::pin(lost_meanwhile(world, after, options(), layout)));
    moments.map(|after| run(after).expect("no task panics")).collect()
}

#[test]
fn targets_that_are_lost_in_the_middle_of_a_page_are_not_in_it() {
    for layout in LAYOUTS {
        let pages = all(Options::default, layout);
        assert!(pages.iter().all(|pages| pages.found == pages.wanted), "{layout:?}");
        let fell_back = pages.iter().filter(|pages| pages.fell_back).count();
        assert!((1..pages.len()).contains(&fell_back), "{layout:?}: {fell_back} of {}", pages.len());
    }
}

#[cfg(feature = "seeded-bugs")]
#[test]
fn a_page_from_both_sides_has_events_that_nobody_wrote() {
    let options = || Options { bug: Some(engine::Bug::MixedFallback), ..Options::default() };
    // Of packed targets one look at each has all of the page, and nothing is used before both have answered.
    assert!(all(options, SplitLayout::Rows).iter().any(|pages| pages.found != pages.wanted));
}
