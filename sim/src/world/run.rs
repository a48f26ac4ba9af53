//! [`World`]: one run, from its seed to its end.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use env::{Clock, Env, SeededRandom, TokioSpawn};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::clock::TrueClock;
use super::life::Ground;
use super::{Hardware, Machine};
use crate::{Cluster, Trace, cluster};

/// Why a run ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The runtime of the operating system was not to be had.
    #[error("no runtime for the world: {0}; try again with less beside it")]
    Runtime(#[from] io::Error),
    /// The scenario did not end in the longest time that a run may take.
    #[error(transparent)]
    Stuck(#[from] Elapsed),
    /// Tasks panicked; this is what the first ones said.
    #[error("{}", .0.join("; "))]
    Panicked(Vec<String>),
}

/// What was waited for did not happen in the time that it had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not done within {0:?} of simulated time; look at the end of the trace for what it waits for")]
pub struct Elapsed(pub Duration);

/// No scenario takes longer. One in which all wait for something that no time brings gets here at once.
const RUN_MAX: Duration = Duration::from_secs(30 * 86_400);

/// A world. Clones are the same one.
#[derive(Clone)]
pub struct World {
    shared: Arc<Shared>,
}

struct Shared {
    seed: u64,
    ground: Ground,
}

impl World {
    /// Runs `scenario` in a world of `seed`, to its end. What still runs then is dropped.
    pub fn run<T, F>(seed: u64, scenario: impl FnOnce(Self) -> F) -> Result<T, Failure>
    where
        F: Future<Output = T>,
    {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
        let panics = Arc::new(Mutex::new(Vec::new()));
        let result = runtime.block_on(async {
            let ground = Ground {
                truth: TrueClock::start(),
                runtime: TokioSpawn::current(),
                trace: Trace::default(),
                panics: Arc::clone(&panics),
            };
            let world = Self { shared: Arc::new(Shared { seed, ground }) };
            world.within(RUN_MAX, scenario(world.clone())).await
        });
        drop(runtime);
        let panics = std::mem::take(&mut *panics.lock().unwrap_or_else(PoisonError::into_inner));
        if panics.is_empty() { Ok(result?) } else { Err(Failure::Panicked(panics)) }
    }

    /// The seed from which everything here comes.
    pub fn seed(&self) -> u64 {
        self.shared.seed
    }

    /// What happened so far.
    pub fn trace(&self) -> &Trace {
        &self.shared.ground.trace
    }

    /// True time since the world began.
    pub fn now(&self) -> Duration {
        self.shared.ground.truth.now()
    }

    /// The true clock: that of the store and of whoever torments the others.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(self.shared.ground.truth)
    }

    /// A stream of randomness with a name: it does not depend on who draws from the others.
    pub fn random(&self, stream: &str) -> Arc<SeededRandom> {
        Arc::new(SeededRandom::new(xxh3_64_with_seed(stream.as_bytes(), self.shared.seed)))
    }

    /// A machine, running. Names are the caller's to keep apart: two of one name draw the same numbers.
    pub fn machine(&self, name: &str, hardware: Hardware) -> Machine {
        Machine::start(self.clone(), self.shared.ground.clone(), name, hardware)
    }

    /// An outside for code that belongs to no server: true clocks, and nothing ever happens to its tasks.
    pub fn env(&self, name: &str) -> Env {
        let machine = self.machine(name, Hardware::default());
        Env { clock: self.clock(), ..machine.env() }
    }

    /// A store of its own, with what it does in the trace.
    pub fn cluster(&self, options: cluster::Options) -> Cluster {
        Cluster::new(self.clock(), self.random("cluster"), self.trace().clone(), options)
    }

    /// Waits for `work`, at most so long.
    pub async fn within<T>(&self, limit: Duration, work: impl Future<Output = T>) -> Result<T, Elapsed> {
        tokio::select! {
            // What is done counts, even at the last moment. And no order by chance: that chance has no seed.
            biased;
            result = work => Ok(result),
            () = self.shared.ground.truth.sleep(limit) => Err(Elapsed(limit)),
        }
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("seed", &self.shared.seed).finish_non_exhaustive()
    }
}
