//! What a shape costs in a world: the hardware that it needs, and the trouble that hardware does not cure.

use model::ShapeSpec;

use crate::Workload;
use crate::behaviour::Behaviour;
use crate::world::World;

/// Of a write, measured: processor time on each replica for an event and for a byte of it.
const EVENT_SECONDS: f64 = 6e-6;
const BYTE_SECONDS: f64 = 12.5e-9;
/// What a partition costs to flush and compact besides.
const PARTITION_SECONDS: f64 = 2e-5;
/// Merging files later costs as much as writing them.
const BACKGROUND: f64 = 2.0;
/// Of a split, measured: reading, writing and comparing a byte.
const SPLIT_BYTE_SECONDS: f64 = 58e-9;
/// Work that comes by chance needs cores that idle: so many times the root of those that work.
const IDLE: f64 = 1.761;

const GIB: f64 = 1_073_741_824.0;
/// What tables take less than clients sent.
const COMPRESSION: f64 = 2.0;
/// What an index and filters keep of a partition.
const PARTITION_BYTES: f64 = 150.0;
/// Files are merged into new ones before the old ones go, so a disk is filled no further.
const FILL: f64 = 0.55;

/// Sizes that partitions should have at p99.
const DENSITY_MIN: f64 = 2.0 * 1_048_576.0;
const DENSITY_MAX: f64 = 10.0 * 1_048_576.0;
/// Live slices that a namespace may have.
const SLICES_MAX: f64 = 400.0;
/// Slices that exist beyond retention: the present one, the next one, one that is about to go.
const SLICES_MORE: f64 = 3.0;

/// What trouble costs: 0.1 is as bad as hardware that costs a tenth more.
const SLOW: f64 = 2.0;
/// By ids: a few that are wide are what splitting is for; a shape is wrong where many are.
const WIDE: f64 = 2.0;
const CAPPED: f64 = 4.0;
const HOT: f64 = 2.0;
/// For each doubling of p99 beyond the density window. Too large is worse: it is repaired by copying.
const TOO_LARGE: f64 = 0.1;
const TOO_SMALL: f64 = 0.05;
/// For each doubling of the partitions that a read asks: they wait for each other whatever hardware there is.
const ASKED: f64 = 0.02;
const TABLES: f64 = 0.2;
/// A shape that turns out wrong stays until its slice is over.
const LATE: f64 = 0.1;

/// Hardware that is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Need {
    pub(crate) cores: f64,
    pub(crate) disk_gib: f64,
}

/// Trouble by its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Trouble {
    /// First pages take longer than they may.
    pub(crate) slow: f64,
    /// Partitions are wide, and splitting them is work that a better shape would not have made.
    pub(crate) wide: f64,
    /// Single partitions take too many events at a time.
    pub(crate) hot: f64,
    /// Partitions are larger than they should be.
    pub(crate) too_large: f64,
    /// Partitions are smaller than they should be.
    pub(crate) too_small: f64,
    /// Reads ask many partitions.
    pub(crate) asked: f64,
    /// There are many tables.
    pub(crate) tables: f64,
    /// Changes come late.
    pub(crate) late: f64,
}

impl Trouble {
    pub(crate) fn total(&self) -> f64 {
        self.slow
            + self.wide
            + self.hot
            + self.too_large
            + self.too_small
            + self.asked
            + self.tables
            + self.late
    }
}

/// Tables that exist at a time.
pub(crate) fn tables(shape: ShapeSpec, workload: &Workload) -> f64 {
    (workload.retention.as_secs_f64() / f64::from(shape.seconds_per_slice)).ceil() + SLICES_MORE
}

/// What `shape` needs where it behaves like this.
pub(crate) fn need(shape: ShapeSpec, behaviour: &Behaviour, world: &World, workload: &Workload) -> Need {
    let replicas = f64::from(workload.replicas);
    // A majority answers a read.
    let readers = (replicas / 2.0).floor() + 1.0;
    let bytes = world.events * world.event_bytes;
    let writing =
        world.events * EVENT_SECONDS + bytes * BYTE_SECONDS + behaviour.partitions * PARTITION_SECONDS;
    let splitting = bytes * behaviour.wide_bytes * SPLIT_BYTE_SECONDS;
    let reading = world.reads * behaviour.read_seconds * readers;
    let busy = (writing * BACKGROUND + splitting) * replicas + reading;
    // A slice is dropped when its last event is old enough; its first one is then older by the slice.
    let kept = workload.retention.as_secs_f64() + f64::from(shape.seconds_per_slice);
    let stored = bytes * (1.0 + behaviour.wide_bytes) / COMPRESSION + behaviour.partitions * PARTITION_BYTES;
    Need { cores: busy + IDLE * busy.sqrt(), disk_gib: kept * stored * replicas / FILL / GIB }
}

