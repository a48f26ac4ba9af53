//! Writes into the slice: made on demand, checked before the store call and again before the ack, and the first ack behind
//! the barrier of the announcement.

use super::machine::Slices;
use super::state::{Deletion, Listed, SERVERS, Stage, State, Write};
use crate::{Guard, Mark};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriterStep {
    /// This server finds no slice and makes one.
    Make(u8),
    /// This server passes the first check and calls the store.
    Send(u8),
    /// The call arrives: the row is in the table, or there is no table.
    Land,
    /// The server makes the second check and answers.
    Answer,
}

impl Slices {
    pub(super) fn writer_steps(&self, state: &State, at: u8, mut offer: impl FnMut(WriterStep)) {
        match state.writes[at] {
            Write::New => {
                for server in 0..SERVERS {
                    if self.open(state, server).is_some() {
                        offer(WriterStep::Send(server));
                    } else if self.may_make(state, server) {
                        offer(WriterStep::Make(server));
                    }
                }
            }
            Write::Sent { landed: false, .. } => offer(WriterStep::Land),
            Write::Sent { server, incarnation, landed: true } => {
                let since = self
                    .open(state, server)
                    .filter(|_| state.servers[server].view.incarnation == incarnation);
                let waits = since.is_some_and(|epoch| !self.barrier(state, epoch));
                if !waits || self.lacks(Guard::AckAfterBarrier) {
                    offer(WriterStep::Answer);
                }
            }
            Write::Acked | Write::Unknown => {}
        }
    }

    pub(super) fn writer_step(&self, state: &mut State, at: u8, step: WriterStep) {
        match (step, state.writes[at]) {
            (WriterStep::Make(_), _) => self.make(state),
            (WriterStep::Send(server), _) => {
                let incarnation = state.servers[server].view.incarnation;
                state.writes[at] = Write::Sent { server, incarnation, landed: false };
            }
            (WriterStep::Land, Write::Sent { server, incarnation, .. }) => {
                let slice = &mut state.slices[incarnation];
                if slice.table {
                    slice.rows |= 1 << at;
                    state.writes[at] = Write::Sent { server, incarnation, landed: true };
                } else {
                    state.writes[at] = Write::Unknown;
                }
            }
            (WriterStep::Answer, Write::Sent { server, incarnation, .. }) => {
                let same = state.servers[server].view.incarnation == incarnation;
                if same && self.open(state, server).is_some() {
                    self.ack(state, at, server, incarnation);
                } else {
                    state.writes[at] = Write::Unknown;
                    self.marks.hit(Mark::UnknownOutcome);
                }
            }
            _ => {}
        }
    }

    fn ack(&self, state: &mut State, at: u8, server: u8, incarnation: u8) {
        let leased = state.servers[server].leased;
        let slice = &mut state.slices[incarnation];
        slice.acked |= 1 << at;
        // Who holds no lease may acknowledge what was under way when the namespace was deleted: the deletion is answered
        // when the tables are gone, so the two overlap.
        state.late_ack |= slice.stage == Stage::Dropped && (leased || state.deletion == Deletion::None);
        state.writes[at] = Write::Acked;
        self.marks.hit(Mark::AckInSlice);
        self.marks.hit_if(!leased, Mark::AckWithoutLease);
        self.marks.hit_if(state.deletion == Deletion::Remade, Mark::AckInRemade);
    }

    /// The check that a writer makes twice: the epoch in which the slice was announced, if it may write there.
    fn open(&self, state: &State, server: u8) -> Option<u8> {
        let holder = &state.servers[server];
        let Listed::Open(since) = holder.view.listed else { return None };
        // Without a lease own clock and base limit decide, and a slice that retention lets go is older than they allow.
        let by_clock = !state.old || self.lacks(Guard::UnleasedByClock);
        (holder.joined && (holder.leased || by_clock)).then_some(since)
    }

    /// Whether the server would make the slice, or be told that it was dropped.
    fn may_make(&self, state: &State, server: u8) -> bool {
        let holder = &state.servers[server];
        let there = matches!(state.deletion, Deletion::None | Deletion::Remade);
        holder.leased
            && there
            && holder.view.incarnation == state.view.incarnation
            && matches!(holder.view.listed, Listed::Absent | Listed::Dropped)
            && matches!(state.slice().stage, Stage::Absent | Stage::Dropped)
    }

    /// The record by compare-and-set, then the table. The announcement follows.
    fn make(&self, state: &mut State) {
        let late_create = self.bounds.late_create;
        let slice = state.slice_mut();
        if slice.stage == Stage::Dropped {
            self.marks.hit(Mark::DroppedRefused);
            return;
        }
        slice.set(Stage::Open);
        slice.table = true;
        slice.creating = late_create;
    }
}
