//! [`Machine`]: one server, or one client, that can be paused, crashed and started again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use env::{Env, SeededRandom, Spawn};
use tokio::sync::oneshot;

use super::World;
use super::clock::{MachineClock, Ticks};
use super::life::{Ground, Life, Standstill};
use super::spawn::LifeSpawn;
use super::task::Task;

/// How a machine's clock is wrong from the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hardware {
    /// How far its wall clock is ahead, in nanoseconds; negative where it is behind.
    pub wall_error: i64,
    /// How much too fast its clocks run, in millionths; within [`RATE_PPM_MAX`](super::RATE_PPM_MAX) to either side.
    pub rate_ppm: i32,
}

/// The machine crashed before it answered, or does not run: what the call has done, nobody knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{machine} crashed before it answered; ask another one, or this one when it runs again")]
pub struct Crashed {
    machine: Arc<str>,
}

/// A simulated machine. Clones are the same machine.
#[derive(Clone)]
pub struct Machine {
    shared: Arc<Shared>,
}

struct Shared {
    name: Arc<str>,
    world: World,
    ground: Ground,
    ticks: Ticks,
    standstill: Standstill,
    current: Mutex<Current>,
}

struct Current {
    life: Arc<Life>,
    random: Arc<SeededRandom>,
    started: Duration,
    starts: u64,
}

impl Machine {
    pub(super) fn start(world: World, ground: Ground, name: &str, hardware: Hardware) -> Self {
        let name: Arc<str> = name.into();
        let ticks = Ticks::new(ground.truth, hardware.wall_error, hardware.rate_ppm);
        let standstill = Standstill::default();
        let life = Life::new(Arc::clone(&name), ground.clone(), standstill.clone());
        let random = stream(&world, &name, 1);
        let current = Mutex::new(Current { life, random, started: ticks.now(), starts: 1 });
        Self { shared: Arc::new(Shared { name, world, ground, ticks, standstill, current }) }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// The outside as code on the machine sees it in its present life. After a crash, what this one starts is dropped.
    pub fn env(&self) -> Env {
        let current = self.current();
        let clock = MachineClock { ticks: self.shared.ticks.clone(), started: current.started };
        Env {
            clock: Arc::new(clock),
            random: Arc::<SeededRandom>::clone(&current.random),
            spawn: Arc::new(LifeSpawn { life: Arc::clone(&current.life) }),
        }
    }

    /// Runs `future` on the machine and waits for what it gives, as a client waits for a server. Who drops the call
    /// ends what it started there, as soon as the machine runs.
    pub async fn call<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Crashed> {
        let (done, answer) = oneshot::channel();
        let life = Arc::clone(&self.current().life);
        let task = async move {
            // Whoever asked may be gone.
            let _unheard = done.send(future.await);
        };
        let _hang_up = HangUp(life.start("call", Box::pin(task)));
        answer.await.map_err(|_| Crashed { machine: Arc::clone(&self.shared.name) })
    }

    /// Stops everything on it for so long; its clocks go on. A longer pause that holds already stays.
    pub fn pause(&self, wait: Duration) {
        self.note(format_args!("paused for {} us", wait.as_micros()));
        let until = self.shared.ground.truth.now().saturating_add(wait);
        self.shared.standstill.prolong(until);
        let machine = self.clone();
        let sleep = env::Clock::sleep(&self.shared.ground.truth, wait);
        let wake = async move {
            sleep.await;
            machine.wake();
        };
        self.shared.ground.runtime.task("end of a pause", Box::pin(wake));
    }

    /// Ends a pause before its time.
    pub fn resume(&self) {
        self.shared.standstill.end();
        self.wake();
    }

    /// Whether it stands still now.
    pub fn is_paused(&self) -> bool {
        self.shared.standstill.holds(self.shared.ground.truth.now())
    }

    /// Crashes it: its tasks are dropped at whatever await they stand and never polled again, calls to it end in
    /// [`Crashed`], and it does not run until [`Machine::restart`]. A pause ends with it.
    pub fn crash(&self) {
        let life = Arc::clone(&self.current().life);
        life.end();
    }

    /// Crashes it at the moment when one of its tasks is about to go on after an await, `awaits` awaits of all its tasks
    /// from now. Crashes by time meet long waits; by this every await is as likely as any other.
    pub fn crash_after(&self, awaits: u64) {
        let life = Arc::clone(&self.current().life);
        life.note(format_args!("will crash after {awaits} awaits"));
        life.arm(awaits);
    }

    /// Takes a crash back that was to come.
    pub fn spare(&self) {
        let life = Arc::clone(&self.current().life);
        life.disarm();
    }

    /// Returns once its present life is over; at once where it does not run.
    pub async fn stopped(&self) {
        let life = Arc::clone(&self.current().life);
        life.ended().await;
    }

    /// Starts it again after a crash, with nothing on it and its boot clock at zero. One that runs crashes first.
    pub fn restart(&self) {
        self.crash();
        let shared = &*self.shared;
        let life = Life::new(Arc::clone(&shared.name), shared.ground.clone(), shared.standstill.clone());
        let mut current = self.current();
        current.life = life;
        current.started = shared.ticks.now();
        current.starts += 1;
        current.random = stream(&shared.world, &shared.name, current.starts);
        drop(current);
        self.note(format_args!("started again"));
    }

    /// Whether it has not crashed since it was started.
    pub fn is_running(&self) -> bool {
        !self.current().life.is_over()
    }

    /// The names of the tasks on it, oldest first.
    pub fn tasks(&self) -> Vec<&'static str> {
        self.current().life.tasks()
    }

    /// Moves its wall clock by so many nanoseconds, forward or back. Its boot clock does not notice.
    pub fn jump_wall(&self, by: i64) {
        self.note(format_args!("wall clock jumps by {by} ns"));
        self.shared.ticks.jump_wall(by);
    }

    /// Lets its clocks run too fast by so many millionths from now on, or too slow; the bound is
    /// [`RATE_PPM_MAX`](super::RATE_PPM_MAX).
    pub fn set_rate(&self, rate_ppm: i32) {
        self.note(format_args!("clock rate is off by {rate_ppm} ppm"));
        self.shared.ticks.set_rate(rate_ppm);
    }

    fn wake(&self) {
        let life = Arc::clone(&self.current().life);
        life.wake_all();
    }

    fn note(&self, what: std::fmt::Arguments<'_>) {
        let life = Arc::clone(&self.current().life);
        life.note(what);
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        // Nothing under this lock can panic.
        self.shared.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine").field("name", &self.shared.name).finish_non_exhaustive()
    }
}

/// Each life draws other numbers: ids of the one before must not come again.
fn stream(world: &World, name: &str, starts: u64) -> Arc<SeededRandom> {
    world.random(&format!("{name} {starts}"))
}

/// Ends the task of a call that nobody waits for any more.
struct HangUp(Option<Arc<Task>>);

impl Drop for HangUp {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.cancel();
        }
    }
}

#[cfg(test)]
mod tests;
