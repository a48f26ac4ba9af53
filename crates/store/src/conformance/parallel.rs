//! Running parts of a case at the same time.
//!
//! Parts are tasks of their own, so on a runtime with several threads they truly overlap. A part that panics fails
//! the case.

use env::{Spawn, TokioSpawn};
use futures::future::join_all;
use tokio::sync::oneshot;

/// Runs all parts at once and waits for their results, in the order of the parts.
pub(super) async fn all<T, F>(parts: impl IntoIterator<Item = F>) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let spawn = TokioSpawn::current();
    let started: Vec<oneshot::Receiver<T>> = parts.into_iter().map(|part| start(&spawn, part)).collect();
    join_all(started).await.into_iter().map(|result| result.expect("a part of the case panicked")).collect()
}

/// Runs two different parts at once and waits for both.
pub(super) async fn both<A, B>(
    one: impl Future<Output = A> + Send + 'static,
    other: impl Future<Output = B> + Send + 'static,
) -> (A, B)
where
    A: Send + 'static,
    B: Send + 'static,
{
    let spawn = TokioSpawn::current();
    let (one, other) = (start(&spawn, one), start(&spawn, other));
    (one.await.expect("the first part panicked"), other.await.expect("the second part panicked"))
}

fn start<T: Send + 'static>(
    spawn: &TokioSpawn,
    part: impl Future<Output = T> + Send + 'static,
) -> oneshot::Receiver<T> {
    let (done, result) = oneshot::channel();
    let task = async move {
        // Where another part failed the case is over, and nobody takes this result.
        let _over = done.send(part.await);
    };
    spawn.task("conformance", Box::pin(task));
    result
}
