//! From a shape that does not fit to the one that should follow: the time bucket first, then event buckets.

use model::ShapeSpec;
use model::shape::BUCKETS_PER_ID_MAX;

use crate::ladder::{divisors, multiples};
use crate::{Basis, Density, Limit, Observation, predict};

/// Buckets are not made narrower than a minute.
const BUCKET_SECONDS_MIN: u32 = 60;
/// One change narrows a bucket so many times at most: how events lie inside of one is not known.
const NARROWING_MAX: u32 = 8;
/// From so many slices on, one that is much larger than the others does not count: a backfill, or a day that will not come again.
const LOOK_BACK_MIN: usize = 4;

/// A shape, and what kept it from going further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) to: ShapeSpec,
    pub(crate) limits: Vec<Limit>,
}

/// Fewer and larger partitions: the widest bucket, then the fewest event buckets, with which none of the slices in `look_back` would
/// have come over what is aimed at. Or why there is none.
pub(crate) fn fewer(
    shape: ShapeSpec,
    density: Density,
    look_back: &[&Observation],
) -> Result<Step, &'static str> {
    let fits = |to: ShapeSpec| heaviest(look_back, to) <= density.aim();
    let widened = |width: u32| ShapeSpec { seconds_per_bucket: width, ..shape };
    let wider = multiples(shape.seconds_per_slice, shape.seconds_per_bucket);
    let fitting = wider.iter().copied().filter(|width| fits(widened(*width))).max();
    let mut to = widened(fitting.unwrap_or(shape.seconds_per_bucket));
    let mut limits = Vec::new();
    if to.seconds_per_bucket < shape.seconds_per_slice {
        limits.push(Limit::Density);
    } else {
        limits.push(Limit::WholeSlice);
        // All of the slice is in one bucket, and that is still too little.
        if heaviest(look_back, to) < density.min && shape.buckets_per_id > 1 {
            let halved = shape.buckets_per_id.div_ceil(2);
            let with = |buckets: u16| ShapeSpec { buckets_per_id: buckets, ..to };
            if let Some(buckets) = (halved..shape.buckets_per_id).find(|buckets| fits(with(*buckets))) {
                to = with(buckets);
                let stopped = if buckets > halved { Limit::Density } else { Limit::StepCap };
                limits.extend((buckets > 1).then_some(stopped));
            }
        }
    }
    if look_back.iter().any(|seen| predict(seen, to).basis == Basis::Full) {
        limits.push(Limit::Unsummed);
    }
    match (to == shape, wider.is_empty()) {
        (false, _) => Ok(Step { to, limits }),
        (true, true) => Err("a bucket is the whole slice already; wider slices would help"),
        (true, false) => Err("the next wider bucket would exceed the density"),
    }
}

/// More and smaller partitions: the widest narrower bucket with which all of `judged` would have fitted, else the narrowest that
/// one step may take, and then as many event buckets as it takes. Or why there is none.
pub(crate) fn more(
    shape: ShapeSpec,
    density: Density,
    judged: &[&Observation],
) -> Result<Step, &'static str> {
    let fits = |to: ShapeSpec| heaviest_of_all(judged, to) <= density.aim();
    let narrowed = |width: u32| ShapeSpec { seconds_per_bucket: width, ..shape };
    let narrower: Vec<u32> = divisors(shape.seconds_per_slice)
        .into_iter()
        .filter(|width| (BUCKET_SECONDS_MIN..shape.seconds_per_bucket).contains(width))
        .collect();
    let near = |width: &&u32| **width >= shape.seconds_per_bucket / NARROWING_MAX;
    if let Some(width) = narrower.iter().rev().filter(near).find(|width| fits(narrowed(**width))) {
        return Ok(Step { to: narrowed(*width), limits: Vec::new() });
    }
    let narrowest = narrower.iter().find(near).copied();
    let to = narrowed(narrowest.unwrap_or(shape.seconds_per_bucket));
    let mut limits = Vec::new();
    let has_narrower = narrower.first().is_some_and(|first| *first < to.seconds_per_bucket);
    limits.push(if has_narrower { Limit::StepCap } else { Limit::NarrowestBucket });
    let most = shape.buckets_per_id.saturating_mul(2).min(BUCKETS_PER_ID_MAX);
    let with = |buckets: u16| ShapeSpec { buckets_per_id: buckets, ..to };
    let enough = (shape.buckets_per_id + 1..=most).find(|buckets| fits(with(*buckets)));
    if enough.is_none() {
        limits.push(if most == BUCKETS_PER_ID_MAX { Limit::EventBuckets } else { Limit::StepCap });
        limits.dedup();
    }
    let to = with(enough.unwrap_or(most));
    if to == shape {
        return Err("buckets are as narrow and as many as they may be; wide partitions are split");
    }
    Ok(Step { to, limits })
}

/// The p99 of a slice under a shape.
pub(crate) fn p99(seen: &Observation, shape: ShapeSpec) -> u64 {
    let predicted = predict(seen, shape);
    match predicted.basis {
        Basis::Observed => seen.summary.p99,
        _ => predicted.sizes.percentile(99),
    }
}

fn heaviest_of_all(slices: &[&Observation], shape: ShapeSpec) -> u64 {
    slices.iter().map(|seen| p99(seen, shape)).max().unwrap_or(0)
}

/// The same without the one that stands out, where there are enough others.
fn heaviest(slices: &[&Observation], shape: ShapeSpec) -> u64 {
    let mut sizes: Vec<u64> = slices.iter().map(|seen| p99(seen, shape)).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let at = usize::from(sizes.len() >= LOOK_BACK_MIN);
    sizes.get(at).copied().unwrap_or(0)
}
