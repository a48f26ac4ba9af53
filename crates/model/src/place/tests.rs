//! `cover` contains `place`, for every shape and at every edge.

use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, prop_assume, prop_oneof, proptest};

use super::*;
use crate::time::NANOS_PER_SECOND;
use crate::{Segment, ShapeSpec, Timeline};

fn series(id: &str) -> SeriesId {
    SeriesId::new(id).unwrap()
}

fn event(id: &str) -> EventId {
    EventId::new(id).unwrap()
}

fn at(nanos: i64) -> Timestamp {
    Timestamp::from_nanos(nanos).unwrap()
}

/// A timeline with one change of width, and shapes with all kinds of divisors.
fn worlds() -> impl Strategy<Value = (Timeline, Vec<Shape>)> {
    let hours = prop_oneof![1_u32..=24, 100_u32..=168];
    let shapes = proptest::collection::vec((any::<u16>(), 1_u16..=64), 6);
    (hours.clone(), hours, 1_i64..4, shapes).prop_map(|(first, second, slices, shapes)| {
        let mut timeline = Timeline::new(first * 3_600).unwrap();
        let from = slices * i64::from(first) * 3_600 * NANOS_PER_SECOND;
        timeline.change_width(Segment { from, width_seconds: second * 3_600 }).unwrap();
        let shapes = shapes
            .into_iter()
            .map(|(pick, buckets_per_id)| {
                // Divisors of an hour divide both widths.
                let divisors: Vec<u32> = (1..=3_600).filter(|n| 3_600 % n == 0).collect();
                let seconds_per_bucket = divisors[usize::from(pick) % divisors.len()];
                let spec = ShapeSpec { seconds_per_slice: 3_600, seconds_per_bucket, buckets_per_id };
                spec.freeze().unwrap()
            })
            .collect();
        (timeline, shapes)
    })
}

fn layouts_of(timeline: &Timeline, shapes: &[Shape]) -> Layouts {
    let mut layouts = Layouts::default();
    let all = timeline.slices_in(Interval::ALL).take(shapes.len());
    for (slice, shape) in all.zip(shapes) {
        layouts.insert(Layout { slice, shape: *shape });
    }
    layouts
}

/// Times that sit on edges: bucket ends, slice ends, the change of width, one nanosecond to each side.
fn edges(layouts: &Layouts) -> Vec<i64> {
    let mut times = vec![0];
    for layout in layouts.iter() {
        let bucket = layout.shape.bucket_nanos();
        for edge in [layout.slice.start(), layout.slice.start() + bucket, layout.slice.end() - bucket] {
            times.extend([edge - 1, edge, edge + 1]);
        }
        times.push(layout.slice.end() - 1);
    }
    times.retain(|time| *time >= 0);
    times
}

fn assert_covered(layouts: &Layouts, time: i64, interval: Interval) {
    let (id, who) = (event(&format!("e{time}")), series("s"));
    let placed = layouts.place(&who, at(time), &id).expect("the slice exists");
    let groups: Vec<Group> = layouts.cover(interval).collect();
    let holds = groups.iter().any(|group| group.partitions(&who).any(|partition| partition == placed));
    assert!(holds, "{time} is placed in {placed:?} which {interval:?} does not cover");
    let own = groups
        .iter()
        .find(|group| group.layout.slice == placed.slice && group.time_bucket == placed.key.time_bucket);
    assert!(own.is_some_and(|group| group.interval.contains(at(time))));
}

