//! Changes that take effect after their caller was told that nobody knows.
//!
//! The contract lets such a change of metadata happen only until the record is read or changed again. So whoever
//! touches metadata through the layer first settles what is still late, which then happens before the touch. This is
//! stricter than the contract (it settles all records, not one) and never weaker. Invariant: each change runs at most
//! once, and nobody passes while it runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use env::{BoxFuture, Env};

/// A change that waits; none once it was done.
type Slot = Arc<tokio::sync::Mutex<Option<BoxFuture<'static, ()>>>>;

#[derive(Default)]
pub(super) struct Late {
    waiting: Mutex<Vec<Waiting>>,
}

struct Waiting {
    slot: Slot,
    is_meta: bool,
}

impl Late {
    /// Lets `change` happen after `wait`, or earlier if it is settled.
    pub(super) fn start(&self, env: &Env, wait: Duration, change: BoxFuture<'static, ()>, is_meta: bool) {
        let slot: Slot = Arc::new(tokio::sync::Mutex::new(Some(change)));
        let mut waiting = self.locked();
        forget_done(&mut waiting);
        waiting.push(Waiting { slot: Arc::clone(&slot), is_meta });
        drop(waiting);
        let sleep = env.clock.sleep(wait);
        let task = async move {
            sleep.await;
            finish(&slot).await;
        };
        env.spawn.task("late store change", Box::pin(task));
    }

    /// Does what still waits, oldest first: all of it, or only changes of metadata.
    pub(super) async fn settle(&self, only_meta: bool) {
        for slot in self.matching(only_meta) {
            finish(&slot).await;
        }
        forget_done(&mut self.locked());
    }

    fn matching(&self, only_meta: bool) -> Vec<Slot> {
        let waiting = self.locked();
        waiting.iter().filter(|late| late.is_meta || !only_meta).map(|late| Arc::clone(&late.slot)).collect()
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn forget_done(waiting: &mut Vec<Waiting>) {
    // A slot that is locked runs right now for somebody else.
    waiting.retain(|late| late.slot.try_lock().map_or(true, |slot| slot.is_some()));
}

/// Runs the change where it lies, so that a caller who is dropped half way leaves it for the next one.
async fn finish(slot: &Slot) {
    let mut slot = slot.lock().await;
    if let Some(change) = slot.as_mut() {
        change.await;
        *slot = None;
    }
}
