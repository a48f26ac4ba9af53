//! An export before its first row: its time, its tables and its splits.

use api::admin::v1 as admin;
use api::convert::timestamp_to_wire;
use export::{Asked, LeftOut, LeftOutKind, Manifest, SplitLine, TableEntry, TableKind, TableState};
use rpc::client::CallError;

use super::source::Source;
use super::splits::{Wanted, fetch, fetch_left, provable};
use super::wire::nanos;
use crate::failure::Failure;
use crate::output::value;

/// Asks what there is. Splits that were named say which slices.
pub(super) async fn prepare(
    source: &dyn Source,
    namespace: &str,
    asked: &Asked,
    slices: Vec<String>,
) -> Result<admin::PrepareExportResponse, Failure> {
    let request = admin::PrepareExportRequest {
        namespace: namespace.to_owned(),
        start: asked.since.map(timestamp_to_wire),
        end: asked.until.map(timestamp_to_wire),
        time_slices: slices,
        include_open: asked.include_open,
    };
    Ok(source.prepare(request).await?)
}

/// Begins: fills the manifest with what there is, and gives back the splits as they are now.
pub(super) async fn begin(source: &dyn Source, manifest: &mut Manifest) -> Result<Vec<SplitLine>, Failure> {
    let (namespace, asked) = (manifest.namespace.clone(), manifest.request.clone());
    let named = slices_of(&asked.splits);
    let slices = if asked.splits.is_empty() { asked.slices.clone() } else { named };
    let plan = prepare(source, &namespace, &asked, slices.clone()).await?;
    manifest.incarnation = plan.incarnation;
    manifest.closed_time = nanos(plan.closed_time);
    (manifest.start, manifest.end) = (nanos(plan.start), nanos(plan.end));
    if !plan.left_out_reason.is_empty() && !are_whole(&slices, &plan) {
        let name = format!("from {} on", value::time(plan.end));
        manifest.left_out.push(LeftOut { what: LeftOutKind::Time, name, reason: plan.left_out_reason });
    }
    manifest.tables =
        plan.tables.iter().filter(|table| asked.with_splits || !table.targets).map(entry).collect();
    if !asked.with_splits {
        return Ok(Vec::new());
    }
    let origins: Vec<TableEntry> =
        manifest.tables.iter().filter(|table| table.kind == TableKind::Origin).cloned().collect();
    let slices: Vec<String> = origins.iter().map(|table| table.name.clone()).collect();
    let wanted = Wanted { namespace: &namespace, ids: &asked.splits, slices: &slices, series: &asked.series };
    let found = fetch(source, &wanted).await?;
    let (lines, left_out) = provable(found, &origins, (manifest.start, manifest.end))?;
    manifest.left_out.extend(left_out);
    Ok(lines)
}

/// Whether slices were named, and all of them lie before the end of what can be exported.
fn are_whole(slices: &[String], plan: &admin::PrepareExportResponse) -> bool {
    let is_whole = |slice: &String| {
        let found = plan.tables.iter().find(|table| table.name == *slice);
        found.is_some_and(|table| nanos(table.slice_end) <= nanos(plan.end))
    };
    !slices.is_empty() && slices.iter().all(is_whole)
}

/// The splits of an export as they are after it.
pub(super) async fn splits_after(
    source: &dyn Source,
    manifest: &Manifest,
) -> Result<Vec<SplitLine>, Failure> {
    let origins: Vec<TableEntry> =
        manifest.tables.iter().filter(|table| table.kind == TableKind::Origin).cloned().collect();
    let slices: Vec<String> = origins.iter().map(|table| table.name.clone()).collect();
    let (ids, series) = (&manifest.request.splits, &manifest.request.series);
    let wanted = Wanted { namespace: &manifest.namespace, ids, slices: &slices, series };
    let found = fetch_left(source, &wanted).await?;
    Ok(provable(found, &origins, (manifest.start, manifest.end))?.0)
}

/// Whether an export that was begun may go on: it is the same namespace, and its time is closed as it was.
pub(super) async fn go_on(source: &dyn Source, manifest: &Manifest) -> Result<(), Failure> {
    let asked = Asked { since: Some(manifest.start), until: Some(manifest.end), ..manifest.request.clone() };
    let plan = prepare(source, &manifest.namespace, &asked, Vec::new()).await?;
    let changed = if plan.incarnation != manifest.incarnation {
        "the namespace was deleted and made again since"
    } else if nanos(plan.end) < manifest.end {
        "a backfill was opened in its time since"
    } else {
        return Ok(());
    };
    let message = format!("this export cannot go on: {changed}; export anew into another directory");
    Err(Failure::Call(CallError { code: "FAILED_PRECONDITION", reason: None, message, retry_after: None }))
}

/// The tables of slices that ids of splits begin with, each once.
fn slices_of(ids: &[String]) -> Vec<String> {
    let mut slices: Vec<String> =
        ids.iter().map(|id| id.split('/').next().unwrap_or_default().to_owned()).collect();
    slices.sort();
    slices.dedup();
    slices
}

fn entry(wire: &admin::ExportTable) -> TableEntry {
    TableEntry {
        name: wire.name.clone(),
        kind: if wire.targets { TableKind::Target } else { TableKind::Origin },
        time_slice: wire.time_slice.clone(),
        slice_start: nanos(wire.slice_start),
        slice_end: nanos(wire.slice_end),
        seconds_per_bucket: wire.seconds_per_bucket,
        buckets_per_id: wire.buckets_per_id,
        hash_version: wire.hash_version,
        split_stride: wire.split_stride,
        state: TableState::Waiting,
        rows: 0,
        files: Vec::new(),
        position: None,
    }
}
