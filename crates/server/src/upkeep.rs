//! What happens without a request: slices are made ahead and dropped after their time, blocked ids of other servers are
//! taken over, and the store is asked whether it still takes writes.

use std::sync::Arc;
use std::time::Duration;

use engine::Engine;
use env::Env;
use rpc::{Health, Readiness};
use store::Store;
use tokio::sync::watch;

/// How often the store is asked, also for blocked ids.
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
            self.refresh_blocks().await;
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

    /// What other servers have blocked holds here a look later.
    async fn refresh_blocks(&self) {
        match self.engine.refresh_blocks().await {
            Ok(0) => {}
            Ok(namespaces) => tracing::info!(namespaces, "blocked ids taken over from other servers"),
            Err(error) => tracing::warn!(%error, "blocked ids could not be refreshed; tried again soon"),
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

#[cfg(test)]
mod tests {
    use engine::{NamespaceSpec, NewBlock};
    use env::ManualClock;
    use model::{NamespaceName, SeriesId};
    use store::MemoryStore;

    use super::*;

    #[tokio::test]
    async fn what_another_server_blocks_is_refused_one_look_later() {
        let clock = ManualClock::starting_at(1_774_656_000_000_000_000);
        let env = Env { clock: Arc::new(clock.clone()), ..Env::system() };
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let there = Engine::open(Arc::clone(&store), env.clone()).await.unwrap();
        let name = NamespaceName::new("plays").unwrap();
        there.create_namespace(&name, NamespaceSpec::default()).await.unwrap();
        let here = Engine::open(Arc::clone(&store), env.clone()).await.unwrap();
        let (readiness, _) = watch::channel(Readiness::Ready);
        let sign = Arc::new(Sign { readiness, health: Health::new().await.unwrap() });
        let upkeep = Upkeep { engine: here.clone(), store, sign, env: env.clone() };
        let (stop, stopped) = watch::channel(false);
        env.spawn.task("upkeep", Box::pin(upkeep.run(stopped)));
        clock.sleepers(1).await;
        let block = NewBlock {
            series: SeriesId::new("hot").unwrap(),
            reads: true,
            writes: true,
            reason: String::new(),
            author: String::new(),
            expires: None,
            etag: None,
        };
        there.add_blocks(&name, vec![block]).await.unwrap();
        assert_eq!(here.list_blocks(&name).unwrap().len(), 0);
        clock.advance(LOOK_EVERY);
        clock.sleepers(1).await;
        assert_eq!(here.list_blocks(&name).unwrap().len(), 1);
        stop.send_replace(true);
    }
}
