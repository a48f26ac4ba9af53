//! How splits end: without faults each comes to rest, completed ones are equal, and nothing is left behind of the others.

use std::time::Duration;

use model::NamespaceName;
use split::{Reason, Record, State};

use super::admin::Admin;
use super::ask::Heard;
use super::leaks::look_for_leaks;
use super::operator::told;
use super::records::name;
use super::serving::serve;
use super::specs::{SPACES, nanos};
use super::stage::{Mood, Stage};
use super::targets;

/// Splits rest within this: five tries with waits in between, and what a worker that is gone holds up.
const WITHIN: Duration = Duration::from_secs(1_200);
const LOOK_EVERY: Duration = Duration::from_secs(9);
const PATIENCE: Duration = Duration::from_secs(120);
/// Time that is closed within this is waited for.
const SOON: Duration = Duration::from_secs(1_800);
/// How often a comparison is asked for, which others may get in the way of.
const TRIES: u32 = 6;
/// Targets that nobody reads are deleted within this.
const GRACE: Duration = Duration::from_secs(720);

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
    end_backfills(admin).await;
    for record in stage.records.all(stage).iter().filter(|record| is_unwanted(record)) {
        act(stage, admin, record, "retry").await;
    }
    closed_soon(stage).await;
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
    serve(stage, admin).await;
    stage.set_mood(Mood::Resting);
    stage.sleep(GRACE).await;
    look_for_leaks(stage).await;
}

/// Ends all backfills, which keep time from being closed.
async fn end_backfills(admin: &Admin) {
    for space in SPACES {
        let Ok(name) = NamespaceName::new(space) else { continue };
        for _ in 0..TRIES {
            admin.end_backfills(space, &name).await;
        }
    }
}

/// Waits for what could not be split because its time was open, and soon is not.
async fn closed_soon(stage: &Stage) {
    let until = stage.world.now() + SOON;
    let horizon = stage.wall() + nanos(SOON);
    let waits = |record: &Record| {
        record.state == State::Candidate
            && has_reason(record, &[Reason::NotClosed])
            && record.next.is_some_and(|next| next < horizon)
    };
    while stage.world.now() < until && stage.records.all(stage).iter().any(waits) {
        stage.sleep(LOOK_EVERY).await;
    }
}

fn has_reason(record: &Record, codes: &[Reason]) -> bool {
    record.reason.as_ref().is_some_and(|why| codes.contains(&why.code))
}

/// Nobody has asked for it, and its namespace splits only what somebody asks for.
fn is_unwanted(record: &Record) -> bool {
    record.state == State::Candidate && has_reason(record, &[Reason::PolicyOff])
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
    let waits = has_reason(
        record,
        &[Reason::NotClosed, Reason::PolicyOff, Reason::Blocked, Reason::Disk, Reason::Paused],
    );
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
                "retry" => engine.retry_split(&of, &text, engine::SplitAsk::default()).await,
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
