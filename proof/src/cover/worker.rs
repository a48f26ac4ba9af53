//! Split workers: claim, plan, record the attempt, look again, copy behind the barrier, verify, complete. They crash, are
//! taken over and come back as zombies simply by being slow.
//!
//! Every change of the record is a compare-and-set on the version that the worker knows; a worker whose version is old
//! may go on copying, but changes nothing that counts.

use super::machine::Cover;
use super::state::{Ask, Attempt, Backfill, Closable, DESTINATIONS, Phase, Reopened, Stage, State};
use crate::cells::Cells;
use crate::{Guard, Mark};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkerStep {
    /// It takes the record, and goes on with the attempt that it finds there.
    Claim,
    /// It reads the namespace row.
    Plan,
    /// It sends the compare-and-set that records the attempt.
    Begin,
    /// What it sent arrives.
    Arrive,
    /// It gives up waiting for the answer.
    GiveUp,
    /// It reads the namespace row again.
    Look,
    /// It copies the next key.
    Copy,
    /// It copies the next key, and the store loses the copy.
    CopyLost,
    /// It fails the attempt.
    Fail,
    /// It reads the targets back.
    ReadBack,
    /// It reads the origin again.
    ReadOrigin,
    /// It sends the compare-and-set to COMPLETED.
    Complete,
}

impl Cover {
    pub(super) fn worker_steps(&self, state: &State, at: u8, mut offer: impl FnMut(WorkerStep)) {
        let (worker, record, live) = (&state.workers[at], &state.record, !state.view.closing);
        let first = worker.fence == 0 && at == 0;
        let returns = worker.phase == Phase::Idle && worker.version != record.version;
        if live && (first || state.left.takeovers > 0 && (worker.fence != record.fence || returns)) {
            offer(WorkerStep::Claim);
        }
        if worker.asked.is_some() {
            offer(WorkerStep::Arrive);
            if state.left.give_ups > 0 && worker.phase == Phase::Asking {
                offer(WorkerStep::GiveUp);
            }
            return;
        }
        match (worker.phase, worker.attempt) {
            (Phase::Idle, _) if live && self.owns(state, at) && self.plannable(state) => {
                offer(WorkerStep::Plan);
            }
            (Phase::Planned { .. }, _) => offer(WorkerStep::Begin),
            (Phase::Owning { barrier: None }, _) => offer(WorkerStep::Look),
            (Phase::Owning { barrier: Some(epoch) }, Some(attempt)) => {
                if state.left.failures > 0 && self.owns(state, at) {
                    offer(WorkerStep::Fail);
                }
                if attempt.next == attempt.to {
                    offer(WorkerStep::ReadBack);
                } else if self.lacks(Guard::ScanAfterBarrier) || self.barrier(state, epoch) {
                    offer(WorkerStep::Copy);
                    if state.left.lost_copies > 0 {
                        offer(WorkerStep::CopyLost);
                    }
                }
            }
            (Phase::ReadBack, _) => offer(WorkerStep::ReadOrigin),
            (Phase::Verified, _) => offer(WorkerStep::Complete),
            _ => {}
        }
    }

    pub(super) fn worker_step(&self, state: &mut State, at: u8, step: WorkerStep) {
        let Some(attempt) = state.workers[at].attempt else {
            return self.step_without_attempt(state, at, step);
        };
        let keys = attempt.from..attempt.to;
        match step {
            WorkerStep::Look => self.look(state, at, attempt),
            WorkerStep::Copy => self.copy(state, at, attempt, true),
            WorkerStep::CopyLost => self.copy(state, at, attempt, false),
            WorkerStep::Fail => {
                state.left.failures -= 1;
                self.fail(state, at);
            }
            WorkerStep::ReadBack => {
                let skips = self.lacks(Guard::VerifyTargets)
                    || self.lacks(Guard::VerifyExtension) && attempt.from > 0;
                let target = &state.targets[attempt.destination];
                let equal = keys.into_iter().all(|key| target[key] == attempt.digest[key]);
                if skips || equal && self.lacks(Guard::SecondScan) {
                    state.workers[at].phase = Phase::Verified;
                } else if equal {
                    state.workers[at].phase = Phase::ReadBack;
                } else {
                    self.fail(state, at);
                }
            }
            WorkerStep::ReadOrigin => {
                if keys.into_iter().all(|key| state.origin[key] == attempt.digest[key]) {
                    state.workers[at].phase = Phase::Verified;
                } else {
                    self.fail(state, at);
                }
            }
            WorkerStep::Complete => self.send(state, at, Ask::Complete(attempt)),
            _ => self.step_without_attempt(state, at, step),
        }
    }

    fn step_without_attempt(&self, state: &mut State, at: u8, step: WorkerStep) {
        match step {
            WorkerStep::Claim => {
                if state.record.fence != 0 {
                    state.left.takeovers -= 1;
                    self.marks.hit_if(state.record.attempt.is_some(), Mark::Takeover);
                }
                state.record.fence += 1;
                state.record.version += 1;
                state.workers[at].fence = state.record.fence;
                self.obey(state, at, self.keeps(Guard::TakeoverLooksAgain));
            }
            WorkerStep::Plan => {
                let (to, epoch) = (state.view.closed, state.view.epoch);
                state.workers[at].phase = Phase::Planned { to, epoch };
            }
            WorkerStep::Begin => self.begin(state, at),
            WorkerStep::Arrive => self.arrive(state, at),
            WorkerStep::GiveUp => {
                // The outcome is unknown: it forgets, and obeys the record once it has claimed it anew.
                state.left.give_ups -= 1;
                self.rest(state, at);
            }
            _ => {}
        }
    }

