//! Pages of every kind against a plain sorted list.

use std::sync::Arc;
use std::time::Duration;

use engine::{Engine, ReadRequest, Resume};
use model::{Interval, SeriesId};

use crate::world::{any_request, plain, world};

#[tokio::test]
async fn the_union_of_the_pages_is_the_sorted_list() {
    for seed in 0..40 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut world = world(&mut random).await;
        for _ in 0..8 {
            world.write(&mut random).await;
        }
        for _ in 0..25 {
            let request = any_request(&world, &mut random);
            let expected = world.expected(&request);
            let read = world.read_all(request.clone(), &mut random).await;
            let read: Vec<_> = read.into_iter().map(plain).collect();
            assert_eq!(read, expected, "seed {seed}: {request:?}");
        }
    }
}

#[tokio::test]
async fn pages_cut_short_by_time_add_up_and_say_what_is_complete() {
    let mut cuts = 0;
    for seed in 0..40 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut world = world(&mut random).await;
        for _ in 0..8 {
            world.write(&mut random).await;
        }
        for _ in 0..10 {
            let mut request = ReadRequest { page_records: 500, ..any_request(&world, &mut random) };
            let expected = world.expected(&request);
            let (mut read, mut latency) = (Vec::new(), random.u64(1..30));
            loop {
                request.max_latency = Some(Duration::from_millis(latency));
                let page = world.engine.read(request.clone()).await.unwrap();
                read.extend(page.events.into_iter().map(plain));
                request.resume = page.next;
                let Some(partial) = page.partial else {
                    if request.resume.is_none() {
                        break;
                    }
                    continue;
                };
                cuts += 1;
                assert_eq!(partial.reason, "MAX_LATENCY");
                assert!(request.resume.is_some(), "a page that was cut short goes on");
                let within = partial.complete.start()..partial.complete.end();
                let complete = expected.iter().filter(|event| within.contains(&event.0)).count();
                assert!(
                    read.len() >= complete
                        && read.iter().take(complete).all(|event| within.contains(&event.0))
                );
                assert!(read.iter().eq(expected.iter().take(read.len())), "in order, without holes");
                // Whoever allows too little time for one group never gets anywhere.
                latency += 3;
            }
            assert_eq!(read, expected, "seed {seed}: {request:?}");
        }
    }
    assert!(cuts > 500, "{cuts}");
}

#[tokio::test]
async fn a_page_goes_on_after_a_restart() {
    let mut random = fastrand::Rng::with_seed(99);
    let mut world = world(&mut random).await;
    for _ in 0..6 {
        world.write(&mut random).await;
    }
    let mut request = any_request(&world, &mut random);
    request.interval = Interval::ALL;
    (request.query, request.total_limit) = (None, None);
    request.series = vec![SeriesId::new("s1").unwrap()];
    let expected = world.expected(&request);
    let (mut read, mut resume) = (Vec::new(), None::<Resume>);
    loop {
        let engine = Engine::open(Arc::clone(&world.store), world.env.clone()).await.unwrap();
        let page = engine.read(ReadRequest { resume, page_records: 3, ..request.clone() }).await.unwrap();
        read.extend(page.events.into_iter().map(plain));
        resume = page.next;
        if resume.is_none() {
            break;
        }
    }
    assert_eq!(read, expected);
    assert!(read.len() > 20);
}
