//! Observations and proposals as they are kept: JSON with a version, histograms in their own stored form as hexadecimal digits.
//! `docs/formats/tuning.md` describes it.

use model::{HistogramQuality, ShapeSpec, SizeHistogram, SizeSummary};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{
    Basis, Counted, Density, Direction, Draft, Limit, Observation, Outcome, Proposal, Rung, Seen,
    SeriesSizes, Settled, State,
};

const VERSION: u32 = 1;

/// Bytes that are not a record of this version.
#[derive(Debug, thiserror::Error)]
#[error("a record of tuning does not decode ({0}); a newer version may have written it")]
pub struct Unreadable(String);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredObservation {
    version: u32,
    table: String,
    start: i64,
    shape: StoredShape,
    covered_seconds: u32,
    observed: i64,
    quality: String,
    source: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    nodes_missing: u32,
    summary: StoredSummary,
    sizes: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    series: Option<StoredSeries>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredSeries {
    counted: String,
    series: u64,
    sampled: bool,
    /// Width and sizes.
    rungs: Vec<(u32, String)>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredShape {
    seconds_per_slice: u32,
    seconds_per_bucket: u32,
    buckets_per_id: u16,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredSummary {
    p50: u64,
    p75: u64,
    p95: u64,
    p98: u64,
    p99: u64,
    min: u64,
    max: u64,
    partitions: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredProposal {
    version: u32,
    /// Of the change of the view that settled it; zero while none has.
    #[serde(default, skip_serializing_if = "is_none")]
    epoch: u64,
    id: u64,
    state: State,
    made: i64,
    confirmed: i64,
    first_slice: i64,
    from: StoredShape,
    to: StoredShape,
    density_min: u64,
    density_max: u64,
    observed: Seen,
    predicted: Seen,
    histogram: String,
    basis: String,
    /// Table, p99, partitions.
    evidence: Vec<(String, u64, u64)>,
    quality: String,
    may_apply: bool,
    limits: Vec<String>,
    direction: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    settled: Option<Settled>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
}

impl Observation {
    /// The stored form.
    pub fn encode(&self) -> Result<Vec<u8>, Unreadable> {
        let series = self.series.as_ref().map(|series| StoredSeries {
            counted: counted_name(series.counted).to_owned(),
            series: series.series,
            sampled: series.sampled,
            rungs: series.rungs.iter().map(|rung| (rung.seconds, hex(&rung.sizes))).collect(),
        });
        let SizeSummary { p50, p75, p95, p98, p99, min, max, partitions } = self.summary;
        write(&StoredObservation {
            version: VERSION,
            table: self.table.clone(),
            start: self.start,
            shape: StoredShape {
                seconds_per_slice: self.seconds_per_slice,
                seconds_per_bucket: self.seconds_per_bucket,
                buckets_per_id: self.buckets_per_id,
            },
            covered_seconds: self.covered_seconds,
            observed: self.observed,
            quality: quality_name(self.quality).to_owned(),
            source: self.source.clone(),
            nodes_missing: self.nodes_missing,
            summary: StoredSummary { p50, p75, p95, p98, p99, min, max, partitions },
            sizes: hex(&self.sizes),
            series,
        })
    }

    /// Reads the stored form back.
    pub fn decode(bytes: &[u8]) -> Result<Self, Unreadable> {
        let stored: StoredObservation = read(bytes)?;
        check_version(stored.version)?;
        let rung = |(seconds, sizes): (u32, String)| Ok(Rung { seconds, sizes: unhex(&sizes)? });
        let series = |stored: StoredSeries| {
            Ok(SeriesSizes {
                counted: counted_named(&stored.counted)?,
                series: stored.series,
                sampled: stored.sampled,
                rungs: stored.rungs.into_iter().map(rung).collect::<Result<_, Unreadable>>()?,
            })
        };
        let StoredSummary { p50, p75, p95, p98, p99, min, max, partitions } = stored.summary;
        Ok(Self {
            table: stored.table,
            start: stored.start,
            seconds_per_slice: stored.shape.seconds_per_slice,
            seconds_per_bucket: stored.shape.seconds_per_bucket,
            buckets_per_id: stored.shape.buckets_per_id,
            covered_seconds: stored.covered_seconds,
            observed: stored.observed,
            quality: quality_named(&stored.quality)?,
            source: stored.source,
            nodes_missing: stored.nodes_missing,
            summary: SizeSummary { p50, p75, p95, p98, p99, min, max, partitions },
            sizes: unhex(&stored.sizes)?,
            series: stored.series.map(series).transpose()?,
        })
    }
}

impl Proposal {
    /// The stored form, as the change of this epoch leaves it.
    pub fn encode(&self, epoch: u64) -> Result<Vec<u8>, Unreadable> {
        let draft = &self.draft;
        write(&StoredProposal {
            version: VERSION,
            epoch,
            id: self.id,
            state: self.state,
            made: self.made,
            confirmed: self.confirmed,
            first_slice: self.first_slice,
            from: draft.from.into(),
            to: draft.to.into(),
            density_min: draft.density.min,
            density_max: draft.density.max,
            observed: draft.observed,
            predicted: draft.predicted,
            histogram: hex(&draft.histogram),
            basis: draft.basis.as_str().to_owned(),
            evidence: draft.evidence.clone(),
            quality: quality_name(draft.quality).to_owned(),
            may_apply: draft.may_apply,
            limits: draft.limits.iter().map(|limit| limit.as_str().to_owned()).collect(),
            direction: draft.direction.as_str().to_owned(),
            settled: self.settled.clone(),
            outcome: self.outcome,
        })
    }

    /// Reads the stored form back, with the epoch of the change that settled it.
    pub fn decode(bytes: &[u8]) -> Result<(Self, u64), Unreadable> {
        let stored: StoredProposal = read(bytes)?;
        check_version(stored.version)?;
        let limit = |name: &String| Limit::named(name).ok_or_else(|| unknown(name));
        let draft = Draft {
            direction: match stored.direction.as_str() {
                "more" => Direction::More,
                "fewer" => Direction::Fewer,
                other => return Err(unknown(other)),
            },
            from: stored.from.into(),
            to: stored.to.into(),
            density: Density { min: stored.density_min, max: stored.density_max },
            observed: stored.observed,
            predicted: stored.predicted,
            histogram: unhex(&stored.histogram)?,
            basis: Basis::named(&stored.basis).ok_or_else(|| unknown(&stored.basis))?,
            evidence: stored.evidence,
            quality: quality_named(&stored.quality)?,
            may_apply: stored.may_apply,
            limits: stored.limits.iter().map(limit).collect::<Result<_, Unreadable>>()?,
        };
        let proposal = Self {
            id: stored.id,
            state: stored.state,
            made: stored.made,
            confirmed: stored.confirmed,
            first_slice: stored.first_slice,
            draft,
            settled: stored.settled,
            outcome: stored.outcome,
        };
        Ok((proposal, stored.epoch))
    }
}

impl From<ShapeSpec> for StoredShape {
    fn from(shape: ShapeSpec) -> Self {
        let ShapeSpec { seconds_per_slice, seconds_per_bucket, buckets_per_id } = shape;
        Self { seconds_per_slice, seconds_per_bucket, buckets_per_id }
    }
}

impl From<StoredShape> for ShapeSpec {
    fn from(shape: StoredShape) -> Self {
        let StoredShape { seconds_per_slice, seconds_per_bucket, buckets_per_id } = shape;
        Self { seconds_per_slice, seconds_per_bucket, buckets_per_id }
    }
}

fn write(record: &impl Serialize) -> Result<Vec<u8>, Unreadable> {
    serde_json::to_vec(record).map_err(|error| Unreadable(error.to_string()))
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unreadable> {
    serde_json::from_slice(bytes).map_err(|error| Unreadable(error.to_string()))
}

fn check_version(version: u32) -> Result<(), Unreadable> {
    if version == VERSION { Ok(()) } else { Err(Unreadable(format!("its version is {version}"))) }
}

fn unknown(name: &str) -> Unreadable {
    Unreadable(format!("`{name}` is not known"))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_none(epoch: &u64) -> bool {
    *epoch == 0
}

const fn quality_name(quality: HistogramQuality) -> &'static str {
    match quality {
        HistogramQuality::Exact => "exact",
        HistogramQuality::PerFile => "per_file",
        HistogramQuality::Estimated => "estimated",
    }
}

fn quality_named(name: &str) -> Result<HistogramQuality, Unreadable> {
    [HistogramQuality::Exact, HistogramQuality::PerFile, HistogramQuality::Estimated]
        .into_iter()
        .find(|quality| quality_name(*quality) == name)
        .ok_or_else(|| unknown(name))
}

const fn counted_name(counted: Counted) -> &'static str {
    match counted {
        Counted::Bytes => "bytes",
        Counted::Partitions => "partitions",
    }
}

fn counted_named(name: &str) -> Result<Counted, Unreadable> {
    [Counted::Bytes, Counted::Partitions]
        .into_iter()
        .find(|counted| counted_name(*counted) == name)
        .ok_or_else(|| unknown(name))
}

fn hex(sizes: &SizeHistogram) -> String {
    sizes.encode().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Result<SizeHistogram, Unreadable> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return Err(unknown(text)) };
    let byte = |pair: &[u8; 2]| {
        let digits = std::str::from_utf8(pair).ok().filter(|digits| !digits.contains('+'));
        digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).ok_or_else(|| unknown("a histogram"))
    };
    let bytes: Vec<u8> = pairs.iter().map(byte).collect::<Result<_, Unreadable>>()?;
    SizeHistogram::decode(&bytes).map_err(|error| Unreadable(error.to_string()))
}

#[cfg(test)]
mod tests;
