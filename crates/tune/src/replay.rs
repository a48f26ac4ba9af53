//! What-if: the recorded sizes of a namespace under a shape of somebody's choice.

use model::ShapeSpec;

use crate::{Basis, Observation, Seen, predict};

/// One recorded slice under another shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayedSlice {
    /// Its table.
    pub table: String,
    /// What was seen.
    pub observed: Seen,
    /// What would have been.
    pub predicted: Seen,
    /// What that rests on.
    pub basis: Basis,
}

/// What would have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// Slice by slice, oldest first.
    pub slices: Vec<ReplayedSlice>,
    /// The median of what was seen.
    pub observed: Seen,
    /// The median of what would have been.
    pub predicted: Seen,
    /// The worst basis of all.
    pub basis: Basis,
}

/// Replays what was recorded through `shape`.
pub fn replay(observations: &[Observation], shape: ShapeSpec) -> Replay {
    let mut seen: Vec<&Observation> =
        observations.iter().filter(|seen| seen.summary.partitions > 0).collect();
    seen.sort_by_key(|seen| seen.start);
    let slices: Vec<ReplayedSlice> = seen
        .into_iter()
        .map(|seen| {
            let prediction = predict(seen, shape);
            let observed = Seen::of(&seen.summary);
            let predicted = match prediction.basis {
                Basis::Observed => observed,
                _ => Seen::of(&prediction.sizes.summary()),
            };
            ReplayedSlice { table: seen.table.clone(), observed, predicted, basis: prediction.basis }
        })
        .collect();
    let all = |of: fn(&ReplayedSlice) -> Seen| Seen::median(&slices.iter().map(of).collect::<Vec<_>>());
    let (observed, predicted) = (all(|slice| slice.observed), all(|slice| slice.predicted));
    let basis = slices.iter().map(|slice| slice.basis).max().unwrap_or(Basis::Observed);
    Replay { slices, observed, predicted, basis }
}

/// Partitions that a read of one series over so many seconds touches, from the start of a bucket on: an hour, a day, a slice, as far
/// as a slice goes.
pub fn reads(shape: ShapeSpec) -> Vec<(u32, u64)> {
    let slice = shape.seconds_per_slice;
    let mut spans: Vec<u32> = [3_600, 86_400, slice].into_iter().filter(|span| *span <= slice).collect();
    spans.dedup();
    let touched = |span: u32| {
        u64::from(span.div_ceil(shape.seconds_per_bucket.max(1))) * u64::from(shape.buckets_per_id)
    };
    spans.into_iter().map(|span| (span, touched(span))).collect()
}
