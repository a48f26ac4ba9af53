//! A server in ticks: its refresh in three steps, its lease, and the writes that it accepts by its own clock.

use super::bounds::{LEASE, SKEW};
use super::machine::Clocks;
use super::state::{Refresh, Server, State, View, Write};
use crate::{Guard, Mark};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServerStep {
    /// A refresh starts.
    RefreshStarts,
    /// It reads the view.
    RefreshReads,
    /// It reads the view before the newest one, at a replica that lags.
    RefreshReadsOld,
    /// It ends: view and lease count.
    RefreshEnds,
    /// The server passes the first check and calls the store.
    Send,
    /// The server makes the second check and answers.
    Answer,
}

impl Server {
    pub(super) fn tick(&mut self, loses: bool) {
        if loses {
            self.may_lose_tick = false;
            return;
        }
        self.lease = self.lease.saturating_sub(1);
        if let Some(refresh) = &mut self.refresh {
            refresh.lease = refresh.lease.saturating_sub(1);
        }
    }
}

impl Clocks {
    pub(super) fn server_steps(&self, state: &State, at: u8, mut offer: impl FnMut(ServerStep)) {
        match state.servers[at].refresh {
            None => offer(ServerStep::RefreshStarts),
            Some(Refresh { read: None, .. }) => {
                offer(ServerStep::RefreshReads);
                if self.lacks(Guard::LinearizableView) {
                    offer(ServerStep::RefreshReadsOld);
                }
            }
            Some(_) => offer(ServerStep::RefreshEnds),
        }
        match state.write {
            Write::New if self.accepts(state, at) => offer(ServerStep::Send),
            Write::Sent(server) if server == at && state.landed => offer(ServerStep::Answer),
            _ => {}
        }
    }

    pub(super) fn server_step(&self, state: &mut State, at: u8, step: ServerStep) {
        let (published, before) = (state.published, state.before);
        let server = &mut state.servers[at];
        match step {
            ServerStep::RefreshStarts => {
                server.refresh = Some(Refresh { lease: self.lease_given(), read: None });
            }
            ServerStep::RefreshReads => server.read(published),
            ServerStep::RefreshReadsOld => server.read(before),
            ServerStep::RefreshEnds => {
                let Some(Refresh { lease, read: Some(view) }) = server.refresh.take() else { return };
                // A view never goes back.
                if view.epoch >= server.view.epoch {
                    server.view = view;
                    server.lease = if self.keeps(Guard::LeaseFromStart) { lease } else { self.lease_given() };
                }
            }
            ServerStep::Send => {
                state.write = Write::Sent(at);
                state.travelling = true;
            }
            ServerStep::Answer => {
                let leased = server.lease > 0;
                if self.accepts(state, at) || self.lacks(Guard::SecondCheck) {
                    state.write = Write::Acked;
                    self.marks.hit_if(!leased, Mark::AckWithoutLease);
                } else {
                    state.write = Write::Unknown;
                    self.marks.hit(Mark::UnknownOutcome);
                }
            }
        }
    }

    fn lease_given(&self) -> u8 {
        LEASE - u8::from(self.bounds.shorter_leases)
    }

    /// The check that a writer makes twice.
    fn accepts(&self, state: &State, at: u8) -> bool {
        let server = &state.servers[at];
        let View { closed, accept, base, .. } = server.view;
        let leased = server.lease > 0;
        if !leased && self.bounds.strict {
            return false;
        }
        let by_view = leased || self.lacks(Guard::BaseLimitOnly);
        let limit = if by_view { accept.max(base) } else { base };
        let lag = match at {
            0 => SKEW + u8::from(self.lacks(Guard::SkewWithinBound)),
            _ => 0,
        };
        state.event >= closed && state.event + limit + lag >= state.now
    }
}

impl Server {
    fn read(&mut self, view: View) {
        if let Some(refresh) = &mut self.refresh {
            refresh.read = Some(view);
        }
    }
}
