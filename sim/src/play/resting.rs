//! How splits end: without faults each comes to rest, completed ones are equal, and nothing is left behind of the others.

use std::collections::BTreeSet;
use std::time::Duration;

use model::{Interval, NamespaceName, Order, PartitionKey, TableRef};
use split::{Reason, Record, State};
use store::{Consistency, Scan, Store};

use super::admin::Admin;
use super::ask::Heard;
use super::operator::told;
use super::records::name;
use super::specs::{SECOND, SPACES};
use super::stage::{Mood, Stage};
use super::targets;

/// Splits rest within this: five tries with waits in between, and what a worker that is gone holds up.
const WITHIN: Duration = Duration::from_secs(1_200);
const LOOK_EVERY: Duration = Duration::from_secs(9);
const PATIENCE: Duration = Duration::from_secs(120);
/// How often a comparison is asked for, which others may get in the way of.
const TRIES: u32 = 6;
/// Targets that nobody reads are deleted within this.
const GRACE: Duration = Duration::from_secs(720);
/// Targets that are to be deleted are within this.
const SOON: i64 = 120 * SECOND;
/// What is due is taken up within this, or forgotten where no record agrees.
const TAKEN_UP: i64 = 700 * SECOND;

/// Waits until all splits rest, and looks at what they have come to.
pub(super) async fn rest(stage: &Stage, admin: &Admin) {
    stage.set_mood(Mood::Resting);
    for space in SPACES {
        if let Ok(of) = NamespaceName::new(space)
            && !admin.set_paused(space, &of, false).await
        {
            stage.wrong(format!("splits of {space} cannot go on"));
        }
    }
    all_rest(stage).await;
    // What was parked while there were faults has no reason to fail any more.
    for record in stage.records.all(stage).iter().filter(|record| is_parked(record)) {
        act(stage, admin, record, "retry").await;
    }
    all_rest(stage).await;
    for record in stage.records.all(stage) {
        if is_parked(&record) {
            stage.wrong(format!("{} fails without a fault: {:?}", name(&record), record.reason));
        }
        if record.state == State::Completed {
            compare(stage, admin, &record).await;
        }
    }
    stage.sleep(GRACE).await;
    look_for_leaks(stage).await;
}

async fn all_rest(stage: &Stage) {
    let until = stage.world.now() + WITHIN;
    loop {
        let records = stage.records.all(stage);
        let Some(restless) = records.iter().find(|record| !is_at_rest(record)) else { return };
        if stage.world.now() > until {
            return stage.wrong(format!(
                "{} is still {:?} for {:?}, long after the last fault",
                name(restless),
                restless.state,
                restless.reason
            ));
        }
        stage.sleep(LOOK_EVERY).await;
    }
}

/// Whether nothing more happens to it by itself soon, but comparisons.
fn is_at_rest(record: &Record) -> bool {
    let waits = record.reason.as_ref().is_some_and(|why| {
        matches!(
            why.code,
            Reason::NotClosed | Reason::PolicyOff | Reason::Blocked | Reason::Disk | Reason::Paused
        )
    });
    match record.state {
        State::Completed | State::Rejected | State::Retired | State::Expired => true,
        State::Candidate => waits,
        State::Failed => waits || record.next.is_none(),
        _ => false,
    }
}

fn is_parked(record: &Record) -> bool {
    record.state == State::Failed && record.next.is_none()
}

/// Asks for something to be done to a split; what it is then.
async fn act(stage: &Stage, admin: &Admin, record: &Record, what: &'static str) -> Option<Record> {
    let (id, server) = (record.id()?, stage.any_server(&admin.dice)?);
    let (of, text) = (id.namespace.clone(), id.to_string());
    let heard = stage
        .ask(server, PATIENCE, |engine| async move {
            match what {
                "retry" => engine.retry_split(&of, &text, false).await,
                _ => engine.verify_split(&of, &text).await,
            }
        })
        .await;
    stage.note(format_args!("last {what} of {}: {}", name(record), told(&heard)));
    match heard {
        Heard::Answer(split) => Some(split.record),
        _ => None,
    }
}

/// A completed split is equal to its origin, and a comparison says so.
async fn compare(stage: &Stage, admin: &Admin, record: &Record) {
    let is_completed = || {
        let all = stage.records.all(stage);
        all.iter().any(|now| name(now) == name(record) && now.state == State::Completed)
    };
    let mut compared = None;
    let mut damage = None;
    for _ in 0..TRIES {
        damage = targets::problem_of(stage, record);
        compared = act(stage, admin, record, "verify").await;
        if compared.is_some() || !is_completed() {
            break;
        }
        stage.sleep(LOOK_EVERY).await;
    }
    let Some(compared) = compared else {
        if is_completed() {
            stage.wrong(format!("{} cannot be compared", name(record)));
        }
        return;
    };
    if compared.state != State::Completed {
        // Somebody has damaged it, so that is right.
        if stage.records.is_tainted(record) {
            return;
        }
        return stage.wrong(format!("{} is {:?} for {:?}", name(record), compared.state, compared.reason));
    }
    if let Some(problem) = damage.or_else(|| targets::problem_of(stage, &compared)) {
        stage.wrong(format!("{} is completed, and {problem}", name(record)));
    }
}

/// Nothing is due that nobody takes up, and no rows are where no split has its targets.
async fn look_for_leaks(stage: &Stage) {
    let now = stage.wall();
    let due = stage.cluster.meta_range(b"splits/due", None, 1_000).await.map(|page| page.records);
    for entry in due.unwrap_or_default() {
        let text = String::from_utf8_lossy(&entry.name).into_owned();
        let time: i64 = text.split('/').next().and_then(|time| time.parse().ok()).unwrap_or(0);
        if time < now - TAKEN_UP {
            stage.wrong(format!("{text} is due, and nobody takes it up"));
        }
    }
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
