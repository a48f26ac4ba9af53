//! What happens without a request: slices are made ahead and dropped after their time, and the store is asked whether it
//! still takes writes.

use std::sync::Arc;
use std::time::Duration;

use engine::Engine;
use env::Env;
use rpc::{Health, Readiness};
use store::Store;
use tokio::sync::watch;

/// How often the store is asked.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Slices are looked after once in so many looks.
const LOOKS_PER_KEEPING: u32 = 10;

/// Says how the process is, to all who ask.
pub(crate) struct Sign {
    pub(crate) readiness: watch::Sender<Readiness>,
    pub(crate) health: Health,
}

impl Sign {
    /// Says it; whether it is news.
    pub(crate) async fn set(&self, now: Readiness) -> bool {
        let ready = now == Readiness::Ready;
        let changed = self.readiness.send_if_modified(|before| {
            let changed = *before != now;
            *before = now;
            changed
        });
        if changed {
            self.health.set(ready).await;
        }
        changed
    }
}

/// What upkeep works on.
pub(crate) struct Upkeep {
    pub(crate) engine: Engine,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) sign: Arc<Sign>,
    pub(crate) env: Env,
}

impl Upkeep {
    /// Runs until `stopped` says so.
    pub(crate) async fn run(self, mut stopped: watch::Receiver<bool>) {
        for look in (0_u32..).cycle() {
            self.look().await;
            if look % LOOKS_PER_KEEPING == 0 {
                self.keep_slices().await;
            }
            tokio::select! {
                () = self.env.clock.sleep(LOOK_EVERY) => {}
                _stop = stopped.wait_for(|stop| *stop) => return,
            }
        }
    }

    async fn look(&self) {
        match self.store.ready().await {
            Ok(()) => {
                if self.sign.set(Readiness::Ready).await {
                    tracing::info!("ready again");
                }
            }
            Err(error) => {
                if self.sign.set(Readiness::NotReady(error.to_string())).await {
                    tracing::error!(%error, "not ready");
                }
            }
        }
    }

    async fn keep_slices(&self) {
        match self.engine.drop_expired().await {
            Ok(0) => {}
            Ok(dropped) => tracing::info!(dropped, "slices dropped: their retention is over"),
            Err(error) => tracing::warn!(%error, "slices could not be dropped; tried again soon"),
        }
        match self.engine.make_slices_ahead().await {
            Ok(0) => {}
            Ok(made) => tracing::info!(made, "slices made ahead"),
            Err(error) => tracing::warn!(%error, "slices could not be made ahead; tried again soon"),
        }
    }
}
