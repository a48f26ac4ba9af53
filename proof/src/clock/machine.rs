//! The clock model as a machine: how it begins, ticks, and the property that it holds.

use std::sync::Arc;

use stateright::{Model, Property};

use super::bounds::{BASE_LIMIT, Bounds, LEASE, RAISED_LIMIT, WIDE_BASE};
use super::publisher::PublisherStep;
use super::server::ServerStep;
use super::state::{Server, State, View, Write};
use crate::cells::Cells;
use crate::{Guard, Marks, Without};

/// I2, in ticks.
pub const COVER_COMPLETE: &str = "I2 a cover has every acknowledged write below its end";

/// Event times that a write may have.
const EVENTS: u8 = 3;

/// Leases, closed time and barriers in ticks.
#[derive(Clone, Debug)]
pub struct Clocks {
    pub(super) bounds: Bounds,
    pub(super) without: Without,
    pub(super) marks: Arc<Marks>,
}

/// Who does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Time passes; the lease clocks of these servers lose the tick.
    Tick {
        /// The first server's does.
        first_loses: bool,
        /// The second server's does.
        second_loses: bool,
    },
    /// A server.
    Server(u8, ServerStep),
    /// The row that was sent is in the origin.
    Land,
    /// The publisher.
    Publisher(PublisherStep),
}

impl Clocks {
    /// The model; what it comes across is noted in `marks`.
    pub fn new(bounds: Bounds, without: Without, marks: Arc<Marks>) -> Self {
        Self { bounds, without, marks }
    }

    pub(super) fn keeps(&self, guard: Guard) -> bool {
        self.without.keeps(guard)
    }

    pub(super) fn lacks(&self, guard: Guard) -> bool {
        self.without.lacks(guard)
    }

    fn first(&self, event: u8) -> State {
        let base = if self.bounds.shrinks { WIDE_BASE } else { BASE_LIMIT };
        let accept = if self.bounds.raised { RAISED_LIMIT } else { base };
        let view = View { epoch: 0, closed: 0, accept, base };
        let server = Server { view, lease: LEASE, may_lose_tick: true, refresh: None };
        State {
            // With a raised limit the event may be older than the base limit allows.
            now: if self.bounds.raised { RAISED_LIMIT - 1 } else { event },
            published: view,
            before: view,
            sending: None,
            waited: 0,
            servers: Cells::all(server),
            event,
            write: Write::New,
            travelling: false,
            landed: false,
            cover: None,
        }
    }

    fn ticks(&self, state: &State, actions: &mut Vec<Action>) {
        if state.now >= self.bounds.until {
            return;
        }
        for (first_loses, second_loses) in [(false, false), (true, false), (false, true), (true, true)] {
            let may =
                |at: u8, loses: bool| !loses || at < self.bounds.servers && state.servers[at].may_lose_tick;
            if may(0, first_loses) && may(1, second_loses) {
                actions.push(Action::Tick { first_loses, second_loses });
            }
        }
    }
}

impl Model for Clocks {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        (0..EVENTS).map(|event| self.first(event)).collect()
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.ticks(state, actions);
        for at in 0..self.bounds.servers {
            self.server_steps(state, at, |step| actions.push(Action::Server(at, step)));
        }
        if state.travelling {
            actions.push(Action::Land);
        }
        self.publisher_steps(state, |step| actions.push(Action::Publisher(step)));
    }

    fn next_state(&self, before: &State, action: Action) -> Option<State> {
        let mut state = before.clone();
        match action {
            Action::Tick { first_loses, second_loses } => {
                state.now += 1;
                state.waited = (state.waited + 1).min(self.wait());
                for (at, loses) in [(0, first_loses), (1, second_loses)] {
                    if at < self.bounds.servers {
                        state.servers[at].tick(loses);
                    }
                }
            }
            Action::Server(at, step) => self.server_step(&mut state, at, step),
            Action::Land => {
                state.travelling = false;
                state.landed = true;
            }
            Action::Publisher(step) => self.publisher_step(&mut state, step),
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::<Self>::always(COVER_COMPLETE, |_, state| {
            let lost = |until: u8, has_write: bool| state.event < until && !has_write;
            state.write != Write::Acked || state.cover.is_none_or(|made| !lost(made.until, made.has_write))
        })]
    }
}
