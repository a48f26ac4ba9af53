//! What happens without a request: what other servers change is taken over, slices are made ahead and dropped after their time,
//! reads learn what was split and move on to it, the shape of future slices is tuned, and the store is asked whether it still takes
//! writes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use engine::Engine;
use env::Env;
use rpc::{Health, Readiness};
use store::Store;
use tokio::sync::watch;

use crate::config::Role;
use crate::queue::{Kafka, Queue};

/// How often the store is asked, also for what has changed.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Slices are looked after once in so many rounds.
const ROUNDS_PER_KEEPING: u32 = 10;
/// Workers look so often for splits that other servers have made work of, or whose time has come.
const SPLITS_EVERY: Duration = Duration::from_secs(5);
/// So often filters are looked at for what other servers have split, and read modes for their next step.
const FILTERS_EVERY: Duration = Duration::from_secs(5);
/// So often it is asked whether a namespace is due to be tuned.
const TUNE_EVERY: Duration = Duration::from_secs(60);
/// Splits are counted, for the metrics, once in so many rounds.
const ROUNDS_PER_COUNT: u32 = 30;
/// Left-over tables are looked for once in so many.
const ROUNDS_PER_SWEEP: u32 = 3_600;

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
#[derive(Clone)]
pub(crate) struct Upkeep {
    pub(crate) engine: Engine,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) queue: Queue,
    pub(crate) sign: Arc<Sign>,
    pub(crate) env: Env,
}

impl Upkeep {
    /// Starts all kinds of work that these roles ask for, until `stopped` says so. They run apart: the lease must not wait for a
    /// slice to be dropped.
    pub(crate) fn start(self, roles: &BTreeSet<Role>, stopped: &watch::Receiver<bool>) {
        let spawn = Arc::clone(&self.env.spawn);
        if roles.contains(&Role::Api) {
            spawn.task("braid-detections", Box::pin(self.clone().detect(stopped.clone())));
            spawn.task("braid-routes", Box::pin(self.clone().route(stopped.clone())));
        }
        if let Queue::Kafka(kafka) = &self.queue {
            spawn.task("braid-queue", Box::pin(watch_queue(Arc::clone(kafka), stopped.clone())));
        }
        if roles.contains(&Role::SplitWorker) && self.engine.splits_at_once() > 0 {
            for _ in 0..self.engine.splits_at_once() {
                spawn.task("braid-split", Box::pin(self.clone().split(stopped.clone())));
            }
            if let Queue::Kafka(kafka) = &self.queue {
                let (kafka, engine, stopped) = (Arc::clone(kafka), self.engine.clone(), stopped.clone());
                spawn.task("braid-taker", Box::pin(async move { kafka.work(engine, stopped).await }));
            }
        }
        let keeps_slices = roles.contains(&Role::SliceKeeper);
        spawn.task("braid-keeper", Box::pin(self.clone().keep(keeps_slices, stopped.clone())));
        if roles.contains(&Role::Tuner) {
            spawn.task("braid-tuner", Box::pin(self.clone().tune(stopped.clone())));
        }
        spawn.task("braid-refresh", Box::pin(self.follow(stopped.clone())));
    }

    /// Passes on what reads find.
    async fn detect(self, mut stopped: watch::Receiver<bool>) {
        loop {
            tokio::select! {
                () = self.engine.detection() => {}
                _stop = stopped.wait_for(|stop| *stop) => return,
            }
            self.queue.carry(&self.engine).await;
        }
    }

