//! Reads without series: each event once, slice by slice, whatever the pages, the cuts and the restarts.

use std::sync::Arc;
use std::time::Duration;

use engine::{Engine, NewBlock, ReadRequest};
use model::{Order, SeriesId};

use crate::world::{Found, World, any_request, plain, world};

fn all_series(world: &World, random: &mut fastrand::Rng) -> ReadRequest {
    ReadRequest { series: Vec::new(), total_limit: None, ..any_request(world, random) }
}

/// Slices follow each other in the order of the read, and so do the events of one partition.
fn assert_slice_by_slice(read: &[Found], order: Order) {
    let slices: Vec<i64> = read.iter().map(|event| event.0.div_euclid(3_600_000_000_000)).collect();
    let in_order = slices.is_sorted_by(|a, b| order.compare(a, b).is_le());
    assert!(in_order, "{order:?}: {slices:?}");
}

#[tokio::test]
async fn the_union_of_the_pages_is_everything_once() {
    let mut found = 0;
    for seed in 0..40 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut world = world(&mut random).await;
        for _ in 0..8 {
            world.write(&mut random).await;
        }
        for _ in 0..15 {
            let request = all_series(&world, &mut random);
            let read = world.read_all(request.clone(), &mut random).await;
            let mut read: Vec<_> = read.into_iter().map(plain).collect();
            assert_slice_by_slice(&read, request.order);
            let mut expected = world.expected(&request);
            read.sort();
            expected.sort();
            assert_eq!(read, expected, "seed {seed}: {request:?}");
            found += read.len();
        }
    }
    assert!(found > 5_000, "{found}");
}

#[tokio::test]
async fn cuts_and_restarts_leave_no_hole_and_say_which_slices_are_complete() {
    let (mut cuts, mut complete) = (0, 0);
    for seed in 0..40 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut world = world(&mut random).await;
        for _ in 0..8 {
            world.write(&mut random).await;
        }
        let mut request = ReadRequest { page_records: 500, ..all_series(&world, &mut random) };
        let mut expected = world.expected(&request);
        let (mut read, mut latency) = (Vec::new(), random.u64(1..10));
        loop {
            request.max_latency = Some(Duration::from_millis(latency));
            let engine = Engine::open(Arc::clone(&world.store), world.env.clone()).await.unwrap();
            let page = engine.read(request.clone()).await.unwrap();
            read.extend(page.events.into_iter().map(plain));
            request.resume = page.next;
            if let Some(partial) = page.partial {
                cuts += 1;
                assert!(request.resume.is_some(), "a page that was cut short goes on");
                let within =
                    |event: &&Found| (partial.complete.start()..partial.complete.end()).contains(&event.0);
                let known = expected.iter().filter(within).count();
                assert_eq!(read.iter().filter(within).count(), known, "seed {seed}: {partial:?}");
                complete += known;
            }
            if request.resume.is_none() {
                break;
            }
            latency += 1;
        }
        read.sort();
        expected.sort();
        assert_eq!(read, expected, "seed {seed}: {request:?}");
    }
    assert!(cuts > 100 && complete > 100, "{cuts} {complete}");
}

#[tokio::test]
async fn a_total_limit_holds_over_all_pages() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut world = world(&mut random).await;
    for _ in 0..8 {
        world.write(&mut random).await;
    }
    for limit in [1, 7, 40, 10_000] {
        let request = ReadRequest { total_limit: Some(limit), ..all_series(&world, &mut random) };
        let whole = ReadRequest { total_limit: None, ..request.clone() };
        let expected = world.expected(&whole).len().min(usize::try_from(limit).unwrap());
        assert_eq!(world.read_all(request, &mut random).await.len(), expected);
    }
}

#[tokio::test]
async fn blocked_series_are_passed_over_and_counted() {
    let mut random = fastrand::Rng::with_seed(4);
    let mut world = world(&mut random).await;
    for _ in 0..8 {
        world.write(&mut random).await;
    }
    let block = NewBlock { series: SeriesId::new("s1").unwrap(), reads: true, ..new_block() };
    world.engine.add_blocks(&world.name, vec![block]).await.unwrap();
    let request =
        ReadRequest { query: None, interval: model::Interval::ALL, ..all_series(&world, &mut random) };
    let page = world.engine.read(ReadRequest { page_records: 5_000, ..request.clone() }).await.unwrap();
    assert!(page.next.is_none() && page.cost.blocked_partitions > 0, "{:?}", page.cost);
    assert!(page.events.iter().all(|event| event.series.as_str() != "s1"));
    let others = world.expected(&request).iter().filter(|event| event.2 != "s1").count();
    assert_eq!(page.events.len(), others);
}

fn new_block() -> NewBlock {
    NewBlock {
        series: SeriesId::new("x").unwrap(),
        reads: false,
        writes: false,
        reason: String::new(),
        author: String::new(),
        expires: None,
        etag: None,
    }
}
