//! Requests that start when they are to start, whatever became of those before: an open loop, as many users make it who know nothing
//! of each other. Latency counts from the intended start, so who waits for a busy server is not left out.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use env::{Clock, Random, SeededRandom, Spawn, SystemClock, TokioSpawn};
use futures::future::{Either, select};
use tokio::sync::mpsc;

/// A random number has so many bits.
const BITS: u32 = 53;

/// What became of the requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Became {
    /// How long each took from its intended start; those that were lost, as long as somebody waited.
    pub(crate) took: Vec<Duration>,
    /// Answers that failed, or did not come in time.
    pub(crate) lost: u64,
    /// Answers that came before the last request had to start.
    pub(crate) in_time: u64,
}

/// When requests start: so many a second on average, with chance between them; the same for the same seed.
pub(crate) fn arrivals(per_second: f64, length: Duration, seed: u64) -> Vec<Duration> {
    let random = SeededRandom::new(seed);
    let mut at = 0.0;
    let next = || {
        let chance = random.below(1 << BITS) as f64 / 2_f64.powi(i32::try_from(BITS).unwrap_or(0));
        at += -(1.0 - chance).ln() / per_second;
        Some(at)
    };
    std::iter::from_fn(next)
        .take_while(|at| *at < length.as_secs_f64())
        .map(Duration::from_secs_f64)
        .collect()
}

/// Starts a request at each of these times, and waits for each no longer than `patience`. Has to run on a runtime.
pub(crate) async fn run<F>(
    arrivals: &[Duration],
    patience: Duration,
    call: impl Fn(u64) -> F,
) -> Result<Became>
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    let spawn = Arc::new(TokioSpawn::current());
    let (ended, mut ends) = mpsc::channel(arrivals.len().max(1));
    let start = SystemClock.boot();
    for (number, at) in (0_u64..).zip(arrivals) {
        let (at, intended) = (*at, start + *at);
        let early = at.saturating_sub(SystemClock.boot().since(start));
        if !early.is_zero() {
            SystemClock.sleep(early).await;
        }
        let (call, ended) = (Box::pin(call(number)), ended.clone());
        let task = async move {
            let late = SystemClock.boot().since(intended);
            let answered = match select(call, SystemClock.sleep(patience.saturating_sub(late))).await {
                Either::Left((answer, _)) => answer.is_ok(),
                Either::Right(_) => false,
            };
            // There is room for all of them.
            let _kept = ended.try_send((answered, at, SystemClock.boot().since(intended)));
        };
        spawn.task("bench-arrival", Box::pin(task));
    }
    drop(ended);
    let last = arrivals.last().copied().unwrap_or_default();
    let mut became = Became::default();
    let mut open = arrivals.len();
    while let Some((answered, at, took)) = ends.recv().await {
        open -= 1;
        became.lost += u64::from(!answered);
        became.took.push(if answered { took } else { patience });
        became.in_time += u64::from(answered && at + took <= last);
    }
    Some(became).filter(|_| open == 0).context("some requests ended without a word")
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn as_many_arrive_as_are_asked_for_and_always_the_same() {
        let second = Duration::from_secs(1);
        let times = arrivals(500.0, 20 * second, 7);
        assert!((9_600..10_400).contains(&times.len()), "{}", times.len());
        assert!(times.is_sorted() && times.iter().all(|at| *at < 20 * second));
        assert_eq!(times, arrivals(500.0, 20 * second, 7));
        assert_ne!(times, arrivals(500.0, 20 * second, 8));
        // Half of the gaps are shorter than 0.69 of the mean.
        let short = times.windows(2).filter(|pair| pair[1] - pair[0] < Duration::from_micros(1_386)).count();
        assert!((4_600..5_400).contains(&short), "{short}");
    }

    #[tokio::test]
    async fn what_fails_or_does_not_come_is_lost() {
        let patience = Duration::from_millis(20);
        let times = [Duration::ZERO, Duration::ZERO, Duration::ZERO, 5 * patience];
        let call = |number| async move {
            match number {
                0 | 3 => Ok(()),
                1 => bail!("refused"),
                _ => std::future::pending().await,
            }
        };
        let became = run(&times, patience, call).await.unwrap();
        assert_eq!((became.lost, became.took.len()), (2, 4));
        assert_eq!(became.took.iter().filter(|took| **took == patience).count(), 2);
        assert_eq!(became.in_time, 1, "the last one starts when the time is over");
    }
}
