//! How a server comes by a view and a lease on it, and what a barrier is. Shared by the models in which time is abstract:
//! there a lease may run out whenever there is something newer to miss, and `clock` shows what that needs of real clocks.
//!
//! Invariant: a view never goes back.

use crate::{Guard, Without};

/// What is published: the newest of it is what a refresh reads.
pub(crate) trait Published: Copy {
    /// The epoch that published it.
    fn epoch(&self) -> u8;
}

/// A refresh between its read and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Refresh<V> {
    view: V,
    /// A lease counted from the start of this refresh has run out.
    ran_out: bool,
}

/// A server as a holder of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Holder<V> {
    /// The cluster knows it: barriers wait for it.
    pub(crate) registered: bool,
    /// It has a view.
    pub(crate) joined: bool,
    /// Its lease has not run out.
    pub(crate) leased: bool,
    /// The view that it has, which is also what it reported.
    pub(crate) view: V,
    refresh: Option<Refresh<V>>,
}

/// When leases run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOut {
    /// Never: every server refreshes in time.
    Never,
    /// Only where something newer is published. A lease that runs out before changes no answer of a writer or of a page
    /// but to be more careful.
    WhenBehind,
    /// At any time.
    AtAnyTime,
}

/// Which of this a configuration has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leases {
    /// A refresh takes time: it is read, and ends later.
    pub slow_refresh: bool,
    /// Beside a refresh that takes time there may be another one.
    pub overlapping: bool,
    /// When leases run out.
    pub run_out: RunOut,
    /// Registrations are removed.
    pub removed: bool,
    /// The last server joins later.
    pub late_joiner: bool,
}

impl Leases {
    /// Leases run out where something newer is published; everything else is off.
    pub const PLAIN: Self = Self {
        slow_refresh: false,
        overlapping: false,
        run_out: RunOut::WhenBehind,
        removed: false,
        late_joiner: false,
    };
}

/// What a holder does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LeaseStep {
    /// It registers.
    Register,
    /// It refreshes at once.
    Refresh,
    /// A refresh reads the view.
    RefreshReads,
    /// The lease that the refresh will give runs out before the refresh has ended.
    RefreshRunsOut,
    /// The refresh ends.
    RefreshEnds,
    /// The lease runs out.
    RunsOut,
    /// Somebody removes the registration.
    Removed,
}

impl<V: Published> Holder<V> {
    /// A holder of this view.
    pub(crate) fn new(view: V, joined: bool) -> Self {
        Self { registered: joined, joined, leased: joined, view, refresh: None }
    }

    /// What it may do next.
    pub(crate) fn steps(&self, newest: &V, leases: Leases, without: Without) -> Vec<LeaseStep> {
        let mut steps = Vec::new();
        if !self.registered && without.keeps(Guard::RegisterFirst) {
            steps.push(LeaseStep::Register);
        } else if leases.slow_refresh || !self.registered {
            match self.refresh {
                None => steps.push(LeaseStep::RefreshReads),
                Some(refresh) => {
                    steps.push(LeaseStep::RefreshEnds);
                    if leases.overlapping && self.view.epoch() < newest.epoch() {
                        steps.push(LeaseStep::Refresh);
                    }
                    if !refresh.ran_out && newest.epoch() > refresh.view.epoch() {
                        steps.push(LeaseStep::RefreshRunsOut);
                    }
                }
            }
        } else if self.view.epoch() < newest.epoch() || !self.leased {
            steps.push(LeaseStep::Refresh);
        }
        let runs_out = match leases.run_out {
            RunOut::Never => false,
            RunOut::WhenBehind => self.view.epoch() < newest.epoch(),
            RunOut::AtAnyTime => true,
        };
        if self.leased && runs_out {
            steps.push(LeaseStep::RunsOut);
        }
        let removable = !self.leased || without.lacks(Guard::RemoveAfterLease);
        if leases.removed && self.registered && self.joined && self.refresh.is_none() && removable {
            steps.push(LeaseStep::Removed);
        }
        steps
    }

    /// Does it. True if a view was installed.
    pub(crate) fn take(&mut self, step: LeaseStep, newest: &V, without: Without) -> bool {
        match step {
            LeaseStep::Register => self.registered = true,
            LeaseStep::Refresh => return self.install(*newest, true, without),
            LeaseStep::RefreshReads => self.refresh = Some(Refresh { view: *newest, ran_out: false }),
            LeaseStep::RefreshRunsOut => {
                if let Some(refresh) = &mut self.refresh {
                    refresh.ran_out = true;
                }
            }
            LeaseStep::RefreshEnds => {
                if let Some(refresh) = self.refresh.take() {
                    let leased = !refresh.ran_out || without.lacks(Guard::LeaseFromStart);
                    return self.install(refresh.view, leased, without);
                }
            }
            LeaseStep::RunsOut => self.leased = false,
            LeaseStep::Removed => self.registered = false,
        }
        false
    }

    fn install(&mut self, view: V, leased: bool, without: Without) -> bool {
        if view.epoch() < self.view.epoch() && without.keeps(Guard::NeverBack) {
            return false;
        }
        self.view = view;
        self.leased = leased;
        self.joined = true;
        self.registered = true;
        true
    }

    /// Whether this holder lets a barrier pass: it reported the epoch, or neither its lease nor one that a refresh under
    /// way will give it is older.
    fn passed(&self, epoch: u8) -> bool {
        let refresh_old =
            self.refresh.is_some_and(|refresh| !refresh.ran_out && refresh.view.epoch() < epoch);
        !self.registered || self.view.epoch() >= epoch || !self.leased && !refresh_old
    }
}

/// No holder can still act, under a lease, on a view older than `epoch`.
pub(crate) fn barrier<'a, V: Published + 'a>(
    mut holders: impl Iterator<Item = &'a Holder<V>>,
    epoch: u8,
) -> bool {
    holders.all(|holder| holder.passed(epoch))
}
