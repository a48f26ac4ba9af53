//! Records of splits as they are stored, every change of them: each has to be a step that the protocol knows, and whatever
//! is completed has to be equal, and whatever is found damaged has to be.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use split::{Reason, Record, SplitId, State, TargetLayout};

use super::Counts;
use super::evidence::Seen;
use super::stage::Stage;
use super::taint::Taints;
use super::targets;

/// Where the records of splits lie.
pub(super) const SPLITS: &str = "splits/";
/// Changes are looked at so often.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The group of a record has so many parts; others are lists of records.
const PARTS: usize = 4;

/// All records, as they were last seen. Clones are the same.
#[derive(Clone, Default)]
pub(super) struct Records {
    known: Arc<Mutex<BTreeMap<Place, Record>>>,
    tainted: Arc<Mutex<Taints>>,
    seen: Seen,
}

type Place = (Bytes, Bytes);

impl Records {
    /// Looks at what has changed, as long as the play lasts.
    pub(super) async fn follow(self, stage: Stage) {
        loop {
            self.look(&stage);
            stage.sleep(LOOK_EVERY).await;
        }
    }

    /// Looks at what has changed.
    pub(super) fn look(&self, stage: &Stage) {
        let mut completed = Vec::new();
        for (key, value) in stage.cluster.take_changes() {
            if !key.group.starts_with(SPLITS.as_bytes()) {
                self.seen.saw(stage, key, value.as_ref());
                continue;
            }
            if key.group.split(|byte| *byte == b'/').count() != PARTS {
                continue;
            }
            let place = (key.group, key.name);
            let Some(value) = value else {
                if let Some(gone) = self.known().remove(&place) {
                    self.tainted().saw(&name(&gone), stage.world.now(), None);
                }
                continue;
            };
            let record: Record = match serde_json::from_slice(&value) {
                Ok(record) => record,
                Err(error) => return stage.wrong(format!("a record does not decode: {error}")),
            };
            let before = self.known().insert(place.clone(), record.clone());
            note(stage, before.as_ref(), &record);
            self.tainted().saw(&name(&record), stage.world.now(), Some(&record));
            if record.state == State::Retiring && self.is_tainted(&record) {
                stage.ledger.count(|counts| counts.damage_found += 1);
            }
            let problem = problem_of(before.as_ref(), &record)
                .or_else(|| targets::wrong_excuse(stage, &record))
                .or_else(|| self.false_alarm(&record));
            if let Some(problem) = problem {
                stage.wrong(format!("{} {problem}", name(&record)));
            }
            if record.state == State::Completed
                && before.is_none_or(|before| before.state != State::Completed)
            {
                completed.push(place);
            }
        }
        for place in completed {
            let now = self.known().get(&place).filter(|record| record.state == State::Completed).cloned();
            let now = now.filter(|record| !self.is_tainted(record));
            if let Some(problem) = now.as_ref().and_then(|record| targets::problem_of(stage, record)) {
                stage.wrong(format!(
                    "{} was completed, and {problem}",
                    now.as_ref().map(name).unwrap_or_default()
                ));
            }
        }
    }

    /// All of them, as they are.
    pub(super) fn all(&self, stage: &Stage) -> Vec<Record> {
        self.look(stage);
        self.known().values().cloned().collect()
    }

    /// Whether any worker is at one.
    pub(super) fn are_under_way(&self) -> bool {
        self.known().values().any(|record| record.state.is_attempt())
    }

    /// Whether a server of this name is at one.
    pub(super) fn is_at_work(&self, server: &str) -> bool {
        let is_its = |record: &Record| record.state.is_attempt() && record.owner.as_deref() == Some(server);
        self.known().values().any(is_its)
    }

    /// Splits that reads may be served from, with the time that they end at.
    pub(super) fn completed(&self) -> Vec<(SplitId, i64)> {
        let known = self.known();
        let completed = known.values().filter(|record| record.state == State::Completed);
        completed.filter_map(|record| Some((record.id()?, record.covered_until))).collect()
    }

