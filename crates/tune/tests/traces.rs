//! Months of slices on a simulated clock: what a namespace that tunes itself does under a load, and how often it changes.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use model::{HistogramQuality, PartitionKey, SeriesId, ShapeSpec};
use tune::{
    Change, Counted, Decision, Density, Direction, Draft, Observation, Situation, Walk, decide, direction,
};

const SECOND: i64 = model::time::NANOS_PER_SECOND;
const MIB: f64 = 1_048_576.0;
const DAY: u32 = 86_400;
/// Observations that a namespace keeps.
const KEPT: usize = 64;
const SERIES: u32 = 20;

/// Bytes per series and second at a second, for one of the series.
type Load<'a> = dyn Fn(i64, u32) -> f64 + 'a;

/// A namespace that applies every proposal.
struct World {
    random: fastrand::Rng,
    shape: ShapeSpec,
    /// Shapes and the slice from which on they hold.
    shapes: Vec<(i64, ShapeSpec)>,
    observations: Vec<Observation>,
    /// Slice in which it was decided, and what.
    changes: Vec<(i64, Draft)>,
    /// p99 of every slice.
    p99: Vec<u64>,
}

impl World {
    fn new(seed: u64, shape: ShapeSpec) -> Self {
        let random = fastrand::Rng::with_seed(seed);
        let shapes = vec![(0, shape)];
        Self { random, shape, shapes, observations: Vec::new(), changes: Vec::new(), p99: Vec::new() }
    }

    /// Lives through so many slices.
    fn run(&mut self, slices: i64, load: &Load<'_>) -> &mut Self {
        let first = i64::try_from(self.p99.len()).unwrap();
        for at in first..first + slices {
            let shape = self.shapes.iter().rev().find(|(from, _)| *from <= at).unwrap().1;
            let seen = self.observe(at, shape, load);
            self.p99.push(seen.summary.p99);
            self.observations.push(seen);
            if self.observations.len() > KEPT {
                self.observations.remove(0);
            }
            self.decide(at);
        }
        self
    }

    fn observe(&mut self, at: i64, shape: ShapeSpec, load: &Load<'_>) -> Observation {
        let width = i64::from(shape.seconds_per_slice);
        let buckets = shape.seconds_per_slice / shape.seconds_per_bucket;
        let mut walk = Walk::new(Counted::Bytes, 1 << 18);
        for number in 0..SERIES {
            let series = SeriesId::new(&format!("s{number}")).unwrap();
            for time_bucket in 0..buckets {
                let second = at * width + i64::from(time_bucket * shape.seconds_per_bucket);
                let noise = 0.9 + 0.2 * self.random.f64();
                let bytes = load(second, number) * f64::from(shape.seconds_per_bucket) * noise;
                for event_bucket in 0..u32::from(shape.buckets_per_id) {
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "small and positive"
                    )]
                    let bytes = (bytes / f64::from(shape.buckets_per_id)) as u64;
                    if bytes > 0 {
                        walk.add(&PartitionKey { series: series.clone(), time_bucket, event_bucket }, bytes);
                    }
                }
            }
        }
        let (sizes, series) =
            walk.finish(shape.seconds_per_slice, shape.seconds_per_bucket, shape.seconds_per_slice);
        Observation {
            table: format!("data_{at}"),
            start: at * width * SECOND,
            seconds_per_slice: shape.seconds_per_slice,
            seconds_per_bucket: shape.seconds_per_bucket,
            buckets_per_id: shape.buckets_per_id,
            covered_seconds: shape.seconds_per_slice,
            observed: (at + 1) * width * SECOND,
            quality: HistogramQuality::Exact,
            source: "scan".to_owned(),
            nodes_missing: 0,
            summary: sizes.summary(),
            sizes,
            series: Some(series),
        }
    }

    fn decide(&mut self, at: i64) {
        let width = i64::from(self.shape.seconds_per_slice) * SECOND;
        let change = |(from, shape): &(i64, ShapeSpec)| Change { from: from * width, shape: *shape };
        let changes: Vec<Change> = self.shapes.iter().map(change).collect();
        let decision = decide(&Situation {
            density: Density::default(),
            shape: self.shape,
            observations: &self.observations,
            changes: &changes,
            rejected: &[],
            now: (at + 1) * width,
        });
        if let Decision::Propose(draft) = decision {
            self.shape = draft.to;
            // The slice of now is open and the next one was made ahead.
            self.shapes.push((at + 3, draft.to));
            self.changes.push((at, *draft));
        }
    }

    fn directions(&self) -> Vec<Direction> {
        self.changes.iter().map(|(_, draft)| direction(draft.from, draft.to).unwrap()).collect()
    }

    /// Slices of the last so many whose p99 lay outside of the density.
    fn outside(&self, last: usize) -> usize {
        let density = Density::default();
        let newest = &self.p99[self.p99.len() - last..];
        newest.iter().filter(|p99| !(density.min..=density.max).contains(*p99)).count()
    }
}

fn hour() -> ShapeSpec {
    ShapeSpec { seconds_per_slice: DAY, seconds_per_bucket: 3_600, buckets_per_id: 1 }
}

/// A load under which an hour has so many MiB.
fn mib_an_hour(mib: f64) -> f64 {
    mib * MIB / 3_600.0
}