/// What trouble `shape` makes where it behaves like this.
pub(crate) fn trouble(shape: ShapeSpec, behaviour: &Behaviour, workload: &Workload) -> Trouble {
    let beyond = |over: f64, limit: f64| (over / limit).log2().max(0.0);
    let slice = f64::from(shape.seconds_per_slice);
    Trouble {
        slow: SLOW * behaviour.slow_reads,
        wide: WIDE * behaviour.wide_ids + CAPPED * behaviour.capped_ids,
        hot: HOT * behaviour.hot_events,
        too_large: TOO_LARGE * beyond(behaviour.p99_bytes, DENSITY_MAX),
        too_small: TOO_SMALL * beyond(DENSITY_MIN, behaviour.p99_bytes),
        asked: ASKED * beyond(behaviour.partitions_per_read, 1.0),
        tables: TABLES * tables(shape, workload) / SLICES_MAX,
        late: LATE * (slice / workload.retention.as_secs_f64()).min(1.0),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Guess;
    use crate::behaviour::{Cut, behave};
    use crate::workload::tests::sensors;
    use crate::world::middle;

    const DAY: u32 = 86_400;

    fn shape(seconds_per_slice: u32, seconds_per_bucket: u32, buckets_per_id: u16) -> ShapeSpec {
        ShapeSpec { seconds_per_slice, seconds_per_bucket, buckets_per_id }
    }

    fn of(shape: ShapeSpec, workload: &Workload) -> (Need, Trouble) {
        let world = middle(workload);
        let behaviour = behave(Cut::of(shape), &world, workload);
        (need(shape, &behaviour, &world, workload), trouble(shape, &behaviour, workload))
    }

    /// A thousand events of a kilobyte in a second, kept for nine days, never read.
    fn steady() -> Workload {
        Workload {
            events_per_second_per_id: Guess::exactly(1.0),
            ids: Guess::exactly(1_000.0),
            skew: Guess::exactly(0.0),
            event_bytes: Guess::exactly(1_000.0),
            reads_per_second: Guess::exactly(0.0),
            retention: Duration::from_secs(9 * 86_400),
            ..sensors()
        }
    }

    #[test]
    fn needs_follow_the_formulas() {
        let (need, _) = of(shape(DAY, 3_600, 1), &steady());
        let partitions = 1_000.0 / 3_600.0;
        let busy: f64 = 2.0 * 3.0 * (1_000.0 * 6e-6 + 1e6 * 12.5e-9 + partitions * 2e-5);
        assert!((need.cores - (busy + 1.761 * busy.sqrt())).abs() < 1e-9, "{need:?}");
        let stored = 1e6 / 2.0 + partitions * 150.0;
        let disk = 10.0 * 86_400.0 * stored * 3.0 / 0.55 / GIB;
        assert!((need.disk_gib - disk).abs() < 1e-9, "{need:?}");
    }

    #[test]
    fn wide_slices_need_more_disk_and_narrow_ones_more_tables() {
        let (narrow, wide) = (of(shape(DAY, 3_600, 1), &steady()), of(shape(3 * DAY, 3_600, 1), &steady()));
        assert!((wide.0.disk_gib / narrow.0.disk_gib - 1.2).abs() < 1e-9);
        assert!(narrow.1.tables > wide.1.tables && narrow.1.late < wide.1.late);
    }

    #[test]
    fn wide_partitions_are_copied_and_kept_twice() {
        // 86 MB in a day.
        let (wide, split) = (of(shape(DAY, DAY, 1), &steady()), of(shape(DAY, 7_200, 1), &steady()));
        assert!(wide.0.disk_gib > 1.9 * split.0.disk_gib && wide.0.cores > split.0.cores);
        assert_eq!((wide.1.wide, split.1.wide), (WIDE + CAPPED, 0.0));
        assert!(wide.1.too_large > 0.3 && split.1.too_large == 0.0 && split.1.too_small == 0.0);
    }

    #[test]
    fn reads_of_many_partitions_need_cores() {
        let read = Workload { reads_per_second: Guess::exactly(1_000.0), ..steady() };
        let (few, many) = (of(shape(DAY, 7_200, 1), &read), of(shape(DAY, 60, 4), &read));
        assert!(many.0.cores > 3.0 * few.0.cores, "{few:?} {many:?}");
        assert!(many.1.too_small > 0.05);
    }
}
