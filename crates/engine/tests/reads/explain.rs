//! What an explanation tells is what the read did.

use std::time::Duration;

use engine::{ReadRequest, SkipReason};
use model::{Interval, SeriesId};

use crate::world::{START, any_request, plain, world};

#[tokio::test]
async fn an_explanation_accounts_for_the_page_and_for_the_rest_of_the_interval() {
    let mut seen = Vec::new();
    for seed in 0..40 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut world = world(&mut random).await;
        for _ in 0..6 {
            world.write(&mut random).await;
        }
        let mut request =
            ReadRequest { page_records: random.usize(1..40), ..any_request(&world, &mut random) };
        request.series = vec![SeriesId::new("s1").unwrap()];
        let page = world.engine.read(request.clone()).await.unwrap();
        let explained = world.engine.explain(request.clone()).await.unwrap();
        assert_eq!(explained.page.events, page.events, "seed {seed}");
        assert_eq!(explained.page.next, page.next);
        let partitions = || explained.groups.iter().flat_map(|group| &group.partitions);
        assert_eq!(partitions().count() as u64, explained.page.cost.partitions);
        assert_eq!(partitions().map(|at| at.bytes).sum::<u64>(), explained.page.cost.bytes_read);
        let events: Vec<_> = page.events.into_iter().map(plain).collect();
        let rows: usize = events.iter().map(|event| event.3.len()).sum();
        assert!(partitions().map(|at| at.rows).sum::<u64>() >= rows as u64);
        assert!(partitions().all(|at| at.store_calls >= 1 && at.time_taken >= Duration::from_millis(1)));
        for event in &events {
            let visited = |at: &&engine::ExplainedGroup| {
                (at.group.interval.start()..at.group.interval.end()).contains(&event.0)
            };
            assert_eq!(explained.groups.iter().filter(visited).count(), 1, "seed {seed}");
        }
        // What was visited and what was skipped is the whole interval.
        let mut parts: Vec<Interval> = explained.groups.iter().map(|group| group.group.interval).collect();
        parts.extend(explained.skipped.iter().map(|skipped| skipped.interval));
        parts.sort_by_key(|part| part.start());
        let mut reached = request.interval.start();
        for part in parts {
            assert!(part.start() <= reached, "seed {seed}: nothing is said of {reached} to {}", part.start());
            reached = reached.max(part.end());
        }
        assert_eq!(reached, request.interval.end().max(request.interval.start()), "seed {seed}");
        seen.extend(explained.skipped.iter().map(|skipped| skipped.reason));
    }
    assert!(seen.contains(&SkipReason::PageFull) && seen.contains(&SkipReason::NoSlice), "{seen:?}");
}

#[tokio::test]
async fn it_says_when_time_was_over_and_what_retention_has_dropped() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut world = world(&mut random).await;
    for _ in 0..8 {
        world.write(&mut random).await;
    }
    let request = ReadRequest {
        interval: Interval::new(0, (START + 100) * 1_000_000_000).unwrap(),
        query: None,
        total_limit: None,
        page_records: 1_000,
        max_latency: Some(Duration::from_millis(1)),
        ..any_request(&world, &mut random)
    };
    let explained = world.engine.explain(request).await.unwrap();
    assert!(explained.page.partial.is_some());
    let reasons: Vec<_> = explained.skipped.iter().map(|skipped| skipped.reason).collect();
    assert!(reasons.contains(&SkipReason::TimeOver) && reasons.contains(&SkipReason::Dropped), "{reasons:?}");
    let left = explained.skipped.iter().find(|skipped| skipped.reason == SkipReason::TimeOver).unwrap();
    assert!(left.time_buckets > 0 && left.partitions >= left.time_buckets, "{left:?}");
}