    /// Works on splits. What is under way at the stop is left as it is: another worker goes on from its checkpoint.
    async fn split(self, mut stopped: watch::Receiver<bool>) {
        loop {
            let worked = tokio::select! {
                worked = self.engine.work_on_splits() => worked,
                _stop = stopped.wait_for(|stop| *stop) => return,
            };
            match worked {
                Ok(true) => continue,
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "splits could not be looked after; tried again soon"),
            }
            tokio::select! {
                () = self.engine.split_work() => {}
                () = self.env.clock.sleep(SPLITS_EVERY) => {}
                _stop = stopped.wait_for(|stop| *stop) => return,
            }
        }
    }

    /// Lets reads know what was split, and moves them on.
    async fn route(self, mut stopped: watch::Receiver<bool>) {
        loop {
            tokio::select! {
                () = self.route_once() => {}
                _stop = stopped.wait_for(|stop| *stop) => return,
            }
            tokio::select! {
                () = self.env.clock.sleep(FILTERS_EVERY) => {}
                _stop = stopped.wait_for(|stop| *stop) => return,
            }
        }
    }

    async fn route_once(&self) {
        match self.engine.refresh_filters().await {
            Ok(0) => {}
            Ok(read) => tracing::debug!(read, "filters read that have changed"),
            Err(error) => tracing::warn!(%error, "filters could not be refreshed; tried again soon"),
        }
        // What moves is told by the engine, with the figures.
        if let Err(error) = self.engine.advance_read_modes().await {
            tracing::warn!(%error, "read modes could not be looked after; tried again soon");
        }
    }

    /// Looks at closed slices, and proposes how future ones should be cut.
    async fn tune(self, mut stopped: watch::Receiver<bool>) {
        loop {
            tokio::select! {
                tuned = self.engine.tune() => match tuned {
                    Ok(0) => {}
                    Ok(looked) => tracing::debug!(looked, "namespaces looked at by the tuner"),
                    Err(error) => tracing::warn!(%error, "a namespace could not be tuned; tried again soon"),
                },
                _stop = stopped.wait_for(|stop| *stop) => return,
            }
            tokio::select! {
                () = self.env.clock.sleep(TUNE_EVERY) => {}
                _stop = stopped.wait_for(|stop| *stop) => return,
            }
        }
    }

    /// Follows what other servers change, and looks whether the store is well.
    async fn follow(self, mut stopped: watch::Receiver<bool>) {
        loop {
            self.refresh().await;
            self.look().await;
            tokio::select! {
                () = self.env.clock.sleep(LOOK_EVERY) => {}
                _stop = stopped.wait_for(|stop| *stop) => return,
            }
        }
    }

    /// Looks after slices and what is left behind, and writes down what this server has changed.
    async fn keep(self, keeps_slices: bool, mut stopped: watch::Receiver<bool>) {
        for round in (0_u32..).cycle() {
            tokio::select! {
                () = self.keep_once(round, keeps_slices) => {}
                _stop = stopped.wait_for(|stop| *stop) => return,
            }
            tokio::select! {
                () = self.env.clock.sleep(LOOK_EVERY) => {}
                _stop = stopped.wait_for(|stop| *stop) => return,
            }
        }
    }

    async fn keep_once(&self, round: u32, keeps_slices: bool) {
        if let Err(error) = self.engine.settle().await {
            tracing::warn!(%error, "changes could not be written down; tried again soon");
        }
        if keeps_slices && round.is_multiple_of(ROUNDS_PER_KEEPING) {
            self.keep_slices().await;
        }
        if round.is_multiple_of(ROUNDS_PER_COUNT)
            && let Err(error) = self.engine.count_splits().await
        {
            tracing::warn!(%error, "splits could not be counted; tried again");
        }
        if keeps_slices && round.is_multiple_of(ROUNDS_PER_SWEEP) {
            match self.engine.sweep_tables().await {
                Ok(0) => {}
                Ok(swept) => tracing::info!(swept, "tables dropped that nothing named any more"),
                Err(error) => tracing::warn!(%error, "left-over tables could not be looked for; tried again"),
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

    /// What other servers have changed holds here a look later.
    async fn refresh(&self) {
        let was_leased = self.engine.is_leased();
        match self.engine.refresh().await {
            Ok(0) => {}
            Ok(changes) => tracing::debug!(changes, "taken over from other servers"),
            Err(error) => tracing::warn!(%error, "the view cannot be refreshed; tried again soon"),
        }
        if was_leased && !self.engine.is_leased() {
            tracing::error!(
                "the lease is lost: reads may be partial, and writes are accepted by this server's own clock for an hour"
            );
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
        if let Err(error) = self.engine.close_time().await {
            tracing::warn!(%error, "time could not be closed; tried again soon");
        }
    }
}

/// Asks brokers until the stop.
async fn watch_queue(kafka: Arc<Kafka>, mut stopped: watch::Receiver<bool>) {
    tokio::select! {
        () = kafka.watch() => {}
        _stop = stopped.wait_for(|stop| *stop) => {}
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
        let here =
            Engine::open_with(Arc::clone(&store), env.clone(), engine::Options::default()).await.unwrap();
        let (readiness, _) = watch::channel(Readiness::Ready);
        let sign = Arc::new(Sign { readiness, health: Health::new().await.unwrap() });
        let queue = Queue::Embedded;
        let upkeep = Upkeep { engine: here.clone(), store, queue, sign, env: env.clone() };
        let (stop, stopped) = watch::channel(false);
        upkeep.start(&Role::ALL.into(), &stopped);
        clock.sleepers(6).await;
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
        clock.sleepers(6).await;
        assert_eq!(here.list_blocks(&name).unwrap().len(), 1);
        stop.send_replace(true);
    }
}