proptest! {
    #[test]
    fn cover_contains_place_at_every_edge((timeline, shapes) in worlds()) {
        let layouts = layouts_of(&timeline, &shapes);
        for time in edges(&layouts) {
            if layouts.find(at(time)).is_none() {
                continue;
            }
            // The narrowest interval that contains it, and wider ones that end on it, start on it or pass over it.
            for (before, after) in [(0, 1), (1, 1), (0, 2), (3 * NANOS_PER_SECOND, 1), (NANOS_PER_SECOND, NANOS_PER_SECOND)] {
                assert_covered(&layouts, time, Interval::new((time - before).max(0), time + after).unwrap());
            }
        }
    }

    #[test]
    fn cover_contains_place_anywhere((timeline, shapes) in worlds(), pick in any::<u64>(), before in 0_i64..300,
                                     after in 1_i64..300) {
        let layouts = layouts_of(&timeline, &shapes);
        let end = layouts.iter().next_back().unwrap().slice.end();
        let time = i64::try_from(pick % u64::try_from(end).unwrap()).unwrap();
        let start = (time - before * NANOS_PER_SECOND).max(0);
        assert_covered(&layouts, time, Interval::new(start, time + after * NANOS_PER_SECOND).unwrap());
    }

    #[test]
    fn groups_come_in_time_order_once_each_and_add_up((timeline, shapes) in worlds(), a in 0_i64..20_000, b in 0_i64..20_000) {
        prop_assume!(a <= b);
        let layouts = layouts_of(&timeline, &shapes);
        let interval = Interval::new(a * NANOS_PER_SECOND / 3, b * NANOS_PER_SECOND / 3).unwrap();
        let groups: Vec<Group> = layouts.cover(interval).collect();
        prop_assert!(groups.windows(2).all(|pair| pair[0].interval.end() == pair[1].interval.start()));
        prop_assert!(groups.iter().all(|group| !group.interval.is_empty()));
        let existing = layouts.iter().next_back().unwrap().slice.end();
        let covered: i64 = groups.iter().map(|group| group.interval.end() - group.interval.start()).sum();
        let asked = interval.intersect(Interval::new(0, existing).unwrap());
        prop_assert_eq!(covered, asked.end() - asked.start());
        let mut backwards: Vec<Group> = layouts.cover(interval).rev().collect();
        backwards.reverse();
        prop_assert_eq!(groups, backwards);
    }

    #[test]
    fn the_whole_range_of_numbers_is_safe((timeline, shapes) in worlds(), start in any::<i64>(), end in any::<i64>()) {
        prop_assume!(start <= end);
        let layouts = layouts_of(&timeline, &shapes);
        let groups = layouts.cover(Interval::new(start, end).unwrap());
        prop_assert!(groups.take(50).all(|group| group.interval.start() >= start && group.interval.end() <= end));
    }
}

#[test]
fn a_slice_that_does_not_exist_places_nothing_and_covers_nothing() {
    let timeline = Timeline::new(3_600).unwrap();
    let mut layouts = Layouts::default();
    let hour = 3_600 * NANOS_PER_SECOND;
    let shape =
        ShapeSpec { seconds_per_slice: 3_600, seconds_per_bucket: 60, buckets_per_id: 2 }.freeze().unwrap();
    for start in [0, 2 * hour] {
        layouts.insert(Layout { slice: timeline.slice_of(at(start)), shape });
    }
    assert_eq!(layouts.place(&series("s"), at(hour), &event("e")), None);
    assert_eq!(layouts.cover(Interval::new(hour, 2 * hour).unwrap()).count(), 0);
    assert_eq!(layouts.cover(Interval::new(0, 3 * hour).unwrap()).count(), 120);
    assert_eq!(layouts.cover(Interval::ALL).count(), 120);
}

#[test]
fn a_frozen_shape_stays() {
    let slice = Timeline::new(3_600).unwrap().slice_of(at(0));
    let shape = |buckets_per_id| {
        ShapeSpec { seconds_per_slice: 3_600, seconds_per_bucket: 60, buckets_per_id }.freeze().unwrap()
    };
    let mut layouts = Layouts::default();
    layouts.insert(Layout { slice, shape: shape(2) });
    layouts.insert(Layout { slice, shape: shape(8) });
    assert_eq!(layouts.find(at(5)).unwrap().shape.buckets_per_id, 2);
}
