//! A walk over the partitions of a slice, in whatever order they come: all sizes, and how those of a series add up.
//!
//! Memory is bounded. Of the series it keeps those whose hashes are smallest, and as few of them as it must: whoever is in the
//! sample at the end was in it from the first partition on, so its sums are complete, and being in it has nothing to do with
//! being large.

use std::collections::BTreeMap;

use model::hash::event_hash;
use model::{PartitionKey, SizeHistogram};

use crate::ladder::multiples;
use crate::{Counted, Rung, SeriesSizes};

/// Pairs of series and time bucket that a walk keeps.
pub const SAMPLE_ENTRIES_MAX: usize = 1 << 18;

/// What a walk has met so far.
#[derive(Debug)]
pub struct Walk {
    /// Size of every partition.
    sizes: SizeHistogram,
    /// By the hash of the series: what each of its time buckets holds.
    series: BTreeMap<u64, BTreeMap<u32, u64>>,
    entries: usize,
    entries_max: usize,
    /// Series from this hash on are not kept.
    below: u64,
    counted: Counted,
}

impl Walk {
    /// Nothing yet. Keeps at most about [`SAMPLE_ENTRIES_MAX`] pairs, or fewer.
    pub fn new(counted: Counted, entries_max: usize) -> Self {
        let (sizes, series) = (SizeHistogram::default(), BTreeMap::new());
        let entries_max = entries_max.min(SAMPLE_ENTRIES_MAX);
        Self { sizes, series, entries: 0, entries_max, below: u64::MAX, counted }
    }

    /// Takes one partition. Its bytes do not matter where partitions are counted.
    pub fn add(&mut self, partition: &PartitionKey, bytes: u64) {
        self.sizes.record(bytes);
        let hash = event_hash(partition.series.as_str().as_bytes());
        if hash >= self.below {
            return;
        }
        let buckets = self.series.entry(hash).or_default();
        let before = buckets.len();
        let more = if self.counted == Counted::Bytes { bytes } else { 1 };
        let held = buckets.entry(partition.time_bucket).or_default();
        *held = held.saturating_add(more);
        self.entries += buckets.len() - before;
        while self.entries > self.entries_max && self.series.len() > 1 {
            let Some((hash, dropped)) = self.series.pop_last() else { return };
            self.entries -= dropped.len();
            self.below = hash;
        }
    }

    /// How many partitions there were.
    pub const fn partitions(&self) -> u64 {
        self.sizes.count()
    }

    /// What it comes to, of a slice whose first `covered` seconds count: the size of every partition, and the sums of series.
    pub fn finish(self, slice: u32, bucket: u32, covered: u32) -> (SizeHistogram, SeriesSizes) {
        let rungs = rungs_of(slice, bucket, covered)
            .into_iter()
            .map(|seconds| Rung { seconds, sizes: self.rung(bucket, seconds, covered) });
        let rungs = rungs.collect();
        let sampled = self.below != u64::MAX;
        let kept = u64::try_from(self.series.len()).unwrap_or(u64::MAX);
        let series = if sampled { scaled_up(kept, self.below) } else { kept };
        (self.sizes, SeriesSizes { counted: self.counted, series, sampled, rungs })
    }

    /// Sums over `seconds` each. The last stretch does not count unless all of it was covered.
    fn rung(&self, bucket: u32, seconds: u32, covered: u32) -> SizeHistogram {
        let per_stretch = (seconds / bucket.max(1)).max(1);
        let stretches = covered / seconds.max(1);
        let mut sizes = SizeHistogram::default();
        for buckets in self.series.values() {
            let (mut open, mut sum) = (None, 0_u64);
            for (at, bytes) in buckets {
                let stretch = at / per_stretch;
                if open != Some(stretch) {
                    open.filter(|open| *open < stretches).iter().for_each(|_| sizes.record(sum));
                    (open, sum) = (Some(stretch), 0);
                }
                sum = sum.saturating_add(*bytes);
            }
            open.filter(|open| *open < stretches).iter().for_each(|_| sizes.record(sum));
        }
        sizes
    }
}

/// How many series there are, if the hashes of so many lie below `below`.
fn scaled_up(kept: u64, below: u64) -> u64 {
    let all = u128::from(kept) * u128::from(u64::MAX) / u128::from(below.max(1));
    u64::try_from(all).unwrap_or(u64::MAX)
}

/// The bucket itself, what it can be widened to as far as that was covered, and all that was covered.
fn rungs_of(slice: u32, bucket: u32, covered: u32) -> Vec<u32> {
    let wider = multiples(slice, bucket).into_iter().filter(|width| *width < covered);
    let mut rungs: Vec<u32> = [bucket].into_iter().chain(wider).chain([covered]).collect();
    rungs.dedup();
    rungs
}

