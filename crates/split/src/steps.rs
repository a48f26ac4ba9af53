//! Which change of a record may follow which, and what it carries along. Pure; whoever acts writes the result by
//! compare-and-set on the version that this was decided on.

use std::time::Duration;

use crate::record::VERSION;
use crate::{
    Checkpoint, Digest, DigestKey, Garbage, Origin, Plan, PostSplit, PreSplit, Profile, Recheck, Record,
    SplitId, State, TargetLayout, TargetPartition, Transition, Why,
};

/// A step writes down how far it has come after so many bytes, or two seconds.
pub const CHECKPOINTS_EVERY_BYTES: u64 = 64 << 20;
/// Attempts in a row that may fail before a split is parked.
pub const TRIES_MAX: u32 = 5;
/// The wait after the first failure; it doubles with each.
const BACK_OFF: Duration = Duration::from_secs(15);
/// Targets that nobody is to read are left for so long.
const GRACE: Duration = Duration::from_secs(600);
/// Rows that may come late, in all, before the origin is trusted more than the targets.
pub(crate) const STRAGGLERS_MAX: u32 = 8;
const TRANSITIONS_KEPT: usize = 32;
const RECHECKS_KEPT: usize = 8;
const HOUR: Duration = Duration::from_secs(3_600);
/// Behind three hours, for which a cluster keeps writes for a node that is down.
const BEHIND_HINTS: Duration = Duration::from_secs(4 * 3_600);

/// Who does something, and when on that server's clock.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Nanoseconds since 1970.
    pub now: i64,
    /// The server.
    pub server: &'a str,
}

impl Moment<'_> {
    fn later(&self, wait: Duration) -> i64 {
        self.now.saturating_add(i64::try_from(wait.as_nanos()).unwrap_or(i64::MAX))
    }
}

impl Record {
    /// A partition that may be worth splitting.
    pub fn candidate(origin: Origin, by_hand: bool, why: Option<Why>, at: Moment<'_>) -> Self {
        let Origin { id, end, bytes_read } = origin;
        let SplitId { namespace, incarnation, time_slice, partition } = id;
        let fresh = Self {
            version: VERSION,
            namespace: namespace.as_str().to_owned(),
            incarnation,
            state: State::Candidate,
            attempt: 0,
            fence: 0,
            owner: None,
            next: Some(at.now),
            capped: false,
            covered_until: end,
            pre_split_data: PreSplit {
                time_slice,
                time_series_id: partition.series.as_str().to_owned(),
                time_bucket: partition.time_bucket,
                event_bucket: partition.event_bucket,
                bytes_read,
                digest: None,
            },
            post_split_data: None,
            digest_key: None,
            barrier: None,
            checkpoint: None,
            profile: None,
            failures: 0,
            by_hand,
            asked_layout: None,
            again: false,
            reason: why.clone(),
            transitions: Vec::new(),
            rechecks: Vec::new(),
            rechecked: 0,
            stragglers: 0,
            garbage: Vec::new(),
        };
        fresh.noted(why, at)
    }

    /// What names it; none if the record is damaged.
    pub fn id(&self) -> Option<SplitId> {
        let PreSplit { time_slice, time_series_id, time_bucket, event_bucket, .. } = &self.pre_split_data;
        let text = format!("{time_slice}/{time_bucket}/{event_bucket}/{time_series_id}");
        SplitId::parse(&model::NamespaceName::new(&self.namespace).ok()?, self.incarnation, &text)
    }

    /// When somebody has to look at it again; none: never.
    pub fn due(&self) -> Option<i64> {
        let garbage = self.garbage.iter().map(|garbage| garbage.after).min();
        self.next.into_iter().chain(garbage).min()
    }

    /// Left alone until `next`; the state stays, and so does what was done.
    #[must_use]
    pub fn put_off(&self, next: i64, why: Option<Why>) -> Self {
        Self { next: Some(next), owner: None, reason: why, ..self.clone() }
    }

    /// The same where something failed, which may have been the deletion of garbage: that waits as well. What waits for nothing
    /// else still does; with a time of its own it would be due for ever.
    #[must_use]
    pub fn put_off_with_garbage(&self, next: i64, why: Option<Why>) -> Self {
        let later = |garbage: &Garbage| Garbage { after: garbage.after.max(next), ..*garbage };
        let garbage = self.garbage.iter().map(later).collect();
        Self { next: self.next.map(|_| next), garbage, ..self.put_off(next, why) }
    }

    /// A worker takes it over: an attempt that was left goes on, everything else begins a new one.
    #[must_use]
    pub fn claimed(&self, key: DigestKey, at: Moment<'_>) -> Self {
        let taken = Self {
            fence: self.fence + 1,
            owner: Some(at.server.to_owned()),
            next: Some(at.now),
            reason: None,
            ..self.clone()
        };
        if self.state.is_attempt() {
            return taken;
        }
        let begun = Self {
            attempt: self.attempt + 1,
            state: State::Candidate,
            digest_key: Some(key.to_hex()),
            pre_split_data: PreSplit { digest: None, ..self.pre_split_data.clone() },
            post_split_data: None,
            checkpoint: None,
            profile: None,
            barrier: None,
            ..taken
        };
        begun.becomes(State::Planning, None, at)
    }

