//! The cover model as a machine: how it begins, what may happen in a state, and what follows.

use std::sync::Arc;

use stateright::{Model, Property};

use super::backfill::BackfillStep;
use super::bounds::Bounds;
use super::properties;
use super::reader::ReaderStep;
use super::retirement::RetirementStep;
use super::server::ServerStep;
use super::state::{
    Backfill, Left, Outcome, Page, Phase, Reader, Record, SERVERS, Server, Stage, State, View, Worker, Write,
};
use super::worker::WorkerStep;
use super::writer::WriterStep;
use crate::cells::Cells;
use crate::lease::{self, Holder};
use crate::{Guard, LeaseStep, Mark, Marks, Without};

/// The protocol over one partition, within bounds, without some of its guards.
#[derive(Clone, Debug)]
pub struct Cover {
    pub(super) bounds: Bounds,
    pub(super) without: Without,
    pub(super) marks: Arc<Marks>,
}

/// Who does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A server and its lease.
    Lease(u8, LeaseStep),
    /// A server and its routes.
    Server(u8, ServerStep),
    /// A write.
    Writer(u8, WriterStep),
    /// A split worker.
    Worker(u8, WorkerStep),
    /// Closed time, retirement, deletion.
    Retirement(RetirementStep),
    /// A backfill.
    Backfill(BackfillStep),
    /// The reader.
    Reader(ReaderStep),
}

impl Cover {
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
        let passed = lease::barrier(state.servers.iter().map(|server| &server.holder), epoch);
        let unreported = |server: &Server| server.holder.registered && server.holder.view.epoch < epoch;
        self.marks.hit_if(passed && state.servers.iter().any(unreported), Mark::BarrierWithoutReport);
        passed
    }

    fn lease_step(&self, state: &mut State, at: u8, step: LeaseStep) {
        let newest = state.view;
        let server = &mut state.servers[at];
        let was_leased = server.holder.leased;
        self.marks.hit_if(step == LeaseStep::Removed, Mark::RegistrationRemoved);
        self.marks.hit_if(step == LeaseStep::Register && !server.holder.joined, Mark::Joined);
        let installed = server.holder.take(step, &newest, self.without);
        let lost = !was_leased && self.keeps(Guard::CacheDiesWithLease);
        if installed && (server.holder.view.retiring || lost) {
            server.cached = None;
        }
    }
}

impl State {
    /// Publishes what was changed under a new epoch.
    pub(super) fn publish(&mut self) -> u8 {
        self.view.epoch += 1;
        self.view.epoch
    }
}

fn first(bounds: &Bounds) -> State {
    let view = View::default();
    let server = Server { holder: Holder::new(view, true), cached: None, load: None };
    let mut servers = Cells::all(server);
    if bounds.leases.late_joiner {
        servers[SERVERS - 1].holder = Holder::new(view, false);
    }
    let worker = Worker { fence: 0, version: 0, phase: Phase::Idle, attempt: None, asked: None };
    let rows = Cells::of([1, 0, 1]);
    State {
        view,
        record: Record {
            version: 0,
            fence: 0,
            stage: Stage::Absent,
            covered_until: 0,
            destination: Cells::all(0),
            attempt: None,
            fresh: 0,
        },
        servers,
        workers: Cells::all(worker),
        origin: rows,
        targets: Cells::all(Cells::all(0)),
        deleted: Cells::all(false),
        deleting: Cells::all(false),
        writes: Cells::all(Write { outcome: Outcome::New, travelling: false, landed: false }),
        acked: rows,
        reader: Reader {
            reading: false,
            needs: Cells::all(0),
            cursor: 0,
            passed: 0,
            before: None,
            page: Page::None,
        },
        backfill: Backfill::None,
        dropped: false,
        wrong_page: false,
        left: Left {
            resends: bounds.resends,
            takeovers: bounds.takeovers,
            lost_copies: bounds.lost_copies,
            failures: bounds.failures,
            give_ups: bounds.give_ups,
            retirements: bounds.retirements,
            reads: bounds.reads,
        },
    }
}

impl Model for Cover {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![first(&self.bounds)]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for at in 0..SERVERS {
            let holder = &state.servers[at].holder;
            let steps = holder.steps(&state.view, self.bounds.leases, self.without);
            actions.extend(steps.into_iter().map(|step| Action::Lease(at, step)));
            self.server_steps(state, at, |step| actions.push(Action::Server(at, step)));
        }
        for at in 0..self.bounds.writes {
            self.writer_steps(state, at, |step| actions.push(Action::Writer(at, step)));
        }
        for at in 0..self.bounds.workers {
            self.worker_steps(state, at, |step| actions.push(Action::Worker(at, step)));
        }
        self.retirement_steps(state, |step| actions.push(Action::Retirement(step)));
        self.backfill_steps(state, |step| actions.push(Action::Backfill(step)));
        self.reader_steps(state, |step| actions.push(Action::Reader(step)));
    }

    fn next_state(&self, before: &State, action: Action) -> Option<State> {
        let mut state = before.clone();
        match action {
            Action::Lease(at, step) => self.lease_step(&mut state, at, step),
            Action::Server(at, step) => self.server_step(&mut state, at, step),
            Action::Writer(at, step) => self.writer_step(&mut state, at, step),
            Action::Worker(at, step) => self.worker_step(&mut state, at, step),
            Action::Retirement(step) => self.retirement_step(&mut state, step),
            Action::Backfill(step) => self.backfill_step(&mut state, step),
            Action::Reader(step) => self.reader_step(&mut state, step),
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::all()
    }
}
