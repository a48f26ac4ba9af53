//! How a server routes: what it loads of the record, how long that counts, and by what it would answer now.

use super::machine::Cover;
use super::state::{Entry, Load, Stage, State};
use crate::Guard;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServerStep {
    /// It loads the record's route at once.
    Load,
    /// A load reads the record.
    LoadReads,
    /// The load ends.
    LoadEnds,
}

impl State {
    /// The route that the record gives.
    fn recorded(&self) -> Option<Entry> {
        let Stage::Completed = self.record.stage else { return None };
        Some(Entry { covered_until: self.record.covered_until, destination: self.record.destination })
    }
}

impl Cover {
    pub(super) fn server_steps(&self, state: &State, at: u8, mut offer: impl FnMut(ServerStep)) {
        let server = &state.servers[at];
        let news = state.recorded().is_some_and(|entry| server.cached != Some(entry));
        match server.load {
            Some(_) => offer(ServerStep::LoadEnds),
            None if !server.holder.leased || !news => {}
            None if self.bounds.slow_loads => offer(ServerStep::LoadReads),
            None => offer(ServerStep::Load),
        }
    }

    pub(super) fn server_step(&self, state: &mut State, at: u8, step: ServerStep) {
        let recorded = state.recorded();
        let server = &mut state.servers[at];
        let epoch = server.holder.view.epoch;
        match step {
            ServerStep::Load => server.cached = recorded,
            ServerStep::LoadReads => server.load = recorded.map(|entry| Load { entry, epoch }),
            ServerStep::LoadEnds => {
                let in_force = |load: &Load| load.epoch == epoch && server.holder.leased;
                let load = server.load.take();
                if let Some(load) = load.filter(|load| in_force(load) || self.lacks(Guard::LoadUnderEpoch)) {
                    server.cached = Some(load.entry);
                }
            }
        }
    }

    /// By what the server would answer now; none is the origin.
    pub(super) fn route(&self, state: &State, at: u8) -> Option<Entry> {
        let server = &state.servers[at];
        let holder = &server.holder;
        let may = holder.leased || self.lacks(Guard::RouteUnderLease);
        server.cached.filter(|_| may && !holder.view.retiring && !holder.view.closing)
    }
}