    /// The barrier has passed behind which the origin is read.
    #[must_use]
    pub fn behind(&self, epoch: u64, at: Moment<'_>) -> Self {
        Self { barrier: Some((epoch, at.now)), ..self.clone() }
    }

    /// A step has come so far.
    #[must_use]
    pub fn checkpointed(&self, checkpoint: Checkpoint, profile: Option<Profile>) -> Self {
        Self { checkpoint: Some(checkpoint), profile, ..self.clone() }
    }

    /// The checkpoint to go on from, if it is of this attempt and this step.
    pub fn resume(&self, phase: crate::Phase) -> Option<&Checkpoint> {
        self.checkpoint.as_ref().filter(|found| found.attempt == self.attempt && found.phase == phase)
    }

    /// It is known how to cut it.
    #[must_use]
    pub fn planned(&self, digest: Digest, plan: &Plan, shape: &model::Shape, at: Moment<'_>) -> Self {
        let start = first_target(self.attempt, self.pre_split_data.event_bucket, shape);
        let table = format!("wide_{}_0", self.pre_split_data.time_slice);
        let cut = PostSplit::new(table, plan.packing, &plan.strategy, start);
        let post_split_data = Some(PostSplit { strategy_reason: plan.reason(), ..cut });
        let pre_split_data = PreSplit { digest: Some(digest), ..self.pre_split_data.clone() };
        let planned = Self {
            capped: plan.capped,
            pre_split_data,
            post_split_data,
            checkpoint: None,
            profile: None,
            ..self.clone()
        };
        planned.becomes(State::Planned, None, at)
    }

    /// The next step of the attempt begins.
    #[must_use]
    pub fn goes_on(&self, state: State, at: Moment<'_>) -> Self {
        Self { checkpoint: None, ..self.clone() }.becomes(state, None, at)
    }

    /// Targets that were read back so far.
    #[must_use]
    pub fn read_back(&self, digest: Digest, partitions: Vec<TargetPartition>) -> Self {
        let post_split_data =
            self.post_split_data.clone().map(|post| PostSplit { digest: Some(digest), partitions, ..post });
        Self { post_split_data, ..self.clone() }
    }

    /// Proven equal.
    #[must_use]
    pub fn completed(&self, closes: Option<i64>, at: Moment<'_>) -> Self {
        let completed = Self { checkpoint: None, owner: None, failures: 0, ..self.clone() };
        let completed = completed.becomes(State::Completed, None, at);
        Self { next: completed.next_recheck(closes), ..completed }
    }

    /// The attempt came to nothing. Tried again after a while, a few times.
    #[must_use]
    pub fn failed(&self, why: Why, at: Moment<'_>) -> Self {
        let (failures, next) = self.one_failure_more(at);
        let failed = Self { failures, next, owner: None, ..self.without_targets(at) };
        failed.becomes(State::Failed, Some(why), at)
    }

    /// Something that may pass came between: the attempt goes on after a while from where it stood. Counts as a failure, so that
    /// what does not pass parks it as well.
    #[must_use]
    pub fn interrupted(&self, why: Why, at: Moment<'_>) -> Self {
        match self.one_failure_more(at) {
            (_, None) => self.failed(why, at),
            (failures, Some(next)) => Self { failures, ..self.put_off_with_garbage(next, Some(why)) },
        }
    }

    /// How many there were in a row, and when it is tried again; never once there were too many.
    fn one_failure_more(&self, at: Moment<'_>) -> (u32, Option<i64>) {
        let failures = self.failures + 1;
        let wait = BACK_OFF.saturating_mul(1 << (failures - 1).min(10));
        (failures, (failures < TRIES_MAX).then(|| at.later(wait)))
    }

    /// There is nothing to split.
    #[must_use]
    pub fn rejected(&self, why: Why, at: Moment<'_>) -> Self {
        let rejected =
            Self { next: None, owner: None, checkpoint: None, profile: None, failures: 0, ..self.clone() };
        rejected.becomes(State::Rejected, Some(why), at)
    }

    /// Asked for, or asked for again, by hand and perhaps in a layout: whatever held it back is forgotten. None while there is
    /// nothing to ask for.
    pub fn wanted_again(&self, asked: Option<TargetLayout>, why: Why, at: Moment<'_>) -> Option<Self> {
        let is_waiting = self.state == State::Candidate;
        if !is_waiting && !self.state.may_become(State::Candidate) {
            return None;
        }
        let wanted = Self {
            state: State::Candidate,
            failures: 0,
            again: false,
            by_hand: true,
            asked_layout: asked.or(self.asked_layout),
            next: Some(at.now),
            reason: Some(why.clone()),
            ..self.clone()
        };
        Some(wanted.noted(Some(why), at))
    }

    /// A completed split goes out of use; every server has to know before its targets may go.
    #[must_use]
    pub fn retiring(&self, why: Why, at: Moment<'_>) -> Self {
        Self { next: Some(at.now), owner: None, ..self.clone() }.becomes(State::Retiring, Some(why), at)
    }

