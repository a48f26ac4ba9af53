//! How the rows of an origin are spread over its targets.

use model::hash::event_hash;
use serde::{Deserialize, Serialize};

/// How rows are spread. All items of an event come into one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// By the hash of the event id: the published way. Spreads over replicas; every read asks all targets.
    EventBucket {
        /// How many targets.
        target_event_buckets: u16,
    },
    /// By time, into contiguous ranges of about equal bytes: a narrow read asks one target.
    TimeRange {
        /// Where the second target begins, the third, and so on; nanoseconds since 1970.
        boundaries: Vec<i64>,
    },
}

impl Strategy {
    /// How many targets there are.
    pub fn targets(&self) -> usize {
        match self {
            Self::EventBucket { target_event_buckets } => usize::from(*target_event_buckets),
            Self::TimeRange { boundaries } => boundaries.len() + 1,
        }
    }

    /// The target of an event, counted from 0. Inside of one origin the remainder of the hash is the same for all events, so
    /// the quotient decides.
    pub fn target_of(&self, time: i64, event_id: &[u8], buckets_per_id: u16) -> usize {
        match self {
            Self::EventBucket { target_event_buckets } => {
                let quotient = event_hash(event_id) / u64::from(buckets_per_id.max(1));
                usize::try_from(quotient % u64::from((*target_event_buckets).max(1))).unwrap_or(0)
            }
            Self::TimeRange { boundaries } => boundaries.partition_point(|start| *start <= time),
        }
    }
}

/// How a target keeps its events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetLayout {
    /// One stored row per item, as in the origin.
    #[default]
    Rows,
    /// One stored row per chunk of many events.
    Packed,
}

impl TargetLayout {
    /// The name that programs see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Packed => "packed",
        }
    }
}

/// How the chunks of packed targets are made. In the record, since two versions of the program may work on one attempt: whoever
/// copies again has to cut the same rows into the same chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Logical bytes of a chunk, about.
    pub chunk_bytes: u64,
    /// How chunks are compressed.
    pub codec: ChunkCodec,
}

/// How chunks are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChunkCodec {
    /// Not at all.
    None,
    /// Quickly.
    Lz4,
    /// Well.
    Zstd,
}

impl ChunkCodec {
    /// The name that programs see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, proptest};

    use super::*;

    #[test]
    fn ranges_are_half_open() {
        let strategy = Strategy::TimeRange { boundaries: vec![10, 20] };
        let target = |time| strategy.target_of(time, b"e", 4);
        assert_eq!([0, 9, 10, 19, 20, 99].map(target), [0, 0, 1, 1, 2, 2]);
        assert_eq!(strategy.targets(), 3);
    }

    #[test]
    fn the_quotient_spreads_what_the_remainder_does_not() {
        let strategy = Strategy::EventBucket { target_event_buckets: 4 };
        let mut counts = [0_u32; 4];
        let of_bucket = |id: &String| event_hash(id.as_bytes()) % 4 == 2;
        for id in (0..4_000).map(|id| format!("event-{id}")).filter(of_bucket) {
            counts[strategy.target_of(0, id.as_bytes(), 4)] += 1;
        }
        assert!(counts.iter().all(|count| (200..300).contains(count)), "{counts:?}");
    }

    proptest! {
        #[test]
        fn every_event_has_a_target(time in any::<i64>(), id in any::<Vec<u8>>(), n in 1_u16..=16, buckets in 1_u16..=64) {
            let strategy = Strategy::EventBucket { target_event_buckets: n };
            prop_assert!(strategy.target_of(time, &id, buckets) < strategy.targets());
            let mut boundaries: Vec<i64> = (0..i64::from(n)).map(|at| at * 1_000).collect();
            boundaries.dedup();
            let strategy = Strategy::TimeRange { boundaries };
            prop_assert!(strategy.target_of(time, &id, buckets) < strategy.targets());
        }
    }
}