#[test]
fn steady_load_on_the_edge_of_the_window_changes_at_most_once() {
    for seed in 0..20 {
        for edge in [1.6, 1.8, 2.0, 2.2, 8.5, 9.0, 9.5, 10.0, 11.0] {
            let mut world = World::new(seed, hour());
            world.run(100, &|_, _| mib_an_hour(edge));
            assert!(world.changes.len() <= 1, "{edge} MiB, seed {seed}: {:?}", world.directions());
            assert_eq!(world.outside(90), 0, "{edge} MiB, seed {seed}: {:?}", world.p99);
        }
    }
}

#[test]
fn growth_is_followed_without_going_back() {
    let mut world = World::new(1, hour());
    // Twice as much every ten slices, a thousand times in all.
    world.run(100, &|second, _| mib_an_hour(0.25) * 2_f64.powf(second as f64 / f64::from(10 * DAY)));
    // About one for each time that it doubled.
    assert!(world.changes.len() <= 12, "{:?}", world.directions());
    let first_more = world.directions().iter().position(|way| *way == Direction::More).unwrap();
    assert!(world.directions()[first_more..].iter().all(|way| *way == Direction::More));
    assert!(world.p99.iter().all(|p99| *p99 <= 25 << 20), "{:?}", world.p99);
}

#[test]
fn decay_is_followed_lazily_and_without_going_back() {
    let mut world = World::new(2, hour());
    world.run(100, &|second, _| mib_an_hour(8.0) / 2_f64.powf(second as f64 / f64::from(10 * DAY)));
    assert!(!world.changes.is_empty() && world.changes.len() <= 8, "{:?}", world.directions());
    assert!(world.directions().iter().all(|way| *way == Direction::Fewer));
    assert!(world.p99.iter().all(|p99| *p99 <= 10 << 20), "{:?}", world.p99);
}

#[test]
fn a_weekly_cycle_settles() {
    for (weekday, weekend) in [(8.0, 1.0), (12.0, 1.5), (3.0, 0.2), (40.0, 0.1)] {
        let mut world = World::new(3, hour());
        world.run(140, &|second, _| {
            let day = second / i64::from(DAY) % 7;
            mib_an_hour(if day < 5 { weekday } else { weekend })
        });
        assert!(world.changes.len() <= 2, "{weekday}: {:?}", world.directions());
        assert!(world.changes.iter().all(|(at, _)| *at < 30), "{weekday}: {:?}", world.directions());
    }
}

#[test]
fn nights_of_hourly_slices_are_not_followed_for_ever() {
    let minute = ShapeSpec { seconds_per_slice: 3_600, seconds_per_bucket: 600, buckets_per_id: 1 };
    let mut world = World::new(4, minute);
    world.run(60 * 24, &|second, _| {
        let hour = second / 3_600 % 24;
        if hour < 12 { 0.5 * MIB / 600.0 } else { 8.0 * MIB / 600.0 }
    });
    assert!(world.changes.len() <= 6, "{:?}", world.directions());
    assert!(world.changes.iter().all(|(at, _)| *at < 10 * 24), "the last fifty days are quiet");
}

#[test]
fn backfill_bursts_and_late_data_change_nothing() {
    let mut world = World::new(5, hour());
    // Every twelfth slice gets a hundred times its bytes; another one gets them late, as half as much again.
    world.run(120, &|second, _| {
        let slice = second / i64::from(DAY);
        let times = if slice % 12 == 5 {
            100.0
        } else if slice % 12 == 9 {
            1.5
        } else {
            1.0
        };
        mib_an_hour(4.0) * times
    });
    assert!(world.changes.is_empty(), "{:?}", world.directions());
}

#[test]
fn a_burst_does_not_keep_small_partitions_from_being_widened() {
    let mut world = World::new(6, hour());
    world.run(20, &|second, _| {
        let slice = second / i64::from(DAY);
        if slice == 2 { mib_an_hour(4.0) } else { mib_an_hour(0.01) }
    });
    assert_eq!(world.directions(), [Direction::Fewer]);
    assert_eq!(world.shape.seconds_per_bucket, DAY);
}

#[test]
fn a_square_wave_gets_ever_fewer_changes() {
    // As slow as it takes to provoke: low until fewer partitions are made, high until they are taken back.
    for half in [6, 8, 10, 14, 20, 30] {
        let mut world = World::new(7, hour());
        world.run(600, &|second, _| {
            let slice = second / i64::from(DAY);
            mib_an_hour(if slice / half % 2 == 0 { 0.2 } else { 40.0 })
        });
        let early = world.changes.iter().filter(|(at, _)| *at < 300).count();
        let late = world.changes.len() - early;
        assert!(early <= 10 && late <= 4, "half {half}: {early} then {late}, {:?}", world.directions());
    }
}

#[test]
fn an_adversary_that_waits_for_every_change_is_followed_seldom() {
    // Whatever the present shape is, the load is the one that it fits worst.
    let mut world = World::new(8, hour());
    for _ in 0..120 {
        let wide = world.shape.seconds_per_bucket > 3_600;
        world.run(5, &move |_, _| mib_an_hour(if wide { 40.0 } else { 0.2 }));
    }
    let fewer = world.directions().into_iter().filter(|way| *way == Direction::Fewer).count();
    assert!(fewer <= 10, "widened {fewer} times in 600 slices: {:?}", world.directions());
}
