//! One life of a machine: from its start to its crash, with everything that runs in it.
//!
//! Invariant: a life that is over has no tasks and takes none.

use std::collections::BTreeMap;
use std::fmt::Arguments;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use env::{BoxFuture, Spawn, TokioSpawn};

use tokio::sync::Notify;

use super::clock::TrueClock;
use super::task::{Running, Task};
use crate::Trace;

/// What all machines of a world share: true time, the runtime, what happened, and the panics of their tasks.
#[derive(Clone)]
pub(super) struct Ground {
    pub(super) truth: TrueClock,
    pub(super) runtime: TokioSpawn,
    pub(super) trace: Trace,
    pub(super) panics: Arc<Mutex<Vec<String>>>,
}

/// Until when a machine stands still; all its lives share it.
#[derive(Clone, Default)]
pub(super) struct Standstill {
    until: Arc<Mutex<Duration>>,
}

impl Standstill {
    /// Prolongs it to `until`; never shortens it.
    pub(super) fn prolong(&self, until: Duration) {
        let mut current = self.locked();
        *current = until.max(*current);
    }

    pub(super) fn end(&self) {
        *self.locked() = Duration::ZERO;
    }

    pub(super) fn holds(&self, now: Duration) -> bool {
        now < *self.locked()
    }

    fn locked(&self) -> MutexGuard<'_, Duration> {
        self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) struct Life {
    machine: Arc<str>,
    ground: Ground,
    standstill: Standstill,
    state: Mutex<State>,
    ended: Notify,
}

#[derive(Default)]
struct State {
    over: bool,
    next: u64,
    /// It ends when one of its tasks is about to run so many times more.
    fuse: Option<u64>,
    tasks: BTreeMap<u64, Arc<Task>>,
}

impl Life {
    pub(super) fn new(machine: Arc<str>, ground: Ground, standstill: Standstill) -> Arc<Self> {
        Arc::new(Self { machine, ground, standstill, state: Mutex::default(), ended: Notify::new() })
    }

    pub(super) fn is_over(&self) -> bool {
        self.locked().over
    }

    pub(super) fn is_paused(&self) -> bool {
        self.standstill.holds(self.ground.truth.now())
    }

    /// Starts a task. None where the life is over: it is dropped, and never runs.
    pub(super) fn start(
        self: &Arc<Self>,
        name: &'static str,
        future: BoxFuture<'static, ()>,
    ) -> Option<Arc<Task>> {
        let mut state = self.locked();
        if state.over {
            drop(state);
            drop(future);
            return None;
        }
        let (number, task) = (state.next, Task::new(name, future));
        state.next += 1;
        state.tasks.insert(number, Arc::clone(&task));
        drop(state);
        let running = Running { life: Arc::clone(self), number, task: Arc::clone(&task) };
        self.ground.runtime.task(name, Box::pin(running));
        Some(task)
    }

    pub(super) fn forget(&self, number: u64) {
        self.locked().tasks.remove(&number);
    }

    /// Lets it end at the moment when one of its tasks goes on for the so manieth time from now.
    pub(super) fn arm(&self, polls: u64) {
        self.locked().fuse = Some(polls);
    }

    /// Takes that back.
    pub(super) fn disarm(&self) {
        self.locked().fuse = None;
    }

    /// A task is about to go on. Whether it may: this may have been the last moment.
    pub(super) fn goes_on(&self) -> bool {
        let mut state = self.locked();
        let burnt = match &mut state.fuse {
            Some(0) => true,
            Some(left) => {
                *left -= 1;
                false
            }
            None => false,
        };
        let over = state.over;
        drop(state);
        if burnt && !over {
            self.end();
        }
        !over && !burnt
    }

    /// Ends it: every task is dropped where it stands, in the order in which they were started.
    pub(super) fn end(&self) {
        let mut state = self.locked();
        if std::mem::replace(&mut state.over, true) {
            return;
        }
        let tasks = std::mem::take(&mut state.tasks);
        drop(state);
        self.note(format_args!("crashes with {} tasks", tasks.len()));
        self.standstill.end();
        tasks.values().for_each(|task| task.kill());
        self.ended.notify_waiters();
    }

    /// Returns once it is over.
    pub(super) async fn ended(&self) {
        let ended = self.ended.notified();
        if !self.is_over() {
            ended.await;
        }
    }

    pub(super) fn note(&self, what: Arguments<'_>) {
        self.ground.trace.record(self.ground.truth.now(), format_args!("{} {what}", self.machine));
    }

    /// Lets every task look whether it may run.
    pub(super) fn wake_all(&self) {
        let tasks: Vec<Arc<Task>> = self.locked().tasks.values().cloned().collect();
        tasks.iter().for_each(|task| task.wake());
    }

    /// The names of what runs, oldest first.
    pub(super) fn tasks(&self) -> Vec<&'static str> {
        self.locked().tasks.values().map(|task| task.name).collect()
    }

    pub(super) fn panicked(&self, task: &str, text: &str) {
        let mut panics = self.ground.panics.lock().unwrap_or_else(PoisonError::into_inner);
        panics.push(format!("task `{task}` on {} panicked: {text}", self.machine));
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        // No task runs and none is dropped under this lock, so nothing panics under it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