#[cfg(test)]
mod tests {
    use model::SeriesId;
    use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};

    use super::*;

    fn key(series: u32, time_bucket: u32, event_bucket: u32) -> PartitionKey {
        PartitionKey { series: SeriesId::new(&format!("s{series}")).unwrap(), time_bucket, event_bucket }
    }

    fn rung(found: &SeriesSizes, seconds: u32) -> &SizeHistogram {
        &found.rungs.iter().find(|rung| rung.seconds == seconds).unwrap().sizes
    }

    #[test]
    fn sums_of_a_series_leave_empty_buckets_out() {
        let mut walk = Walk::new(Counted::Bytes, 1_000);
        // Two event buckets of one hour, another hour of the same day, one hour of the next day.
        for (bucket, event_bucket) in [(3, 0), (3, 1), (20, 0), (30, 1)] {
            walk.add(&key(1, bucket, event_bucket), 100);
        }
        let (sizes, found) = walk.finish(604_800, 3_600, 604_800);
        assert_eq!((sizes.count(), sizes.max()), (4, 100));
        assert_eq!((found.series, found.sampled), (1, false));
        let of = |seconds| {
            let sizes = rung(&found, seconds);
            (sizes.count(), sizes.sum())
        };
        assert_eq!(of(3_600), (3, 400), "an hour has 200, two have 100");
        assert_eq!(of(86_400), (2, 400));
        assert_eq!(rung(&found, 86_400).max(), 300);
        assert_eq!(of(604_800), (1, 400));
        assert_eq!(found.rungs.last().unwrap().seconds, 604_800);
    }

    #[test]
    fn of_an_open_slice_only_whole_stretches_count() {
        let mut walk = Walk::new(Counted::Bytes, 1_000);
        (0..36).for_each(|hour| walk.add(&key(1, hour, 0), 10));
        let (_, found) = walk.finish(604_800, 3_600, 36 * 3_600);
        assert_eq!((rung(&found, 86_400).count(), rung(&found, 86_400).sum()), (1, 240));
        assert_eq!((rung(&found, 129_600).count(), rung(&found, 129_600).sum()), (1, 360));
        assert_eq!(found.rungs.last().unwrap().seconds, 129_600);
    }

    #[test]
    fn where_only_keys_are_read_partitions_are_counted() {
        let mut walk = Walk::new(Counted::Partitions, 1_000);
        (0..24).for_each(|hour| walk.add(&key(1, hour, hour % 4), 0));
        let (_, found) = walk.finish(86_400, 3_600, 86_400);
        assert_eq!((rung(&found, 86_400).count(), rung(&found, 86_400).sum()), (1, 24));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn a_sample_says_nearly_what_all_series_say(seed in any::<u64>()) {
            let mut random = fastrand::Rng::with_seed(seed);
            let (mut all, mut few) = (Walk::new(Counted::Bytes, 1 << 18), Walk::new(Counted::Bytes, 4_000));
            let mut keys: Vec<(u32, u32)> = (0..4_000).flat_map(|series| (0..4).map(move |at| (series, at))).collect();
            random.shuffle(&mut keys);
            for (series, bucket) in keys {
                let bytes = 1_000 + u64::from(series % 100) * 10;
                all.add(&key(series, bucket * 6, 0), bytes);
                few.add(&key(series, bucket * 6, 0), bytes);
            }
            prop_assert!(few.entries <= 4_000);
            let ((every, all), (same, few)) = (all.finish(86_400, 3_600, 86_400), few.finish(86_400, 3_600, 86_400));
            prop_assert_eq!(every, same, "sizes of partitions are never sampled");
            prop_assert!(!all.sampled && few.sampled && all.series == 4_000);
            prop_assert!(few.series.abs_diff(4_000) < 600, "{} series", few.series);
            let (exact, sampled) = (rung(&all, 86_400).percentile(99), rung(&few, 86_400).percentile(99));
            prop_assert!(exact.abs_diff(sampled) <= exact / 4, "{} {}", exact, sampled);
            // Whoever is in the sample is in it with all that it has.
            prop_assert!(rung(&few, 86_400).min() >= 3_500);
        }

        #[test]
        fn the_order_of_partitions_does_not_matter(seed in any::<u64>(), entries_max in 50_usize..500) {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut keys: Vec<(u32, u32)> = (0..60).flat_map(|series| (0..20).map(move |at| (series, at))).collect();
            let mut walked = Vec::new();
            for _ in 0..2 {
                random.shuffle(&mut keys);
                let mut walk = Walk::new(Counted::Bytes, entries_max);
                keys.iter().for_each(|(series, at)| walk.add(&key(*series, *at, 0), u64::from(series + at)));
                walked.push(walk.finish(86_400, 3_600, 86_400));
            }
            prop_assert_eq!(&walked[0], &walked[1]);
        }
    }
}
