//! What may not be left behind: work that nobody takes up, rows where no split has targets, and records of what is gone.

use std::collections::BTreeSet;

use engine::Engine;
use model::{Interval, NamespaceName, Order, PartitionKey, TableRef};
use split::{Record, State};
use store::{Consistency, Scan, Store};

use super::evidence::{MISMATCHES, READ_MODES};
use super::specs::{SECOND, SPACES};
use super::stage::Stage;
use super::targets;

/// Targets that are to be deleted are within this.
const SOON: i64 = 120 * SECOND;
/// What is due is taken up within this, or forgotten where no record agrees.
const TAKEN_UP: i64 = 700 * SECOND;
/// Versions of the splits of all slices.
const VERSIONS: &[u8] = b"splits/changed";

/// Nothing is due that nobody takes up, no rows are where no split has its targets, and nothing is stored of what is gone.
pub(super) async fn look_for_leaks(stage: &Stage) {
    let now = stage.wall();
    let due = stage.cluster.meta_range(b"splits/due", None, 1_000).await.map(|page| page.records);
    for entry in due.unwrap_or_default() {
        let text = String::from_utf8_lossy(&entry.name).into_owned();
        let time: i64 = text.split('/').next().and_then(|time| time.parse().ok()).unwrap_or(0);
        if time < now - TAKEN_UP {
            stage.wrong(format!("{text} is due, and nobody takes it up"));
        }
    }
    look_for_records(stage).await;
    let records = stage.records.all(stage);
    let held: BTreeSet<(TableRef, PartitionKey)> =
        records.iter().flat_map(|record| held_by(record, now)).collect();
    for table in stage.cluster.tables().into_iter().filter(|table| table.name.as_str().starts_with("wide_")) {
        for partition in stage.cluster.all_partitions(&table) {
            let place = (table.clone(), partition);
            if !held.contains(&place) && has_rows(stage, &place.0, &place.1).await {
                stage.wrong(format!("{} has rows in {:?}, where no split has targets", place.0, place.1));
            }
        }
    }
}

/// Where a split may have rows.
fn held_by(record: &Record, now: i64) -> Vec<(TableRef, PartitionKey)> {
    let (Some(id), Some((table, targets))) = (record.id(), targets::targets_of(record)) else {
        return Vec::new();
    };
    let is_used = record.state.is_attempt() || matches!(record.state, State::Completed | State::Retiring);
    let targets = targets.into_iter().filter(|_| is_used);
    let waiting = record.garbage.iter().filter(|garbage| garbage.after > now - SOON);
    let garbage = waiting.flat_map(|garbage| {
        let buckets = garbage.start_event_bucket..garbage.start_event_bucket + garbage.targets;
        buckets.map(|event_bucket| PartitionKey { event_bucket, ..id.partition.clone() })
    });
    targets.chain(garbage).map(|partition| (table.clone(), partition)).collect()
}

async fn has_rows(stage: &Stage, table: &TableRef, partition: &PartitionKey) -> bool {
    let scan = Scan {
        table: table.clone(),
        partition: partition.clone(),
        order: Order::OldestFirst,
        interval: Interval::ALL,
        from: std::ops::Bound::Unbounded,
        rows_max: 1,
        bytes_max: 1,
        consistency: Consistency::LocalQuorum,
        hedge_after: None,
        ahead: false,
    };
    stage.cluster.scan(scan).await.is_ok_and(|page| !page.rows.is_empty())
}

/// What is stored of comparisons, differences and versions is of slices and namespaces that there are.
async fn look_for_records(stage: &Stage) {
    let Some(engine) = stage.servers.first().and_then(|server| server.engine()) else { return };
    let slices: BTreeSet<String> = SPACES.into_iter().flat_map(|space| slices_of(&engine, space)).collect();
    for name in names(stage, VERSIONS).await {
        if !slices.contains(&name) {
            stage.wrong(format!("the version of {name} is left, whose slice is gone"));
        }
    }
    for space in SPACES {
        let present = NamespaceName::new(space).ok().and_then(|name| engine.get_namespace(&name).ok());
        for gone in 1..present.map_or(1, |present| present.incarnation) {
            for group in [READ_MODES, MISMATCHES] {
                let left = names(stage, format!("{group}{space}.{gone}").as_bytes()).await;
                if let Some(first) = left.first() {
                    stage.wrong(format!("{group}{space}.{gone} still has {} records, {first}", left.len()));
                }
            }
        }
    }
}

/// The slices of a namespace, as versions name them.
fn slices_of(engine: &Engine, space: &str) -> Vec<String> {
    let found = NamespaceName::new(space).ok().and_then(|name| {
        let incarnation = engine.get_namespace(&name).ok()?.incarnation;
        Some((incarnation, engine.list_slices(&name).ok()?))
    });
    let Some((incarnation, slices)) = found else { return Vec::new() };
    slices.iter().map(|info| format!("{space}.{incarnation}/{}", info.table)).collect()
}

/// The names of the records of a group.
async fn names(stage: &Stage, group: &[u8]) -> Vec<String> {
    let found = stage.cluster.meta_range(group, None, 1_000).await.map(|page| page.records);
    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    found.unwrap_or_default().iter().map(|record| text(&record.name)).collect()
}
