//! Several workers at once, each a task of the runtime.

use std::sync::Arc;

use anyhow::{Result, bail};
use env::{Spawn, TokioSpawn};
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
    async fn one_failure_fails_all() {
        let result =
            work(3, |worker| async move { if worker == 1 { Err(anyhow!("disk full")) } else { Ok(1) } });
        assert_eq!(result.await.unwrap_err().to_string(), "disk full");
    }
}
