//! What a world does to a shape: how large its partitions become, and what a read meets.
//!
//! Only the widths of the buckets count here. The slice decides how long data stays, which is [`super::cost`]'s affair.

use model::ShapeSpec;

use crate::Workload;
use crate::series::Group;
use crate::world::World;

/// A partition with more bytes is wide, and will be split.
pub(crate) const WIDE_BYTES: f64 = 16.0 * 1_048_576.0;
/// With more than this, the targets of a split are larger than they should be: sixteen of 4 MiB.
const CAPPED_BYTES: f64 = 64.0 * 1_048_576.0;
/// Events of one second in one partition: more of them keep a core of each of its replicas busy.
const PARTITION_EVENTS_MAX: f64 = 10_000.0;

/// Of a read, measured: processor time for an event, for a byte of it, and for a partition.
const EVENT_SECONDS: f64 = 2.8e-6;
const BYTE_SECONDS: f64 = 2.2e-9;
const PARTITION_SECONDS: f64 = 3e-4;
/// For a partition that does not exist, which is asked all the same.
const EMPTY_SECONDS: f64 = 1.5e-4;
/// What the first page waits for: the way to the store and back, and each round of partitions.
const ROUND_TRIP_SECONDS: f64 = 1e-3;
const ROUND_SECONDS: f64 = 6e-4;
/// Partitions that a read asks at once.
const FAN_OUT: f64 = 8.0;
/// A page ends with so many events or bytes.
const PAGE_EVENTS: f64 = 1_000.0;
const PAGE_BYTES: f64 = 3.5 * 1_048_576.0;

/// How a slice is cut, whatever its width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cut {
    bucket_seconds: f64,
    event_buckets: f64,
}

impl Cut {
    pub(crate) fn of(shape: ShapeSpec) -> Self {
        Self {
            bucket_seconds: f64::from(shape.seconds_per_bucket),
            event_buckets: f64::from(shape.buckets_per_id),
        }
    }
}

/// What becomes of a world under a shape.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Behaviour {
    /// Half of the partitions are not larger.
    pub(crate) p50_bytes: f64,
    /// 99 in a hundred are not larger.
    pub(crate) p99_bytes: f64,
    /// The largest.
    pub(crate) max_bytes: f64,
    /// Partitions that come into being in a second.
    pub(crate) partitions: f64,
    /// Share of the ids with wide partitions.
    pub(crate) wide_ids: f64,
    /// Share of the bytes in wide partitions.
    pub(crate) wide_bytes: f64,
    /// Share of the ids with partitions that are large even when they are split.
    pub(crate) capped_ids: f64,
    /// Share of the events in partitions that take too many at a time.
    pub(crate) hot_events: f64,
    /// Partitions that a read asks.
    pub(crate) partitions_per_read: f64,
    /// Processor time of a read, on each replica that it asks.
    pub(crate) read_seconds: f64,
    /// What the first page of a read takes.
    pub(crate) page_seconds: f64,
    /// Share of the reads whose first page takes longer than it may.
    pub(crate) slow_reads: f64,
}

/// The partitions of ids that are alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Partitions {
    /// Bytes of each.
    pub(crate) bytes: f64,
    /// How many come into being in a second.
    pub(crate) count: f64,
    /// The share that exists, of those that could.
    exist: f64,
}

/// A bucket without an event is no partition: with `expected` events in a bucket on average, by chance (Poisson), one in
/// e^`expected` stays empty, and the others hold all of them.
pub(crate) fn partitions(cut: Cut, group: Group, event_bytes: f64) -> Partitions {
    let expected = group.rate * cut.bucket_seconds / cut.event_buckets;
    let exist = -(-expected).exp_m1();
    Partitions {
        bytes: expected / exist.max(f64::MIN_POSITIVE) * event_bytes,
        count: group.ids * cut.event_buckets / cut.bucket_seconds * exist,
        exist,
    }
}

/// What becomes of `world` where slices are cut like this.
pub(crate) fn behave(cut: Cut, world: &World, workload: &Workload) -> Behaviour {
    let mut found = Behaviour::default();
    let interval = workload.read_interval.as_secs_f64();
    let slo = workload.read_slo.as_secs_f64();
    // However they are aligned, an interval meets one bucket more than it is long.
    let buckets = interval / cut.bucket_seconds + 1.0;
    for group in &world.series {
        let parts = partitions(cut, *group, world.event_bytes);
        let of_ids = group.ids / world.ids;
        let of_events = group.ids * group.rate / world.events;
        found.partitions += parts.count;
        found.max_bytes = found.max_bytes.max(parts.bytes);
        if parts.bytes > WIDE_BYTES {
            found.wide_ids += of_ids;
            found.wide_bytes += of_events;
        }
        if parts.bytes > CAPPED_BYTES {
            found.capped_ids += of_ids;
        }
        if group.rate / cut.event_buckets > PARTITION_EVENTS_MAX {
            found.hot_events += of_events;
        }
        // Half of the reads pick any series, half pick one by its share of the events.
        let reads = (of_ids + of_events) / 2.0;
        let asked = buckets * cut.event_buckets;
        let events = group.rate * interval;
        let spent = asked * (parts.exist * PARTITION_SECONDS + (1.0 - parts.exist) * EMPTY_SECONDS)
            + events * (EVENT_SECONDS + world.event_bytes * BYTE_SECONDS);
        let page = page_seconds(cut, group.rate, buckets, events, world.event_bytes);
        found.partitions_per_read += reads * asked;
        found.read_seconds += reads * spent;
        found.page_seconds += reads * page;
        found.slow_reads += if page > slo { reads } else { 0.0 };
    }
    let mut seen = 0.0;
    for group in &world.series {
        let parts = partitions(cut, *group, world.event_bytes);
        let before = seen;
        seen += parts.count;
        // Largest first: so many are larger than these.
        for (share, size) in [(0.01, &mut found.p99_bytes), (0.5, &mut found.p50_bytes)] {
            let rank = share * found.partitions;
            if before <= rank && rank < seen {
                *size = parts.bytes;
            }
        }
    }
    found
}

/// A page is full after as many buckets as hold that many events; those before it are asked in rounds.
fn page_seconds(cut: Cut, rate: f64, buckets: f64, events: f64, event_bytes: f64) -> f64 {
    let page = events.min(PAGE_EVENTS).min((PAGE_BYTES / event_bytes).max(1.0));
    let full = 1.0 + page / (rate * cut.bucket_seconds);
    let rounds = (buckets.min(full) * cut.event_buckets / FAN_OUT).ceil();
    ROUND_TRIP_SECONDS + rounds * ROUND_SECONDS + page * (EVENT_SECONDS + event_bytes * BYTE_SECONDS)
}

#[cfg(test)]
mod tests;