    /// Whether one is completed whose targets are packed.
    pub(super) fn is_packed(&self, id: &SplitId) -> bool {
        let is_it = |record: &Record| {
            record.state == State::Completed && is_packed(record) && record.id().as_ref() == Some(id)
        };
        self.known().values().any(is_it)
    }

    /// The corruptor has damaged targets of this attempt that may have been read back already.
    pub(super) fn taint(&self, record: &Record) {
        self.tainted().add(record);
    }

    /// Whether it has.
    pub(super) fn is_tainted(&self, record: &Record) -> bool {
        self.tainted().has(record)
    }

    /// Damage that is in a split's targets, and may be served until it is found.
    pub(super) fn tainted(&self) -> MutexGuard<'_, Taints> {
        self.tainted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A split goes out of use for a difference, and nobody has damaged it.
    fn false_alarm(&self, record: &Record) -> Option<String> {
        let differs = record.reason.as_ref().is_some_and(|why| why.code == Reason::Mismatch);
        let is_false = record.state == State::Retiring && differs && !self.is_tainted(record);
        is_false.then(|| format!("is found to differ, and nobody has damaged it: {:?}", record.reason))
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<Place, Record>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_packed(record: &Record) -> bool {
    record.post_split_data.as_ref().is_some_and(|post| post.layout == TargetLayout::Packed)
}

/// What names a split among all.
pub(super) fn name(record: &Record) -> String {
    record.id().map_or_else(|| "a damaged record".to_owned(), |id| id.full())
}

/// Why a record may not follow another; none where it may.
fn problem_of(before: Option<&Record>, now: &Record) -> Option<String> {
    let Some(before) = before else {
        return (now.state != State::Candidate).then(|| format!("begins as {:?}", now.state));
    };
    let begins = now.state == State::Planning
        && now.attempt == before.attempt + 1
        && matches!(before.state, State::Candidate | State::Failed);
    if now.state != before.state && !before.state.may_become(now.state) && !begins {
        return Some(format!("becomes {:?} after {:?}", now.state, before.state));
    }
    if now.fence < before.fence || now.attempt < before.attempt {
        let of = |record: &Record| (record.attempt, record.fence);
        return Some(format!("goes back from attempt and fence {:?} to {:?}", of(before), of(now)));
    }
    let last = before.transitions.last();
    last.is_some_and(|last| !now.transitions.contains(last)).then(|| "forgets what happened to it".to_owned())
}

fn note(stage: &Stage, before: Option<&Record>, now: &Record) {
    let reason = now.reason.as_ref().map(|why| why.code);
    stage.note(format_args!(
        "split {} is {:?}, attempt {}, fence {}, owner {:?}, next {:?}, {reason:?}",
        name(now),
        now.state,
        now.attempt,
        now.fence,
        now.owner,
        now.next
    ));
    stage.ledger.count(|counts| count(counts, before, now));
}

fn count(counts: &mut Counts, before: Option<&Record>, now: &Record) {
    let taken_over = before.is_some_and(|before| before.fence < now.fence && before.attempt == now.attempt);
    counts.taken_over += u64::from(taken_over);
    counts.rechecked += u64::from(before.is_some_and(|before| before.rechecked < now.rechecked));
    let is_resumed = now.checkpoint.as_ref().is_some_and(|found| found.digest.rows > 0) && taken_over;
    counts.resumed += u64::from(is_resumed);
    if before.is_some_and(|before| before.state == now.state) {
        return;
    }
    match now.state {
        State::Candidate => counts.candidates += u64::from(before.is_none()),
        State::Completed => {
            counts.completed += 1;
            counts.completed_packed += u64::from(is_packed(now));
        }
        State::Failed => counts.failed += 1,
        State::Rejected => counts.rejected += 1,
        State::Retired => counts.retired += 1,
        _ => {}
    }
}
