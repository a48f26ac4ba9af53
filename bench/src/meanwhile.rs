//! Something that goes on and on beside what is measured, on the same runtime.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, anyhow};
use env::Env;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::harness::Sample;

/// Runs `work` while `again` is done over and over, at least once; with what that came to, added up. What is under way when `work` ends is
/// brought to its end, and a failure of either fails both.
pub(crate) fn meanwhile<F>(
    runtime: &Runtime,
    again: impl Fn() -> F + Send + Sync + 'static,
    work: impl FnOnce() -> Result<Sample>,
) -> Result<(Sample, u64)>
where
    F: Future<Output = Result<u64>> + Send,
{
    let over = Arc::new(AtomicBool::new(false));
    let (done, ended) = oneshot::channel();
    let stop = Arc::clone(&over);
    let task = async move {
        let all = async {
            let mut sum = 0;
            loop {
                sum += again().await?;
                if stop.load(Ordering::Relaxed) {
                    return Ok::<u64, anyhow::Error>(sum);
                }
            }
        };
        // Whoever waits for it has failed already if nobody does.
        let _unheard = done.send(all.await);
    };
    {
        let _inside = runtime.enter();
        Env::system().spawn.task("bench-meanwhile", Box::pin(task));
    }
    let sample = work();
    over.store(true, Ordering::Relaxed);
    let sum =
        runtime.block_on(ended).map_err(|_| anyhow!("what went on meanwhile ended without a word"))??;
    Ok((sample?, sum))
}

#[cfg(test)]
mod tests {
    use anyhow::bail;
    use tokio::runtime::Builder;

    use super::*;

    #[test]
    fn it_goes_on_until_the_work_is_done_and_its_failure_counts() {
        let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let work = || Ok(Sample::default());
        assert!(meanwhile(&runtime, || async { Ok(1) }, work).unwrap().1 >= 1);
        let fails = || async { bail!("disk full") };
        assert!(meanwhile(&runtime, fails, work).is_err());
    }
}
