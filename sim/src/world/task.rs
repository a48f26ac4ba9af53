//! One task of a machine: a future that runs only while its machine does.
//!
//! The future lies in a slot beside the machine, so that a crash can drop it at whatever await it stands. It is out of
//! the slot while it is polled, and no lock is held then, so it may do anything to its own machine, also crash it.
//! Invariant: a task whose life is over is never polled again.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use env::BoxFuture;

use super::life::Life;

/// What is known of a task outside of it.
pub(super) struct Task {
    pub(super) name: &'static str,
    slot: Mutex<Slot>,
}

struct Slot {
    future: Option<BoxFuture<'static, ()>>,
    waker: Option<Waker>,
    cancelled: bool,
}

impl Task {
    pub(super) fn new(name: &'static str, future: BoxFuture<'static, ()>) -> Arc<Self> {
        let slot = Slot { future: Some(future), waker: None, cancelled: false };
        Arc::new(Self { name, slot: Mutex::new(slot) })
    }

    /// Lets it look again whether it may run.
    pub(super) fn wake(&self) {
        let waker = self.locked().waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Nobody wants its result: it ends as soon as its machine runs.
    pub(super) fn cancel(&self) {
        self.locked().cancelled = true;
        self.wake();
    }

    /// Drops what it was doing. Where it runs right now, it does so itself when it comes to an await.
    pub(super) fn kill(&self) {
        let future = self.locked().future.take();
        drop(future);
        self.wake();
    }

    fn locked(&self) -> MutexGuard<'_, Slot> {
        // No future is polled or dropped under this lock, so nothing panics under it.
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Polls a task for as long as it may run. This is what the runtime has.
pub(super) struct Running {
    pub(super) life: Arc<Life>,
    pub(super) number: u64,
    pub(super) task: Arc<Task>,
}

impl Running {
    fn end(&self) -> Poll<()> {
        self.life.forget(self.number);
        self.task.kill();
        Poll::Ready(())
    }

    /// Takes the future out to be polled. None: not now, or never again.
    fn take(&self, context: &Context<'_>) -> Result<BoxFuture<'static, ()>, Poll<()>> {
        if self.life.is_over() {
            return Err(self.end());
        }
        let paused = self.life.is_paused();
        let mut slot = self.task.locked();
        slot.waker = Some(context.waker().clone());
        if paused {
            return Err(Poll::Pending);
        }
        let cancelled = slot.cancelled;
        drop(slot);
        if cancelled || !self.life.goes_on() {
            return Err(self.end());
        }
        let future = self.task.locked().future.take();
        future.ok_or_else(|| self.end())
    }
}

impl Future for Running {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut future = match self.take(context) {
            Ok(future) => future,
            Err(not_now) => return not_now,
        };
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        match polled {
            Ok(Poll::Pending) if !self.life.is_over() => {
                self.task.locked().future = Some(future);
                Poll::Pending
            }
            Ok(_) => {
                drop(future);
                self.end()
            }
            Err(panic) => {
                self.life.panicked(self.task.name, &text_of(&*panic));
                self.end()
            }
        }
    }
}

impl Drop for Running {
    /// The runtime ends with the world: what a task holds, its machine among it, must not outlive that.
    fn drop(&mut self) {
        let _ended = self.end();
    }
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
