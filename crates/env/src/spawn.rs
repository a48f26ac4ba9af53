//! Starting work as a capability.

use std::future::poll_fn;
use std::task::Poll;

use tokio::sync::oneshot;

use crate::BoxFuture;

/// Work to run on a thread of its own.
pub type Work = Box<dyn FnOnce() + Send>;

/// How background work starts. Whoever spawns keeps the means to end it (a channel, a shared flag): nothing here
/// can stop a task from outside.
pub trait Spawn: Send + Sync + 'static {
    /// Runs `task` beside the caller until it ends. `name` is for humans and profilers.
    fn task(&self, name: &'static str, task: BoxFuture<'static, ()>);

    /// Runs short blocking work (a disk read) away from the async threads, on a shared pool.
    fn pooled(&self, work: Work);

    /// Runs long-lived blocking work on a thread of its own.
    fn thread(&self, name: &'static str, work: Work) -> std::io::Result<()>;
}

/// The work did not finish: it panicked, or the runtime is shutting down.
#[derive(Debug, PartialEq, Eq)]
pub struct JoinError;

impl std::fmt::Display for JoinError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("background work ended without a result")
    }
}

impl std::error::Error for JoinError {}

/// Lets whatever else is due go first, once. A task that was just begun lies where no other thread of Tokio takes it from; whoever has
/// long work of its own to do before it waits again would keep it from beginning all that time.
pub async fn give_way() {
    let mut gave_way = false;
    poll_fn(|context| {
        if std::mem::replace(&mut gave_way, true) {
            return Poll::Ready(());
        }
        // Not Tokio's own `yield_now`, which keeps this task on its thread: the other one may go on with it.
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Runs `work` on the blocking pool and waits for its result.
pub async fn blocking<T: Send + 'static>(
    spawn: &dyn Spawn,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    let (done, result) = oneshot::channel();
    spawn.pooled(Box::new(move || {
        // The caller may have been cancelled; then nobody wants the result.
        let _cancelled = done.send(work());
    }));
    result.await.map_err(|_| JoinError)
}
