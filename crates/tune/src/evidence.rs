//! What a decision may rest on: enough closed slices, or enough closed buckets of a long one, of the shape that is judged.

use model::{HistogramQuality, ShapeSpec};

use crate::{Finding, Observation};

/// Closed slices of the present shape that are enough.
pub const EVIDENCE_SLICES: usize = 3;
/// Partitions that they have together at least.
pub const EVIDENCE_PARTITIONS: u64 = 100;
/// What three slices come to by default, in closed time buckets of one that is still open...
const OPEN_BUCKETS: u32 = 72;
/// ...and in seconds that they span.
const OPEN_SECONDS: u32 = 3 * 86_400;
/// Sizes are stale when nothing was seen for so many slices...
const STALE_SLICES: i64 = 3;
/// ...and at least for a day.
const STALE_SECONDS: i64 = 86_400;

/// Observations of the present shape, newest first.
#[derive(Clone, Debug)]
pub(crate) struct Evidence<'a> {
    pub(crate) seen: Vec<&'a Observation>,
}

impl<'a> Evidence<'a> {
    /// The newest observations of `shape` if they are enough and fresh; else why not.
    pub(crate) fn of(observations: &'a [Observation], shape: ShapeSpec, now: i64) -> Result<Self, Finding> {
        let Some(newest) = observations.iter().map(|seen| seen.observed).max() else {
            return Err(Finding::NoHistogram);
        };
        let age_seconds = now.saturating_sub(newest).max(0) / model::time::NANOS_PER_SECOND;
        let limit = (i64::from(shape.seconds_per_slice) * STALE_SLICES).max(STALE_SECONDS);
        if age_seconds > limit {
            return Err(Finding::StaleHistogram { age_seconds: age_seconds.cast_unsigned() });
        }
        let mut seen: Vec<&Observation> =
            observations.iter().filter(|seen| seen.has_shape(shape) && seen.summary.partitions > 0).collect();
        seen.sort_by_key(|seen| std::cmp::Reverse(seen.start));
        // A part of an open slice counts by itself or not at all: it may end before the busy hours of a day.
        let enough_open =
            |seen: &&Observation| seen.buckets() >= OPEN_BUCKETS && seen.covered_seconds >= OPEN_SECONDS;
        seen.retain(|seen| seen.is_whole() || enough_open(seen));
        let whole = seen.iter().filter(|seen| seen.is_whole()).count();
        let partitions = seen.iter().map(|seen| seen.summary.partitions).sum();
        let open = seen.len() > whole;
        if (whole < EVIDENCE_SLICES && !open) || partitions < EVIDENCE_PARTITIONS {
            return Err(Finding::LittleEvidence { slices: whole, partitions });
        }
        Ok(Self { seen })
    }

    /// The newest so many.
    pub(crate) fn newest(&self, count: usize) -> impl Iterator<Item = &'a Observation> + '_ {
        self.seen.iter().copied().take(count)
    }

    /// Those that a decision is about: the newest three.
    pub(crate) fn judged(&self) -> Vec<&'a Observation> {
        self.newest(EVIDENCE_SLICES).collect()
    }
}

/// The worst quality among these.
pub(crate) fn worst(seen: &[&Observation]) -> HistogramQuality {
    seen.iter().map(|seen| seen.quality).max().unwrap_or(HistogramQuality::Estimated)
}
