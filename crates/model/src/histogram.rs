//! Sizes of partitions as a histogram: small, mergeable, with a known error.
//!
//! Buckets are log-linear: eight per doubling, so a size is known to within one eighth. Count, sum and largest are
//! exact.

use crate::Error;

/// Buckets per doubling.
const STEPS: u32 = 8;
/// Highest bucket that any size reaches, plus one.
const BUCKETS_MAX: usize = (64 * STEPS) as usize;
/// Version byte of the stored form.
const FORMAT: u8 = 1;

/// How a histogram was made, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HistogramQuality {
    /// Every partition was measured, after its last write.
    Exact,
    /// Made from the parts that each stored file knows; a partition in several files counts several times.
    PerFile,
    /// Counters that may be too high, or a sample.
    Estimated,
}

/// The sizes that `nodetool tablehistograms` shows, in bytes, and of how many partitions. All zero where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeSummary {
    /// Half of the partitions are not larger.
    pub p50: u64,
    /// 75 in a hundred are not larger.
    pub p75: u64,
    /// 95 in a hundred are not larger.
    pub p95: u64,
    /// 98 in a hundred are not larger.
    pub p98: u64,
    /// 99 in a hundred are not larger.
    pub p99: u64,
    /// None is smaller.
    pub min: u64,
    /// None is larger.
    pub max: u64,
    /// How many there are.
    pub partitions: u64,
}

/// How many partitions have which size in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SizeHistogram {
    counts: Vec<u64>,
    count: u64,
    sum: u64,
    max: u64,
}

impl SizeHistogram {
    /// Counts one partition of `bytes`.
    pub fn record(&mut self, bytes: u64) {
        self.record_many(bytes, 1);
    }

    /// Counts so many partitions of `bytes` each.
    pub fn record_many(&mut self, bytes: u64, partitions: u64) {
        if partitions == 0 {
            return;
        }
        let index = bucket_of(bytes);
        if self.counts.len() <= index {
            self.counts.resize(index + 1, 0);
        }
        if let Some(slot) = self.counts.get_mut(index) {
            *slot = slot.saturating_add(partitions);
        }
        self.count = self.count.saturating_add(partitions);
        self.sum = self.sum.saturating_add(bytes.saturating_mul(partitions));
        self.max = self.max.max(bytes);
    }

    /// How many partitions were counted.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Bytes of all of them together.
    pub const fn sum(&self) -> u64 {
        self.sum
    }

    /// The largest.
    pub const fn max(&self) -> u64 {
        self.max
    }

    /// A size that none is below: at most one eighth under the smallest. Zero where nothing was counted.
    pub fn min(&self) -> u64 {
        let first = self.counts.iter().position(|count| *count > 0);
        first.and_then(|first| first.checked_sub(1)).map_or(0, |before| bucket_top(before).saturating_add(1))
    }

    /// What people look at.
    pub fn summary(&self) -> SizeSummary {
        SizeSummary {
            p50: self.percentile(50),
            p75: self.percentile(75),
            p95: self.percentile(95),
            p98: self.percentile(98),
            p99: self.percentile(99),
            min: self.min(),
            max: self.max,
            partitions: self.count,
        }
    }

    /// A size that `percent` of the partitions do not exceed: at most one eighth above the true one, never below it.
    /// Zero where nothing was counted.
    pub fn percentile(&self, percent: u8) -> u64 {
        let rank = (u128::from(self.count) * u128::from(percent.min(100))).div_ceil(100).max(1);
        let mut seen = 0_u128;
        for (index, count) in self.counts.iter().enumerate() {
            seen += u128::from(*count);
            if seen >= rank {
                return bucket_top(index).min(self.max);
            }
        }
        self.max
    }

    /// The filled buckets as (largest size inside, partitions), smallest first.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        self.counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(i, count)| (bucket_top(i), *count))
    }

    /// Adds another histogram.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (slot, more) in self.counts.iter_mut().zip(&other.counts) {
            *slot = slot.saturating_add(*more);
        }
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
    }

    /// The stored form: a version byte, sum, largest, then index (2 bytes) and count of each filled bucket;
    /// numbers little-endian.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![FORMAT];
        bytes.extend(self.sum.to_le_bytes());
        bytes.extend(self.max.to_le_bytes());
        for (index, count) in (0_u16..).zip(&self.counts).filter(|(_, count)| **count > 0) {
            bytes.extend(index.to_le_bytes());
            bytes.extend(count.to_le_bytes());
        }
        bytes
    }

    /// Reads the stored form back.
    pub fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let corrupt = |problem: &str| Error::Corrupt { what: "histogram", problem: problem.to_owned() };
        let cut_short = || corrupt("it is cut short");
        let (version, rest) = bytes.split_first().ok_or_else(cut_short)?;
        if *version != FORMAT {
            return Err(corrupt(&format!("its version is {version}")));
        }
        let (sum, rest) = rest.split_first_chunk::<8>().ok_or_else(cut_short)?;
        let (max, rest) = rest.split_first_chunk::<8>().ok_or_else(cut_short)?;
        let (filled, []) = rest.as_chunks::<10>() else {
            return Err(cut_short());
        };
        let mut histogram =
            Self { sum: u64::from_le_bytes(*sum), max: u64::from_le_bytes(*max), ..Self::default() };
        for [low, high, count @ ..] in filled {
            let (index, count) = (usize::from(u16::from_le_bytes([*low, *high])), u64::from_le_bytes(*count));
            if index >= BUCKETS_MAX || index < histogram.counts.len() || count == 0 {
                return Err(corrupt("its buckets are not in order"));
            }
            histogram.counts.resize(index, 0);
            histogram.counts.push(count);
            histogram.count =
                histogram.count.checked_add(count).ok_or_else(|| corrupt("its counts overflow"))?;
        }
        Ok(histogram)
    }
}