    fn owns(&self, state: &State, at: u8) -> bool {
        let worker = &state.workers[at];
        worker.fence != 0 && (worker.version == state.record.version || self.lacks(Guard::Fence))
    }

    fn plannable(&self, state: &State) -> bool {
        let record = &state.record;
        !matches!(record.stage, Stage::Retiring(_))
            && record.attempt.is_none()
            && record.fresh < self.bounds.destinations
            && state.view.closed > record.covered_until
            && state.view.reopened == Reopened::None
    }

    fn begin(&self, state: &mut State, at: u8) {
        let Phase::Planned { to, epoch } = state.workers[at].phase else { return };
        let record = &state.record;
        let extends = record.stage == Stage::Completed;
        let from = if extends { record.covered_until } else { 0 };
        if !self.owns(state, at) || record.fresh >= DESTINATIONS || to <= from {
            state.workers[at].phase = Phase::Idle;
            return;
        }
        let in_place = extends && self.lacks(Guard::OwnDestination);
        let reused = in_place || !extends && self.lacks(Guard::FreshDestination);
        let destination = if reused { record.destination[0] } else { record.fresh };
        let planned = if self.keeps(Guard::LookAgain) { 0 } else { epoch };
        let mut attempt = Attempt { destination, from, to, next: from, digest: Cells::all(0), planned };
        let stale = state.workers[at].attempt.filter(|old| old.from == from);
        if let Some(old) = stale.filter(|_| self.lacks(Guard::FreshCheckpoint)) {
            (attempt.next, attempt.digest) = (old.next.min(to), old.digest);
        }
        self.send(state, at, Ask::Begin(attempt));
    }

    fn send(&self, state: &mut State, at: u8, ask: Ask) {
        let worker = &mut state.workers[at];
        worker.asked = Some((worker.version, ask));
        worker.phase = Phase::Asking;
        if !self.bounds.travelling {
            self.arrive(state, at);
        }
    }

    fn arrive(&self, state: &mut State, at: u8) {
        let Some((version, ask)) = state.workers[at].asked.take() else { return };
        let waits = state.workers[at].phase == Phase::Asking;
        let applies = (version == state.record.version || self.lacks(Guard::Fence)) && !state.view.closing;
        if applies {
            self.apply(state, ask);
            self.marks.hit_if(!waits, Mark::LateCompareAndSet);
        }
        match (waits, applies) {
            (true, true) => self.obey(state, at, self.keeps(Guard::LookAgain)),
            (true, false) => self.rest(state, at),
            (false, _) => {}
        }
    }

    fn apply(&self, state: &mut State, ask: Ask) {
        let record = &mut state.record;
        record.version += 1;
        match ask {
            Ask::Begin(attempt) => {
                record.attempt = Some(attempt);
                record.fresh = record.fresh.max(attempt.destination + 1);
            }
            Ask::Complete(attempt) => {
                if record.stage == Stage::Completed {
                    self.marks.hit(Mark::CoverExtended);
                } else {
                    record.destination = Closable::all(0);
                }
                record.stage = Stage::Completed;
                record.covered_until = attempt.to;
                for key in attempt.from..attempt.to {
                    record.destination[key] = attempt.destination;
                }
                record.attempt = None;
                self.marks.hit_if(state.backfill == Backfill::Over, Mark::SplitAfterBackfill);
            }
        }
    }

    /// Goes on with what the record says.
    fn obey(&self, state: &mut State, at: u8, looks: bool) {
        let worker = &mut state.workers[at];
        worker.version = state.record.version;
        match state.record.attempt {
            Some(attempt) => {
                let barrier = if looks { None } else { Some(attempt.planned) };
                worker.attempt = Some(attempt);
                worker.phase = Phase::Owning { barrier };
            }
            None => self.rest(state, at),
        }
    }

    /// Idle, and without an attempt, unless the mutant keeps old checkpoints.
    fn rest(&self, state: &mut State, at: u8) {
        let worker = &mut state.workers[at];
        worker.phase = Phase::Idle;
        worker.attempt = worker.attempt.filter(|_| self.lacks(Guard::FreshCheckpoint));
    }

    fn look(&self, state: &mut State, at: u8, attempt: Attempt) {
        let reopened = state.view.reopened != Reopened::None && attempt.from < self.bounds.reopens;
        if state.view.closed < attempt.to || reopened {
            return self.fail(state, at);
        }
        state.workers[at].phase = Phase::Owning { barrier: Some(state.view.epoch) };
    }

    fn copy(&self, state: &mut State, at: u8, mut attempt: Attempt, arrives: bool) {
        let key = attempt.next;
        let row = state.origin[key];
        attempt.digest[key] = row;
        attempt.next += 1;
        if !arrives {
            state.left.lost_copies -= 1;
        } else if !state.deleted[attempt.destination] {
            let copied = &mut state.targets[attempt.destination][key];
            *copied = row.max(*copied);
        }
        state.workers[at].attempt = Some(attempt);
        if self.owns(state, at) && state.record.attempt.is_some() {
            state.record.attempt = Some(attempt);
            state.record.version += 1;
            state.workers[at].version = state.record.version;
        }
    }

    fn fail(&self, state: &mut State, at: u8) {
        if self.owns(state, at) {
            state.record.attempt = None;
            state.record.version += 1;
            state.workers[at].version = state.record.version;
        }
        self.rest(state, at);
    }
}