    /// The same for one that is made anew afterwards, perhaps in another layout.
    #[must_use]
    pub fn retiring_to_begin_again(&self, asked: Option<TargetLayout>, why: Why, at: Moment<'_>) -> Self {
        let asked_layout = asked.or(self.asked_layout);
        Self { again: true, asked_layout, ..self.retiring(why, at) }
    }

    /// Nobody reads the targets any more. One that is made anew is looked at again at once.
    #[must_use]
    pub fn retired(&self, at: Moment<'_>) -> Self {
        let (why, next) = (self.reason.clone(), self.again.then_some(at.now));
        Self { next, owner: None, ..self.without_targets(at) }.becomes(State::Retired, why, at)
    }

    /// One that was retired to be made anew is.
    #[must_use]
    pub fn begins_again(&self, at: Moment<'_>) -> Self {
        let why = self.reason.clone();
        let fresh = Self { again: false, failures: 0, next: Some(at.now), ..self.clone() };
        fresh.becomes(State::Candidate, why, at)
    }

    /// Its slice is gone, and its targets with it.
    #[must_use]
    pub fn expired(&self, why: Why, at: Moment<'_>) -> Self {
        let expired = Self { next: None, owner: None, garbage: Vec::new(), checkpoint: None, ..self.clone() };
        expired.becomes(State::Expired, Some(why), at)
    }

    /// The origin and the targets were compared again.
    #[must_use]
    pub fn rechecked(&self, recheck: Recheck, stragglers: u32, closes: Option<i64>) -> Self {
        let mut rechecks = self.rechecks.clone();
        rechecks.push(recheck);
        let surplus = rechecks.len().saturating_sub(RECHECKS_KEPT);
        rechecks.drain(..surplus);
        let (rechecked, stragglers) = (self.rechecked + 1, self.stragglers + stragglers);
        let checked = Self { rechecks, rechecked, stragglers, owner: None, ..self.clone() };
        Self { next: checked.next_recheck(closes), ..checked }
    }

    /// Whether so many more rows that came late are still a matter of course.
    pub fn bears(&self, stragglers: u32) -> bool {
        self.stragglers + stragglers <= STRAGGLERS_MAX
    }

    /// Garbage that was deleted is forgotten.
    #[must_use]
    pub fn cleaned(&self, deleted: &[Garbage]) -> Self {
        let garbage = self.garbage.iter().filter(|garbage| !deleted.contains(garbage)).copied().collect();
        Self { garbage, ..self.clone() }
    }

    /// One hour after it was completed, behind the time for which writes are kept for a node that is down, and an hour before
    /// its slice takes no writes any more.
    fn next_recheck(&self, closes: Option<i64>) -> Option<i64> {
        let done = self.transitions.iter().rev().find(|transition| transition.state == State::Completed)?;
        let after =
            |wait: Duration| done.time.saturating_add(i64::try_from(wait.as_nanos()).unwrap_or(i64::MAX));
        let last = closes.map(|closes| closes.saturating_sub(i64::try_from(HOUR.as_nanos()).unwrap_or(0)));
        match self.rechecked {
            0 => Some(after(HOUR)),
            1 => Some(after(BEHIND_HINTS)),
            2 => last.filter(|last| *last > after(BEHIND_HINTS)),
            _ => None,
        }
    }

    /// The targets of the present attempt become garbage.
    fn without_targets(&self, at: Moment<'_>) -> Self {
        let mut garbage = self.garbage.clone();
        if let Some((strategy, start_event_bucket)) =
            self.post_split_data.as_ref().and_then(PostSplit::strategy)
        {
            let targets = u32::try_from(strategy.targets()).unwrap_or(0);
            garbage.push(Garbage { start_event_bucket, targets, after: at.later(GRACE) });
        }
        Self { garbage, checkpoint: None, profile: None, ..self.clone() }
    }

    fn becomes(&self, state: State, why: Option<Why>, at: Moment<'_>) -> Self {
        debug_assert!(self.state.may_become(state), "{:?} became {state:?}", self.state);
        Self { state, reason: why.clone(), ..self.clone() }.noted(why, at)
    }

    fn noted(mut self, reason: Option<Why>, at: Moment<'_>) -> Self {
        let (state, attempt) = (self.state, self.attempt);
        self.transitions.push(Transition {
            state,
            time: at.now,
            server: at.server.to_owned(),
            attempt,
            reason,
        });
        let surplus = self.transitions.len().saturating_sub(TRANSITIONS_KEPT);
        self.transitions.drain(..surplus);
        self
    }
}

/// The event bucket of the first target: fresh for every attempt, apart from those of all other buckets.
fn first_target(attempt: u32, event_bucket: u32, shape: &model::Shape) -> u32 {
    let before = u64::from(attempt.saturating_sub(1)) * u64::from(shape.buckets_per_id);
    let first = (before + u64::from(event_bucket)) * u64::from(shape.split_stride);
    u32::try_from(first).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
