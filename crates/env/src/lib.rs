//! The seams to the outside world: time, randomness, ids and spawning.
//!
//! Everything in Braid that waits, samples, retries or runs in the background takes an [`Env`] and asks it. So a test
//! can move the clock by hand ([`ManualClock`]) and repeat a run from its seed ([`SeededRandom`]).
//!
//! This is the only crate that may call the real clock, the operating system's randomness, threads or the runtime's
//! spawn functions; `clippy.toml` refuses them everywhere else. No product logic lives here.

mod clock;
mod manual;
mod random;
mod spawn;
mod system;

use std::sync::Arc;

pub use clock::{BootTime, BoxFuture, Clock};
pub use manual::ManualClock;
pub use random::{Random, SeededRandom, fresh_id};
pub use spawn::{JoinError, Spawn, Work, blocking, give_way};
pub use system::{SystemClock, SystemRandom, TokioSpawn};

/// One handle to all seams; cheap to clone and passed down from whoever wires the process together.
#[derive(Clone)]
pub struct Env {
    /// What time it is, and how to wait.
    pub clock: Arc<dyn Clock>,
    /// Where random numbers and ids come from.
    pub random: Arc<dyn Random>,
    /// How background work starts.
    pub spawn: Arc<dyn Spawn>,
}

impl Env {
    /// The real thing: system clocks, the operating system's randomness, the current Tokio runtime and real threads.
    ///
    /// Must be called inside a Tokio runtime.
    pub fn system() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            spawn: Arc::new(TokioSpawn::current()),
        }
    }
}

impl std::fmt::Debug for Env {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Env").finish_non_exhaustive()
    }
}
