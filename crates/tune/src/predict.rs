//! The sizes that a slice's partitions would have had under another shape.
//!
//! From what series hold over wider and wider stretches of time, not from the present percentile times a ratio: buckets without
//! events add nothing however wide they get. Narrower buckets are taken to share evenly what the present ones hold, and so are
//! event buckets, which a hash fills.

use model::{ShapeSpec, SizeHistogram};

use crate::{Counted, Observation};

/// What a prediction rests on, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// The slice had this shape: it was observed.
    Observed,
    /// Sums of bytes of series over buckets of this width.
    Series,
    /// The same, scaled to another width.
    Scaled,
    /// Numbers of partitions of series, each taken to be as large as the p99 of all: it is not more than this.
    Keys,
    /// Only sizes of partitions are known, so every bucket is taken to be full: it is not more than this.
    Full,
}

impl Basis {
    /// Its name, as people and programs see it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Observed => "observed",
            Self::Series => "series",
            Self::Scaled => "scaled",
            Self::Keys => "keys",
            Self::Full => "full",
        }
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Observed, Self::Series, Self::Scaled, Self::Keys, Self::Full]
            .into_iter()
            .find(|basis| basis.as_str() == name)
    }

    /// Whether the true sizes may be much smaller.
    pub const fn is_bound(self) -> bool {
        matches!(self, Self::Keys | Self::Full)
    }
}

/// Sizes that were not observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// The sizes.
    pub sizes: SizeHistogram,
    /// What they rest on.
    pub basis: Basis,
}

/// The sizes of a slice's partitions, had it been cut by `shape`. Sizes are rounded up by at most a quarter.
pub fn predict(seen: &Observation, shape: ShapeSpec) -> Prediction {
    if seen.seconds_per_bucket == shape.seconds_per_bucket && seen.buckets_per_id == shape.buckets_per_id {
        return Prediction { sizes: seen.sizes.clone(), basis: Basis::Observed };
    }
    let (wanted, buckets) = (shape.seconds_per_bucket.max(1), u64::from(shape.buckets_per_id.max(1)));
    let Some(series) = &seen.series else {
        let (before, width) = (u64::from(seen.buckets_per_id), u64::from(seen.seconds_per_bucket));
        let ratio = Ratio { times: before * u64::from(wanted), by: width * buckets };
        return Prediction { sizes: ratio.of_even(&seen.sizes, 1), basis: Basis::Full };
    };
    // The widest stretch that was summed up and is not wider, or the narrowest there is.
    let below = series.rungs.iter().rev().find(|rung| rung.seconds <= wanted);
    let Some(rung) = below.or_else(|| series.rungs.first()) else {
        return Prediction { sizes: SizeHistogram::default(), basis: Basis::Scaled };
    };
    let unit = match series.counted {
        Counted::Bytes => 1,
        Counted::Partitions => seen.summary.p99,
    };
    let ratio = Ratio { times: u64::from(wanted), by: u64::from(rung.seconds.max(1)) * buckets };
    let basis = match (series.counted, rung.seconds == wanted) {
        (Counted::Partitions, _) => Basis::Keys,
        (Counted::Bytes, true) => Basis::Series,
        (Counted::Bytes, false) => Basis::Scaled,
    };
    Prediction { sizes: ratio.of_even(&rung.sizes, unit), basis }
}

/// How many times larger partitions get, and so how many times fewer.
#[derive(Clone, Copy)]
struct Ratio {
    times: u64,
    by: u64,
}

impl Ratio {
    /// Sizes in so many units each, larger by this ratio; their sum stays the same.
    fn of_even(self, sizes: &SizeHistogram, unit: u64) -> SizeHistogram {
        let mut even = SizeHistogram::default();
        for (size, count) in sizes.buckets() {
            // The largest is known better than its bucket.
            let size = u128::from(size.min(sizes.max())) * u128::from(unit);
            let larger = size * u128::from(self.times) / u128::from(self.by.max(1));
            let fewer = u128::from(count) * u128::from(self.by) / u128::from(self.times.max(1));
            let narrow = |number: u128| u64::try_from(number).unwrap_or(u64::MAX);
            even.record_many(narrow(larger), narrow(fewer.max(1)));
        }
        even
    }
}

#[cfg(test)]
mod tests;
