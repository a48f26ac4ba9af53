//! Several workers at once, each a task of the runtime.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Result, bail};
use env::{Clock, Spawn, SystemClock, TokioSpawn};
use tokio::sync::mpsc;

/// Runs `workers` of `work`, numbered from 0, and adds up what they did. The first failure is the failure of all.
pub(crate) async fn work<F>(workers: u64, work: impl Fn(u64) -> F) -> Result<u64>
where
    F: Future<Output = Result<u64>> + Send + 'static,
{
    let spawn = Arc::new(TokioSpawn::current());
    let (ended, mut ends) = mpsc::channel(1);
    for worker in 0..workers {
        let (task, ended) = (work(worker), ended.clone());
        let task = async move {
            let done = task.await;
            // Nobody listens any more once another worker has failed.
            let _gone = ended.send(done).await;
        };
        spawn.task("bench-worker", Box::pin(task));
    }
    drop(ended);
    let (mut sum, mut came) = (0, 0);
    while let Some(done) = ends.recv().await {
        sum += done?;
        came += 1;
    }
    if came < workers {
        bail!("only {came} of {workers} workers came to their end");
    }
    Ok(sum)
}

/// Runs `workers`, each of which makes so many calls one after the other; adds up what they gave, with how long each took.
pub(crate) async fn timed<F>(
    workers: u64,
    calls: u64,
    call: impl Fn(u64, u64) -> F + Clone + Send + 'static,
) -> Result<(u64, Vec<Duration>)>
where
    F: Future<Output = Result<u64>> + Send,
{
    let all = Arc::new(Mutex::new(Vec::new()));
    let sum = work(workers, |worker| {
        let (all, call) = (Arc::clone(&all), call.clone());
        async move {
            let (mut sum, mut took) = (0, Vec::new());
            for at in 0..calls {
                let start = SystemClock.boot();
                sum += call(worker, at).await?;
                took.push(SystemClock.boot().since(start));
            }
            all.lock().unwrap_or_else(PoisonError::into_inner).extend(took);
            Ok(sum)
        }
    })
    .await?;
    let took = std::mem::take(&mut *all.lock().unwrap_or_else(PoisonError::into_inner));
    Ok((sum, took))
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[tokio::test]
    async fn what_was_done_is_added_up() {
        assert_eq!(work(4, |worker| async move { Ok(worker) }).await.unwrap(), 6);
        assert_eq!(work(0, |worker| async move { Ok(worker) }).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn every_call_is_timed() {
        let (sum, took) = timed(3, 4, |worker, at| async move { Ok(worker * 10 + at) }).await.unwrap();
        assert_eq!((sum, took.len()), (138, 12));
    }

    #[tokio::test]
    async fn one_failure_fails_all() {
        let result =
            work(3, |worker| async move { if worker == 1 { Err(anyhow!("disk full")) } else { Ok(1) } });
        assert_eq!(result.await.unwrap_err().to_string(), "disk full");
    }
}