/// Sizes below eight have a bucket each; above, the top four bits choose one.
fn bucket_of(bytes: u64) -> usize {
    let shift = bytes.checked_ilog2().unwrap_or(0).saturating_sub(3);
    // Below sixteen: the shift leaves four bits.
    let step = usize::try_from(bytes >> shift).unwrap_or(usize::MAX);
    (shift * STEPS) as usize + step
}

/// The largest size that falls into a bucket.
fn bucket_top(index: usize) -> u64 {
    let steps = STEPS as usize;
    if index < 2 * steps {
        return index as u64;
    }
    let shift = index / steps - 1;
    let step = (index % steps + steps) as u128;
    u64::try_from(((step + 1) << shift) - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::*;

    #[test]
    fn percentiles_of_a_known_set() {
        let mut sizes = SizeHistogram::default();
        assert_eq!(sizes.percentile(99), 0);
        (1..=100).for_each(|size| sizes.record(size * 1_000));
        let p50 = sizes.percentile(50);
        assert!((50_000..=56_250).contains(&p50), "{p50}");
        assert_eq!(sizes.percentile(100), 100_000);
        assert_eq!((sizes.count(), sizes.sum(), sizes.max()), (100, 5_050_000, 100_000));
    }

    #[test]
    fn a_summary_has_what_nodetool_shows() {
        assert_eq!(SizeHistogram::default().summary(), SizeSummary::default());
        let mut sizes = SizeHistogram::default();
        sizes.record_many(10, 50);
        sizes.record_many(12, 48);
        sizes.record(13);
        sizes.record(15);
        sizes.record_many(1_000, 0);
        let expect =
            SizeSummary { p50: 10, p75: 12, p95: 12, p98: 12, p99: 13, min: 10, max: 15, partitions: 100 };
        assert_eq!(sizes.summary(), expect);
    }

    proptest! {
        #[test]
        fn a_bucket_is_at_most_an_eighth_wide(size in any::<u64>()) {
            let top = bucket_top(bucket_of(size));
            prop_assert!(top >= size && top - size <= size / 8, "{} {}", top, size);
            prop_assert!(bucket_of(size) < BUCKETS_MAX);
        }

        #[test]
        fn the_smallest_is_known_to_an_eighth(size in any::<u64>(), more in any::<u32>()) {
            let mut histogram = SizeHistogram::default();
            histogram.record(size);
            histogram.record(size.saturating_add(u64::from(more)));
            let min = histogram.min();
            prop_assert!(min <= size && size - min <= size / 8, "{} {}", min, size);
        }

        #[test]
        fn many_alike_are_as_many_recorded_one_by_one(size in any::<u32>(), count in 0_u64..700) {
            let (mut one_by_one, mut at_once) = (SizeHistogram::default(), SizeHistogram::default());
            (0..count).for_each(|_| one_by_one.record(u64::from(size)));
            at_once.record_many(u64::from(size), count);
            prop_assert_eq!(at_once, one_by_one);
        }

        #[test]
        fn the_stored_form_reads_back(sizes in proptest::collection::vec(any::<u32>(), 0..50)) {
            let mut histogram = SizeHistogram::default();
            sizes.iter().for_each(|size| histogram.record(u64::from(*size)));
            prop_assert_eq!(SizeHistogram::decode(&histogram.encode()), Ok(histogram));
        }

        #[test]
        fn damaged_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _whatever = SizeHistogram::decode(&bytes);
        }

        #[test]
        fn merging_equals_recording_all(a in proptest::collection::vec(0_u64..9_999, 0..20), b in proptest::collection::vec(0_u64..9_999, 0..20)) {
            let of = |sizes: &[u64]| {
                let mut histogram = SizeHistogram::default();
                sizes.iter().for_each(|size| histogram.record(*size));
                histogram
            };
            let mut merged = of(&a);
            merged.merge(&of(&b));
            prop_assert_eq!(merged, of(&[a, b].concat()));
        }
    }
}
