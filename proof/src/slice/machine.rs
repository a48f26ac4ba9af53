//! The slice model as a machine: how it begins, what may happen in a state, and what follows.

use std::sync::Arc;

use stateright::{Model, Property};

use super::bounds::Bounds;
use super::keeper::KeeperStep;
use super::operator::OperatorStep;
use super::properties;
use super::reader::ReaderStep;
use super::state::{Deletion, Extension, Listed, Phase, Read, SERVERS, Slice, Stage, State, View, Write};
use super::writer::WriterStep;
use crate::cells::Cells;
use crate::lease::{self, Holder};
use crate::{Guard, LeaseStep, Mark, Marks, Without};

/// One slice, its writers, readers and keepers.
#[derive(Clone, Debug)]
pub struct Slices {
    pub(super) bounds: Bounds,
    pub(super) without: Without,
    pub(super) marks: Arc<Marks>,
}

/// Who does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A server and its lease.
    Lease(u8, LeaseStep),
    /// A write.
    Writer(u8, WriterStep),
    /// The reader.
    Reader(ReaderStep),
    /// A keeper.
    Keeper(u8, KeeperStep),
    /// An operator, or the store itself.
    Operator(OperatorStep),
}

impl Slices {
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

    /// No server acts, under a lease, on a view older than `epoch`.
    pub(super) fn barrier(&self, state: &State, epoch: u8) -> bool {
        let passed = lease::barrier(state.servers.iter(), epoch);
        let unreported = |holder: &Holder<View>| holder.registered && holder.view.epoch < epoch;
        self.marks.hit_if(passed && state.servers.iter().any(unreported), Mark::BarrierWithoutReport);
        passed
    }

    fn first(&self) -> State {
        let mut slice = Slice::ABSENT;
        let mut listed = Listed::Absent;
        if self.bounds.made {
            (slice.stage, slice.before, slice.table) = (Stage::Open, Stage::Open, true);
            slice.creating = self.bounds.late_create;
            listed = Listed::Open(0);
        }
        let view = View { epoch: 0, incarnation: 0, listed };
        let mut servers = Cells::all(Holder::new(view, true));
        if self.bounds.leases.late_joiner {
            servers[SERVERS - 1] = Holder::new(view, false);
        }
        State {
            view,
            servers,
            slices: Cells::of([slice, Slice::ABSENT]),
            old: false,
            writes: Cells::all(Write::New),
            read: Read::None,
            reads_left: self.bounds.reads,
            keepers: Cells::all(Phase::Idle),
            extension: Extension::None,
            deletion: Deletion::None,
            wrong_answer: false,
            late_ack: false,
        }
    }
}

impl Model for Slices {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![self.first()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for at in 0..SERVERS {
            let steps = state.servers[at].steps(&state.view, self.bounds.leases, self.without);
            actions.extend(steps.into_iter().map(|step| Action::Lease(at, step)));
        }
        for at in 0..self.bounds.writes {
            self.writer_steps(state, at, |step| actions.push(Action::Writer(at, step)));
        }
        self.reader_steps(state, |step| actions.push(Action::Reader(step)));
        for at in 0..self.bounds.keepers {
            self.keeper_steps(state, at, |step| actions.push(Action::Keeper(at, step)));
        }
        self.operator_steps(state, |step| actions.push(Action::Operator(step)));
    }

    fn next_state(&self, before: &State, action: Action) -> Option<State> {
        let mut state = before.clone();
        match action {
            Action::Lease(at, step) => {
                let newest = state.view;
                let joins = step == LeaseStep::Register && !state.servers[at].joined;
                self.marks.hit_if(joins, Mark::Joined);
                state.servers[at].take(step, &newest, self.without);
            }
            Action::Writer(at, step) => self.writer_step(&mut state, at, step),
            Action::Reader(step) => self.reader_step(&mut state, step),
            Action::Keeper(at, step) => self.keeper_step(&mut state, at, step),
            Action::Operator(step) => self.operator_step(&mut state, step),
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::all()
    }
}
