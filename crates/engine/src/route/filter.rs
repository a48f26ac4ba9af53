//! Which partitions of a slice may have been split: a Bloom filter, so that a read of all others costs nanoseconds. Pure.
//!
//! It may say yes to what was never split, which costs a look at a record. A no that is wrong, because it is old, costs
//! nothing either: the origin is read.

use std::sync::atomic::{AtomicUsize, Ordering};

use env::BootTime;
use fastbloom::AtomicBloomFilter;
use model::PartitionKey;
use model::hash::event_hash;

/// How often a filter may say yes to what is not in it.
const FALSE_POSITIVES: f64 = 0.001;
/// Room for splits that are made before the filter is read anew, five seconds later: more than a server can make. Where there is
/// too little, the filter says yes to nearly everything, and reads ask the metadata for what was never split. It costs 2 KiB.
const ROOM: usize = 1_024;
/// The same everywhere, so that a filter can be looked into again.
const SEED: u128 = 0x6272_6169_645f_6669_6c74_6572_5f76_3031;

/// The splits of one slice.
pub(crate) struct Filter {
    /// The table of the slice.
    pub(crate) table: String,
    bloom: AtomicBloomFilter,
    elements: AtomicUsize,
    /// Of the slice's splits when it was read.
    pub(crate) version: u64,
    /// When that was.
    pub(crate) loaded: BootTime,
}

impl Filter {
    /// Of these splits.
    pub(crate) fn new(table: String, splits: &[u64], version: u64, loaded: BootTime) -> Self {
        let bloom = AtomicBloomFilter::with_false_pos(FALSE_POSITIVES)
            .seed(&SEED)
            .expected_items(splits.len() + splits.len() / 4 + ROOM);
        let filter = Self { table, bloom, elements: AtomicUsize::new(0), version, loaded };
        splits.iter().for_each(|split| filter.insert(*split));
        filter
    }

    /// Adds one that was made since.
    pub(crate) fn insert(&self, split: u64) {
        if !self.bloom.insert_hash(split) {
            self.elements.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether this one may have been split.
    pub(crate) fn may_hold(&self, split: u64) -> bool {
        self.bloom.contains_hash(split)
    }

    /// How many were put in, about.
    pub(crate) fn elements(&self) -> usize {
        self.elements.load(Ordering::Relaxed)
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.bloom.num_bits() / 8
    }
}

/// What stands for a partition in a filter.
pub(crate) fn hash_of(partition: &PartitionKey) -> u64 {
    let buckets = (u64::from(partition.time_bucket) << 32) | u64::from(partition.event_bucket);
    scrambled(event_hash(partition.series.as_str().as_bytes()) ^ scrambled(buckets.wrapping_add(1)))
}

/// Spreads every bit over all of them.
const fn scrambled(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::SeriesId;

    use super::*;

    fn partition(series: &str, time_bucket: u32, event_bucket: u32) -> u64 {
        hash_of(&PartitionKey { series: SeriesId::new(series).unwrap(), time_bucket, event_bucket })
    }

    fn all(series: usize) -> Vec<u64> {
        let of =
            |number: usize| (0..8).map(move |bucket| partition(&format!("s{number}"), bucket, bucket % 4));
        (0..series).flat_map(of).collect()
    }

    fn at_start() -> BootTime {
        BootTime::from_boot(Duration::ZERO)
    }

    #[test]
    fn what_was_put_in_is_found_and_little_else() {
        let (inside, filter) = (all(1_000), Filter::new(String::new(), &all(1_000), 7, at_start()));
        assert!(inside.iter().all(|split| filter.may_hold(*split)));
        let wrong = (0..100_000).filter(|number| filter.may_hold(partition("other", *number, 1))).count();
        assert!(wrong < 400, "{wrong} of 100,000");
        assert!((7_900..=8_000).contains(&filter.elements()), "{}", filter.elements());
        assert!(filter.bytes() < 9_024 * 3, "{}", filter.bytes());
    }

    #[test]
    fn what_is_added_before_it_is_read_anew_leaves_it_as_sharp() {
        let filter = Filter::new(String::new(), &[], 0, at_start());
        all(125).into_iter().for_each(|split| filter.insert(split));
        let wrong = (0..100_000).filter(|number| filter.may_hold(partition("other", *number, 1))).count();
        assert!(wrong < 400, "{wrong} of 100,000");
    }

    #[test]
    fn one_that_is_added_is_found_at_once() {
        let filter = Filter::new(String::new(), &[], 0, at_start());
        assert!(!filter.may_hold(partition("a", 1, 2)));
        filter.insert(partition("a", 1, 2));
        filter.insert(partition("a", 1, 2));
        assert!(filter.may_hold(partition("a", 1, 2)) && !filter.may_hold(partition("a", 2, 1)));
        assert_eq!(filter.elements(), 1);
    }
}
