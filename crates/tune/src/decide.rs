//! Whether a namespace should be cut otherwise, from what was seen of it. Pure: the same situation has the same answer.
//!
//! More partitions are asked for eagerly: two of the newest three slices are enough. Fewer are asked for lazily: as many slices in a
//! row as patience wants have to agree, and no slice of the last while may come over the density by it. A change counts as evidence
//! only from its first slices on, so nothing is decided before three of them are closed: that is the cool-down.

use model::{HistogramQuality, ShapeSpec, SizeHistogram};

use crate::evidence::{Evidence, worst};
use crate::history::patience;
use crate::step::{Step, fewer, more};
use crate::{Basis, Change, Density, Direction, Finding, Limit, Observation, Seen, predict};

/// Slices that fewer partitions are tried on.
const LOOK_BACK_SLICES: usize = 32;
/// With outliers p99 is so many times p50 at least.
const OUTLIER_TIMES: u64 = 4;
/// A rejected shape is not proposed again until the p99 is so many times larger or smaller.
const CHANGED_TIMES: u64 = 2;

/// All that a decision looks at.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// Where sizes should be.
    pub density: Density,
    /// The shape of future slices.
    pub shape: ShapeSpec,
    /// What was seen of slices.
    pub observations: &'a [Observation],
    /// Shapes that slices had and have, oldest first.
    pub changes: &'a [Change],
    /// Proposals that were rejected: id, shape, p99 that was seen.
    pub rejected: &'a [(u64, ShapeSpec, u64)],
    /// The time, nanoseconds since 1970.
    pub now: i64,
}

/// What comes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Another shape would be better.
    Propose(Box<Draft>),
    /// No proposal, and why.
    Leave(Finding),
}

/// A proposal that is not kept yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Which way it goes.
    pub direction: Direction,
    /// The present shape.
    pub from: ShapeSpec,
    /// The one proposed.
    pub to: ShapeSpec,
    /// Where sizes should be.
    pub density: Density,
    /// What was seen of a slice, the median of those in the evidence.
    pub observed: Seen,
    /// What is predicted of a slice under the new shape, likewise.
    pub predicted: Seen,
    /// The predicted sizes of all partitions of the evidence.
    pub histogram: SizeHistogram,
    /// What the prediction rests on.
    pub basis: Basis,
    /// The slices that were judged, newest first: table, p99, partitions.
    pub evidence: Vec<(String, u64, u64)>,
    /// The worst of their qualities.
    pub quality: HistogramQuality,
    /// Whether they are good enough to apply it without being asked.
    pub may_apply: bool,
    /// What kept it from going further.
    pub limits: Vec<Limit>,
}

/// Decides.
pub fn decide(situation: &Situation<'_>) -> Decision {
    match propose(situation) {
        Ok(draft) => Decision::Propose(Box::new(draft)),
        Err(finding) => Decision::Leave(finding),
    }
}

fn propose(situation: &Situation<'_>) -> Result<Draft, Finding> {
    let Situation { density, shape, .. } = *situation;
    let evidence = Evidence::of(situation.observations, shape, situation.now)?;
    let judged = evidence.judged();
    let newest = judged.first().map_or(0, |seen| seen.summary.p99);
    let at_limit = |because| Finding::AtLimit { p99: newest, because };
    let wide: Vec<&Observation> =
        judged.iter().copied().filter(|seen| seen.summary.p99 > density.max).collect();
    let (direction, step) = if wide.len() * 2 > judged.len() {
        check_outliers(&wide, density)?;
        (Direction::More, more(shape, density, &judged).map_err(at_limit)?)
    } else {
        check_patience(situation, &evidence, newest)?;
        let tried = look_back(situation, &evidence);
        (Direction::Fewer, fewer(shape, density, &tried).map_err(at_limit)?)
    };
    let draft = drafted(situation, &judged, direction, step);
    let same = |(_, to, p99): &&(u64, ShapeSpec, u64)| {
        let about = p99.saturating_mul(CHANGED_TIMES) > draft.observed.p99
            && draft.observed.p99.saturating_mul(CHANGED_TIMES) > *p99;
        *to == draft.to && about
    };
    match situation.rejected.iter().find(same) {
        Some((id, _, _)) => Err(Finding::Rejected { id: *id }),
        None => Ok(draft),
    }
}

