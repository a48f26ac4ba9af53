//! The records of splits: as they arrive, which of them an export can prove, and whether they stayed as they were.

use std::collections::BTreeMap;

use api::admin::v1 as admin;
use api::admin::v1::post_split_data::Strategy;
use export::{CheckDigest, CheckPartition, LeftOut, LeftOutKind, SplitCheck, SplitLine, TableEntry};
use rpc::client::CallError;
use serde_json::value::RawValue;

use super::source::Source;
use super::wire::nanos;
use crate::failure::Failure;
use crate::output::Json;

/// The only state in which targets are what the origin is.
const COMPLETED: &str = "COMPLETED";

/// Which splits are wanted.
pub(super) struct Wanted<'a> {
    pub(super) namespace: &'a str,
    /// By their ids.
    pub(super) ids: &'a [String],
    /// Of these tables of slices.
    pub(super) slices: &'a [String],
    /// Of these series; none for all.
    pub(super) series: &'a [String],
}

/// The splits that are wanted, as they are now. Named ones come whatever state they are in.
pub(super) async fn fetch(
    source: &dyn Source,
    wanted: &Wanted<'_>,
) -> Result<Vec<admin::ExportedSplit>, Failure> {
    if !wanted.ids.is_empty() {
        return Ok(named(source, wanted.namespace, wanted.ids).await?);
    }
    let request = admin::ExportSplitsRequest { namespace: wanted.namespace.to_owned(), ..Default::default() };
    let mut splits = Vec::new();
    for slice in wanted.slices {
        let mut request = admin::ExportSplitsRequest { time_slice: slice.clone(), ..request.clone() };
        loop {
            let page = source.splits(request.clone()).await?;
            splits.extend(page.splits);
            if page.next_page_token.is_empty() {
                break;
            }
            request.page_token = page.next_page_token;
        }
    }
    let is_wanted = |split: &admin::ExportedSplit| {
        let origin = split.split.as_ref().and_then(|split| split.pre_split_data.as_ref());
        origin
            .is_some_and(|origin| wanted.series.is_empty() || wanted.series.contains(&origin.time_series_id))
    };
    splits.retain(is_wanted);
    Ok(splits)
}

