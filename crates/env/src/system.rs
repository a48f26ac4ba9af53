//! The real clock, randomness and spawning.
#![expect(clippy::disallowed_methods, reason = "this file is what the bans in clippy.toml point at")]

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};
use tokio::runtime::Handle;

use crate::spawn::Work;
use crate::{BootTime, BoxFuture, Clock, Random, Spawn};

/// The machine's clocks.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

fn duration(time: Timespec) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or(0))
}

impl Clock for SystemClock {
    fn wall(&self) -> i64 {
        i64::try_from(duration(clock_gettime(ClockId::Realtime)).as_nanos()).unwrap_or(i64::MAX)
    }

    fn boot(&self) -> BootTime {
        BootTime::from_boot(duration(clock_gettime(ClockId::Boottime)))
    }

    fn sleep(&self, wait: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(wait))
    }
}

/// The operating system's randomness, fit for secrets.
#[derive(Clone, Copy, Debug)]
pub struct SystemRandom;

impl Random for SystemRandom {
    #[expect(clippy::expect_used, reason = "without randomness no key and no id is safe: stop the process")]
    fn fill(&self, buffer: &mut [u8]) {
        getrandom::fill(buffer).expect("the operating system has no randomness to give");
    }
}

/// Tasks on a Tokio runtime, threads of the operating system.
#[derive(Clone, Debug)]
pub struct TokioSpawn {
    runtime: Handle,
}

impl TokioSpawn {
    /// Spawns on the runtime this is called in.
    pub fn current() -> Self {
        Self { runtime: Handle::current() }
    }
}

impl Spawn for TokioSpawn {
    fn task(&self, _name: &'static str, task: BoxFuture<'static, ()>) {
        drop(self.runtime.spawn(task));
    }

    fn pooled(&self, work: Work) {
        drop(self.runtime.spawn_blocking(work));
    }

    fn thread(&self, name: &'static str, work: Work) -> std::io::Result<()> {
        std::thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::{Env, blocking, give_way};

    #[tokio::test]
    async fn the_boot_clock_moves_on_while_asleep() {
        let env = Env::system();
        let before = env.clock.boot();
        env.clock.sleep(Duration::from_millis(5)).await;
        assert!(env.clock.boot().since(before) >= Duration::from_millis(5));
        assert!(env.clock.wall() > 1_700_000_000_000_000_000);
    }

    #[test]
    fn the_boot_clock_runs_during_suspend() {
        // The kernel counts the time since boot with suspend in /proc/uptime, in hundredths of a second; the monotone clock
        // that Rust uses stands still meanwhile.
        let uptime = || {
            let text = std::fs::read_to_string("/proc/uptime").unwrap();
            Duration::from_secs_f64(text.split(' ').next().unwrap().parse().unwrap())
        };
        let (before, boot, after) = (uptime(), SystemClock.boot(), uptime());
        let hundredth = Duration::from_millis(10);
        assert!(boot >= BootTime::from_boot(before), "{before:?} {boot:?}");
        assert!(boot <= BootTime::from_boot(after + hundredth), "{boot:?} {after:?}");
    }

    #[tokio::test]
    async fn a_task_begins_when_whoever_started_it_gives_way() {
        let env = Env::system();
        let begun = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&begun);
        env.spawn.task("test", Box::pin(async move { told.store(true, Ordering::SeqCst) }));
        assert!(!begun.load(Ordering::SeqCst), "there is one thread, and it is busy here");
        give_way().await;
        assert!(begun.load(Ordering::SeqCst));
    }

    #[tokio::test]
    async fn blocking_work_answers_and_a_panic_is_an_error() {
        let env = Env::system();
        assert_eq!(blocking(&*env.spawn, || 7).await, Ok(7));
        let quiet: Result<(), _> = blocking(&*env.spawn, || panic!("on purpose")).await;
        assert!(quiet.is_err());
    }
}
