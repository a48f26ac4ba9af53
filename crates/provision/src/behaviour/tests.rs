//! What shapes do in worlds, held against figures that can be computed by hand.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::Guess;
use crate::workload::tests::sensors;
use crate::world::middle;

fn cut(bucket_seconds: u32, buckets_per_id: u16) -> Cut {
    Cut::of(ShapeSpec {
        seconds_per_slice: bucket_seconds,
        seconds_per_bucket: bucket_seconds,
        buckets_per_id,
    })
}

/// A hundred ids with one event of 1,000 bytes a second each, read by the hour.
fn even() -> Workload {
    Workload {
        events_per_second_per_id: Guess::exactly(1.0),
        ids: Guess::exactly(100.0),
        skew: Guess::exactly(0.0),
        event_bytes: Guess::exactly(1_000.0),
        read_interval: Duration::from_secs(3_600),
        ..sensors()
    }
}

fn of(cut: Cut, workload: &Workload) -> Behaviour {
    behave(cut, &middle(workload), workload)
}

#[track_caller]
fn near(found: f64, expect: f64) {
    assert!((found - expect).abs() <= expect.abs() * 1e-6 + 1e-12, "{found} is not {expect}");
}

#[test]
fn dense_series_fill_every_partition() {
    let found = of(cut(3_600, 4), &even());
    near(found.p50_bytes, 900_000.0);
    near(found.p99_bytes, 900_000.0);
    near(found.max_bytes, 900_000.0);
    near(found.partitions, 100.0 * 4.0 / 3_600.0);
    near(found.partitions_per_read, 2.0 * 4.0);
    assert_eq!((found.wide_ids, found.wide_bytes, found.hot_events), (0.0, 0.0, 0.0));
    // 8 partitions, 3,600 events of 1,000 bytes.
    near(found.read_seconds, 8.0 * 3e-4 + 3_600.0 * (2.8e-6 + 2.2e-6));
    // A page of 1,000 is full within 1.3 buckets: 5.1 partitions in one round.
    near(found.page_seconds, 1e-3 + 6e-4 + 1_000.0 * 5e-6);
}

#[test]
fn empty_buckets_are_no_partitions() {
    let sparse = Workload { events_per_second_per_id: Guess::exactly(1.0 / 3_600.0), ..even() };
    let found = of(cut(60, 1), &sparse);
    // One event in sixty minutes: hardly ever two in a minute.
    near(found.p50_bytes, 1_000.0 * (1.0 / 60.0) / (1.0 - (-1.0_f64 / 60.0).exp()));
    assert!((1_000.0..1_010.0).contains(&found.p99_bytes));
    assert!(found.partitions <= 100.0 / 3_600.0);
    near(found.partitions_per_read, 61.0);
    assert!(found.read_seconds < 61.0 * 2e-4, "most of them do not exist: {}", found.read_seconds);
}

#[test]
fn wide_capped_and_hot_are_told_apart() {
    // 25 events a second of 1,000 bytes: 90 MB an hour.
    let busy = Workload { events_per_second_per_id: Guess::exactly(25.0), ..even() };
    let found = of(cut(3_600, 1), &busy);
    assert_eq!((found.wide_ids, found.wide_bytes, found.capped_ids), (1.0, 1.0, 1.0));
    let found = of(cut(3_600, 4), &busy);
    assert_eq!((found.wide_ids, found.wide_bytes, found.capped_ids), (1.0, 1.0, 0.0));
    assert_eq!(of(cut(3_600, 8), &busy).wide_ids, 0.0);
    let hot = Workload { events_per_second_per_id: Guess::exactly(15_000.0), ..even() };
    assert_eq!([1, 2].map(|buckets| of(cut(60, buckets), &hot).hot_events), [1.0, 0.0]);
}

#[test]
fn a_skewed_world_has_few_large_partitions() {
    let skewed = Workload { ids: Guess::exactly(1e6), skew: Guess::exactly(1.0), ..even() };
    let found = of(cut(3_600, 1), &skewed);
    assert!(found.p50_bytes < found.p99_bytes && found.p99_bytes < found.max_bytes, "{found:?}");
    assert!(found.wide_ids > 0.0 && found.wide_ids < 0.05, "{found:?}");
    assert!(found.wide_bytes > 10.0 * found.wide_ids, "{found:?}");
}

#[test]
fn sparse_series_need_many_rounds_for_a_page() {
    let sparse = Workload { events_per_second_per_id: Guess::exactly(0.001), ..even() };
    let (narrow, wide) = (of(cut(60, 4), &sparse), of(cut(3_600, 4), &sparse));
    assert!(narrow.page_seconds > 5.0 * wide.page_seconds, "{narrow:?} {wide:?}");
    let soon = Workload { read_slo: Duration::from_millis(5), ..sparse };
    assert_eq!((of(cut(60, 4), &soon).slow_reads, of(cut(3_600, 4), &soon).slow_reads), (1.0, 0.0));
}

proptest! {
    #[test]
    fn shares_are_shares_and_sizes_are_in_order(
        bucket in 1_u32..10_000_000, buckets in 1_u16..=64, rate in 1e-6_f64..1e4, ids in 1.0_f64..1e7, skew in 0.0_f64..2.0,
    ) {
        let workload = Workload {
            events_per_second_per_id: Guess::exactly(rate), ids: Guess::exactly(ids), skew: Guess::exactly(skew), ..even()
        };
        let found = of(cut(bucket, buckets), &workload);
        for share in [found.wide_ids, found.wide_bytes, found.capped_ids, found.hot_events, found.slow_reads] {
            prop_assert!((0.0..=1.0 + 1e-9).contains(&share), "{:?}", found);
        }
        prop_assert!(found.capped_ids <= found.wide_ids);
        prop_assert!(1_000.0 * (1.0 - 1e-9) <= found.p50_bytes, "no partition is empty: {:?}", found);
        prop_assert!(found.p50_bytes <= found.p99_bytes && found.p99_bytes <= found.max_bytes, "{:?}", found);
        // Bytes are neither lost nor made.
        let world = middle(&workload);
        let all: f64 = world.series.iter().map(|group| {
            let parts = partitions(cut(bucket, buckets), *group, 1_000.0);
            parts.count * parts.bytes
        }).sum();
        prop_assert!((all / (world.events * 1_000.0) - 1.0).abs() < 1e-6);
    }
}