/// The same, without those that are not there any more. One that went with its slice fails the call that names all of them.
pub(super) async fn fetch_left(
    source: &dyn Source,
    wanted: &Wanted<'_>,
) -> Result<Vec<admin::ExportedSplit>, Failure> {
    match fetch(source, wanted).await {
        Err(Failure::Call(error)) if is_gone(&error) => {}
        found => return found,
    }
    let mut left = Vec::new();
    for id in wanted.ids {
        match named(source, wanted.namespace, std::slice::from_ref(id)).await {
            Ok(found) => left.extend(found),
            Err(error) if is_gone(&error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(left)
}

async fn named(
    source: &dyn Source,
    namespace: &str,
    ids: &[String],
) -> Result<Vec<admin::ExportedSplit>, CallError> {
    let (namespace, ids) = (namespace.to_owned(), ids.to_vec());
    let request = admin::ExportSplitsRequest { namespace, ids, ..Default::default() };
    Ok(source.splits(request).await?.splits)
}

fn is_gone(error: &CallError) -> bool {
    error.reason.as_deref() == Some("SPLIT_NOT_FOUND")
}

/// What can be proven of splits with the rows from `start` to `end` of these origins, and what is left out, with the reason.
pub(super) fn provable(
    splits: Vec<admin::ExportedSplit>,
    origins: &[TableEntry],
    (start, end): (i64, i64),
) -> Result<(Vec<SplitLine>, Vec<LeftOut>), Failure> {
    let json = Json::new()?;
    let (mut lines, mut left_out) = (Vec::new(), Vec::new());
    for exported in splits {
        let id = exported.split.as_ref().map(|split| split.id.clone()).unwrap_or_default();
        match check(&exported, origins, (start, end)) {
            Ok(check) => {
                let split = json.message(&exported.split.unwrap_or_default())?;
                let shown = |_| Failure::Other("a split cannot be shown; report this".to_owned());
                let split = serde_json::from_slice::<Box<RawValue>>(&split).map_err(shown)?;
                lines.push(SplitLine { split, check });
            }
            Err(reason) => left_out.push(LeftOut { what: LeftOutKind::Split, name: id, reason }),
        }
    }
    Ok((lines, left_out))
}

/// What a comparison needs; or why there can be none.
fn check(
    exported: &admin::ExportedSplit,
    origins: &[TableEntry],
    (start, end): (i64, i64),
) -> Result<SplitCheck, String> {
    let unknown = || "its record lacks what a comparison needs".to_owned();
    let split = exported.split.as_ref().ok_or_else(unknown)?;
    if split.state != COMPLETED {
        return Err(format!("it is {}", split.state));
    }
    let pre = split.pre_split_data.as_ref().ok_or_else(unknown)?;
    let post = split.post_split_data.as_ref().ok_or_else(unknown)?;
    let digest = post.digest.as_ref().ok_or_else(unknown)?;
    let gone = || "its slice is not among what is exported".to_owned();
    let slice = origins.iter().find(|table| table.name == pre.time_slice).ok_or_else(gone)?;
    let width = i64::from(slice.seconds_per_bucket).saturating_mul(1_000_000_000);
    let from = slice.slice_start.saturating_add(i64::from(pre.time_bucket).saturating_mul(width));
    if from < start || from.saturating_add(width) > end {
        return Err("the exported time does not hold all of its time bucket".to_owned());
    }
    let (strategy, targets, start_event_bucket, boundaries) =
        match post.strategy.as_ref().ok_or_else(unknown)? {
            Strategy::EventBucketPartitionStrategy(by_hash) => {
                ("event_bucket", by_hash.target_event_buckets, by_hash.start_event_bucket, Vec::new())
            }
            Strategy::TimeRangePartitionStrategy(by_time) => {
                let boundaries: Vec<i64> = by_time.boundaries.iter().map(|time| nanos(Some(*time))).collect();
                let targets = u32::try_from(boundaries.len()).unwrap_or(u32::MAX).saturating_add(1);
                ("time_range", targets, by_time.start_event_bucket, boundaries)
            }
        };
    let partition = |target: &admin::SplitPartition| CheckPartition {
        event_bucket: target.event_bucket,
        rows: target.rows.unsigned_abs(),
        bytes: target.bytes.unsigned_abs(),
        stored_rows: target.stored_rows.unsigned_abs(),
        stored_bytes: target.stored_bytes.unsigned_abs(),
    };
    Ok(SplitCheck {
        id: split.id.clone(),
        attempt: split.attempt,
        origin_table: pre.time_slice.clone(),
        target_table: post.time_slice.clone(),
        time_series_id: pre.time_series_id.clone(),
        time_bucket: pre.time_bucket,
        event_bucket: pre.event_bucket,
        start_event_bucket,
        targets,
        layout: post.layout.clone(),
        // Absent for rows; on the wire that is 0 and the empty text.
        chunk_bytes: (!post.codec.is_empty()).then(|| post.chunk_bytes.unsigned_abs()),
        codec: (!post.codec.is_empty()).then(|| post.codec.clone()),
        strategy: strategy.to_owned(),
        boundaries,
        slice_start: slice.slice_start,
        seconds_per_bucket: slice.seconds_per_bucket,
        buckets_per_id: slice.buckets_per_id,
        split_stride: slice.split_stride,
        hash_version: slice.hash_version,
        covered_until: nanos(split.covered_until),
        digest_key: exported.digest_key.clone(),
        digest: CheckDigest {
            rows: digest.rows.unsigned_abs(),
            bytes: digest.bytes.unsigned_abs(),
            checksum: digest.checksum.clone(),
        },
        partitions: post.partitions.iter().map(partition).collect(),
    })
}

/// Those that are after the export as they were before it; the others may have lost or gained targets while these were read.
pub(super) fn unchanged(before: Vec<SplitLine>, after: &[SplitLine]) -> (Vec<SplitLine>, Vec<LeftOut>) {
    // There may be as many as an export has partitions.
    let after: BTreeMap<&str, &SplitLine> = after.iter().map(|line| (line.check.id.as_str(), line)).collect();
    let is_same =
        |line: &SplitLine| after.get(line.check.id.as_str()).is_some_and(|later| line.is_unchanged(later));
    let (same, changed): (Vec<_>, Vec<_>) = before.into_iter().partition(is_same);
    let reason = || "it changed while it was exported; export it again".to_owned();
    let left_out =
        |line: SplitLine| LeftOut { what: LeftOutKind::Split, name: line.check.id, reason: reason() };
    (same, changed.into_iter().map(left_out).collect())
}

#[cfg(test)]
#[path = "splits_tests.rs"]
mod tests;