/// Where few are wide and most are fine, cutting the whole table finer would harm the most to help the few.
fn check_outliers(wide: &[&Observation], density: Density) -> Result<(), Finding> {
    let few = |seen: &&&Observation| {
        seen.summary.p95 <= density.max && seen.summary.p99 >= seen.summary.p50.saturating_mul(OUTLIER_TIMES)
    };
    let over = |seen: &&Observation| -> u64 {
        seen.sizes.buckets().filter(|(size, _)| *size > density.max).map(|(_, count)| count).sum()
    };
    match wide.first() {
        Some(newest) if wide.iter().all(|seen| few(&seen)) => Err(Finding::Outliers {
            p50: newest.summary.p50,
            p99: newest.summary.p99,
            wide: wide.iter().map(over).max().unwrap_or(0),
        }),
        _ => Ok(()),
    }
}

/// Whether slices have had too many partitions for long enough.
fn check_patience(situation: &Situation<'_>, evidence: &Evidence<'_>, newest: u64) -> Result<(), Finding> {
    let Situation { density, shape, .. } = *situation;
    let is_small = |seen: &&Observation| seen.summary.p99 < density.min;
    if !evidence.judged().iter().all(is_small) {
        return Err(Finding::InWindow { p99: newest });
    }
    let wanted = patience(situation.changes, situation.now, shape.seconds_per_slice);
    // A long slice of which enough is closed is worth as much as three.
    let worth = |seen: &Observation| if seen.is_whole() { 1 } else { crate::EVIDENCE_SLICES };
    let slices = evidence.newest(wanted).take_while(|seen| is_small(seen)).map(worth).sum();
    if slices < wanted { Err(Finding::Waiting { slices, wanted }) } else { Ok(()) }
}

/// What fewer partitions are tried on: also slices from before the present shape.
fn look_back<'a>(situation: &Situation<'a>, evidence: &Evidence<'a>) -> Vec<&'a Observation> {
    let width = situation.shape.seconds_per_slice;
    let usable = |seen: &&Observation| {
        seen.seconds_per_slice == width && seen.is_whole() && seen.summary.partitions > 0
    };
    let mut tried: Vec<&Observation> = situation.observations.iter().filter(usable).collect();
    tried.sort_by_key(|seen| std::cmp::Reverse(seen.start));
    tried.truncate(LOOK_BACK_SLICES);
    tried.extend(evidence.newest(1).filter(|seen| !seen.is_whole()));
    tried
}

fn drafted(situation: &Situation<'_>, judged: &[&Observation], direction: Direction, step: Step) -> Draft {
    let (mut histogram, mut basis, mut predicted) = (SizeHistogram::default(), Basis::Observed, Vec::new());
    for seen in judged {
        let prediction = predict(seen, step.to);
        histogram.merge(&prediction.sizes);
        basis = basis.max(prediction.basis);
        predicted.push(Seen::of(&prediction.sizes.summary()));
    }
    let observed: Vec<Seen> = judged.iter().map(|seen| Seen::of(&seen.summary)).collect();
    let line = |seen: &&Observation| (seen.table.clone(), seen.summary.p99, seen.summary.partitions);
    Draft {
        direction,
        from: situation.shape,
        to: step.to,
        density: situation.density,
        observed: Seen::median(&observed),
        predicted: Seen::median(&predicted),
        histogram,
        basis,
        evidence: judged.iter().map(line).collect(),
        quality: worst(judged),
        may_apply: judged.iter().all(|seen| seen.may_apply()),
        limits: step.limits,
    }
}

#[cfg(test)]
mod tests;
