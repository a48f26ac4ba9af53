//! Writes: the check before the store call, the call that may land at any later time, and the check before the ack.

use super::machine::Cover;
use super::state::{Outcome, Reopened, SERVERS, Stage, State, WRITES, WRITTEN};
use crate::{Guard, Mark};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriterStep {
    /// This server passes the first check and calls the store.
    Send(u8),
    /// The row is in the origin.
    Land,
    /// The server makes the second check and answers.
    Answer,
}

impl Cover {
    pub(super) fn writer_steps(&self, state: &State, at: u8, mut offer: impl FnMut(WriterStep)) {
        let write = &state.writes[at];
        let may_send = match write.outcome {
            Outcome::New => true,
            Outcome::Sent(_) | Outcome::Unknown => state.left.resends > 0,
            Outcome::Acked => false,
        };
        for server in (0..SERVERS).filter(|_| may_send) {
            if self.accepts(state, server, WRITES[at]) || self.lacks(Guard::FirstCheck) {
                offer(WriterStep::Send(server));
            }
        }
        if write.travelling {
            offer(WriterStep::Land);
        }
        let stored = write.landed || self.lacks(Guard::AckAfterStore);
        if stored && matches!(write.outcome, Outcome::Sent(_)) {
            offer(WriterStep::Answer);
        }
    }

    pub(super) fn writer_step(&self, state: &mut State, at: u8, step: WriterStep) {
        let key = WRITES[at];
        let write = &mut state.writes[at];
        match step {
            WriterStep::Send(server) => {
                if write.outcome != Outcome::New {
                    state.left.resends -= 1;
                }
                write.outcome = Outcome::Sent(server);
                write.travelling |= !write.landed;
            }
            WriterStep::Land => {
                write.travelling = false;
                if !state.dropped {
                    write.landed = true;
                    state.origin[key] = WRITTEN;
                    let record = &state.record;
                    let covered = record.stage == Stage::Completed && key < record.covered_until;
                    self.marks.hit_if(covered, Mark::Straggler);
                }
            }
            WriterStep::Answer => self.answer(state, at),
        }
    }

    /// The second check is the commit point; who fails it does not know whether the row will stay.
    fn answer(&self, state: &mut State, at: u8) {
        let Outcome::Sent(server) = state.writes[at].outcome else { return };
        let key = WRITES[at];
        if !self.accepts(state, server, key) && self.keeps(Guard::SecondCheck) {
            state.writes[at].outcome = Outcome::Unknown;
            self.marks.hit(Mark::UnknownOutcome);
            return;
        }
        let holder = &state.servers[server].holder;
        self.marks.hit_if(!holder.leased, Mark::AckWithoutLease);
        self.marks.hit_if(holder.leased && key < holder.view.closed, Mark::AckInReopened);
        state.writes[at].outcome = Outcome::Acked;
        state.acked[key] = WRITTEN;
    }

    /// The check that a writer makes twice.
    fn accepts(&self, state: &State, server: u8, key: u8) -> bool {
        let holder = &state.servers[server].holder;
        let view = &holder.view;
        let reopened = view.reopened == Reopened::Open && key < self.bounds.reopens;
        if !holder.joined || view.closing {
            return false;
        }
        if holder.leased {
            return key >= view.closed || reopened;
        }
        // Without a lease own clock and base limit decide. `clock` shows that within the bound on skew this accepts
        // nothing below any closed time that was published.
        let skew = u8::from(self.lacks(Guard::SkewWithinBound));
        let by_clock = key + skew >= state.view.closed;
        let by_last_view = reopened && self.lacks(Guard::BaseLimitOnly);
        self.bounds.unleased_writes && (by_clock && key >= view.closed || by_last_view)
    }
}
