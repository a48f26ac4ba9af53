//! What is expected of a choice, over all worlds.

use model::ShapeSpec;

use crate::Workload;
use crate::behaviour::{Behaviour, Cut, partitions};
use crate::cluster::Offer;
use crate::cost::tables;
use crate::round::{whole, whole_u32};
use crate::search::Cell;
use crate::world::World;

/// A figure over all worlds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// In one of twenty worlds it is less.
    pub p5: f64,
    /// In half of them.
    pub p50: f64,
    /// In all but one of twenty.
    pub p95: f64,
}

/// Partitions of about the same size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeShare {
    /// The largest that counts here.
    pub bytes_max: u64,
    /// Which share of all partitions they are, as a mean over the worlds.
    pub share: f64,
}

/// What is expected of a choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// Half of the partitions have at most so many bytes.
    pub partition_p50_bytes: Spread,
    /// 99 in a hundred.
    pub partition_p99_bytes: Spread,
    /// The largest.
    pub partition_max_bytes: Spread,
    /// How sizes are spread, smallest first.
    pub partition_sizes: Vec<SizeShare>,
    /// Partitions that a read asks.
    pub partitions_per_read: Spread,
    /// Share of the ids that will have partitions to split.
    pub split_ids_share: Spread,
    /// What the first page of a read takes, seconds.
    pub first_page_seconds: Spread,
    /// Share of the reads whose first page takes longer than it may.
    pub slow_reads_share: Spread,
    /// Cores that are needed.
    pub cores: Spread,
    /// Disk that is needed, GiB.
    pub disk_gib: Spread,
    /// Tables that exist at a time.
    pub tables: u32,
    /// Worlds for which the cluster is too small.
    pub worlds_short: u32,
}

/// What is expected of a shape that behaves like this, on this cluster.
pub(crate) fn forecast(
    (shape, offer): (ShapeSpec, &Offer),
    workload: &Workload,
    worlds: &[World],
    behaviours: &[Behaviour],
    cells: &[Cell],
) -> Forecast {
    let of = |figure: fn(&Behaviour) -> f64| spread(behaviours.iter().map(figure));
    let short = cells.iter().filter(|cell| cell.shortage(offer) > 0.0).count();
    Forecast {
        partition_p50_bytes: of(|one| one.p50_bytes),
        partition_p99_bytes: of(|one| one.p99_bytes),
        partition_max_bytes: of(|one| one.max_bytes),
        partition_sizes: sizes(shape, worlds),
        partitions_per_read: of(|one| one.partitions_per_read),
        split_ids_share: of(|one| one.wide_ids),
        first_page_seconds: of(|one| one.page_seconds),
        slow_reads_share: of(|one| one.slow_reads),
        cores: spread(cells.iter().map(|cell| cell.need().cores)),
        disk_gib: spread(cells.iter().map(|cell| cell.need().disk_gib)),
        tables: whole_u32(tables(shape, workload)),
        worlds_short: u32::try_from(short).unwrap_or(u32::MAX),
    }
}

/// Where a figure lies over all worlds.
fn spread(figures: impl Iterator<Item = f64>) -> Spread {
    let mut sorted: Vec<f64> = figures.collect();
    sorted.sort_by(f64::total_cmp);
    let at = |percent: usize| {
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied().unwrap_or(0.0)
    };
    Spread { p5: at(5), p50: at(50), p95: at(95) }
}

/// How sizes are spread, one step a doubling. Every world counts the same, however many partitions it has.
fn sizes(shape: ShapeSpec, worlds: &[World]) -> Vec<SizeShare> {
    let mut steps = [0.0_f64; 64];
    for world in worlds {
        let found: Vec<_> =
            world.series.iter().map(|group| partitions(Cut::of(shape), *group, world.event_bytes)).collect();
        let all: f64 = found.iter().map(|parts| parts.count).sum();
        for parts in found {
            let step =
                usize::try_from(whole(parts.bytes).max(1).next_power_of_two().trailing_zeros()).unwrap_or(0);
            if let Some(share) = steps.get_mut(step) {
                *share += parts.count / all / worlds.len() as f64;
            }
        }
    }
    let shares = steps.into_iter().enumerate().filter(|(_, share)| *share > 0.0);
    shares.map(|(step, share)| SizeShare { bytes_max: 1 << step, share }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::tests::sensors;
    use crate::world::worlds;

    #[test]
    fn a_spread_is_where_its_worlds_are() {
        let found = spread((1..=100).rev().map(f64::from));
        assert_eq!(found, Spread { p5: 5.0, p50: 50.0, p95: 95.0 });
        assert_eq!(spread([7.0].into_iter()), Spread { p5: 7.0, p50: 7.0, p95: 7.0 });
        assert_eq!(spread(std::iter::empty()), Spread::default());
    }

    #[test]
    fn sizes_are_shares_of_all_partitions() {
        let found = sizes(ShapeSpec::default(), &worlds(&sensors()));
        let all: f64 = found.iter().map(|size| size.share).sum();
        assert!((all - 1.0).abs() < 1e-9, "{all}");
        assert!(found.windows(2).all(|pair| pair[0].bytes_max < pair[1].bytes_max));
        // Hourly quarters of what reports every minute: a few kilobytes.
        let most = found.iter().max_by(|a, b| a.share.total_cmp(&b.share)).unwrap();
        assert!((1 << 9..=1 << 15).contains(&most.bytes_max), "{found:?}");
    }
}
