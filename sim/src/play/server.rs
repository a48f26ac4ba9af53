//! One server: its machine, its way to the store, and the engine of its present life with the loops that keep it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::{Engine, Member, Options, SplitLimits};
use store::Store;

use super::dice::Dice;
use super::stage::Stage;
use crate::Machine;
use crate::cluster::Link;

/// Slices are looked after once in so many rounds, as the server does.
const ROUNDS_PER_KEEPING: u32 = 10;
/// Tables that nothing names are looked for once in so many; more often than the server does.
const ROUNDS_PER_SWEEP: u32 = 150;
/// Filters and read modes are looked after so often, as the server does; in quiet hours once in so many rounds.
const ROUTES_EVERY: Duration = Duration::from_secs(5);
const QUIET_ROUNDS: u32 = 9;

/// Splits go slowly, by small pages: there is time for something to happen between any two of them.
const SPLITS: SplitLimits = SplitLimits {
    at_once: 2,
    bytes_per_second: 16 << 10,
    page_bytes: 16 << 10,
    disk_stop: 0.75,
    disk_abort: 0.85,
};

/// A server.
pub(super) struct Server {
    pub(super) machine: Machine,
    pub(super) link: Link,
    store: Arc<dyn Store>,
    engine: Mutex<Option<Engine>>,
    /// Until then its filters stay as they are.
    late_until: Arc<Mutex<Duration>>,
}

impl Server {
    pub(super) fn new(machine: Machine, link: Link, store: Arc<dyn Store>) -> Self {
        Self { machine, link, store, engine: Mutex::default(), late_until: Arc::default() }
    }

    /// The engine that runs on it; none while there is none.
    pub(super) fn engine(&self) -> Option<Engine> {
        let running = self.machine.is_running();
        self.engine.lock().unwrap_or_else(PoisonError::into_inner).clone().filter(|_| running)
    }

    /// Lets its filters get old.
    pub(super) fn keep_filters(&self, until: Duration) {
        *self.late_until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    fn set(&self, engine: Option<Engine>) {
        *self.engine.lock().unwrap_or_else(PoisonError::into_inner) = engine;
    }

    /// Opens the engine, lets it run until the machine crashes, starts the machine again; for ever.
    pub(super) async fn live(self: Arc<Self>, stage: Stage, dice: Dice) {
        loop {
            if let Some(engine) = self.open(&stage).await {
                self.set(Some(engine.clone()));
                self.start_loops(&stage, &engine);
                self.machine.stopped().await;
                stage.records.look(&stage);
                let at_work = stage.records.is_at_work(&engine.server_id());
                stage.ledger.count(|counts| counts.crashed_at_work += u64::from(at_work));
            }
            self.set(None);
            stage.ledger.count(|counts| counts.crashes += 1);
            let most = if stage.is_over() { 1 } else { 40 };
            stage.sleep(dice.seconds(0, most)).await;
            self.machine.restart();
        }
    }

    /// Opens the engine; none where the machine crashed first.
    async fn open(&self, stage: &Stage) -> Option<Engine> {
        while self.machine.is_running() {
            let member = Member { address: self.machine.name().to_owned(), ..Member::default() };
            let options = Options {
                member,
                splits: SPLITS,
                #[cfg(feature = "seeded-bugs")]
                bug: stage.plot.bug,
                ..Options::default()
            };
            let opened = Engine::open_with(Arc::clone(&self.store), self.machine.env(), options);
            match Box::pin(self.machine.call(opened)).await {
                Ok(Ok(engine)) => return Some(engine),
                Ok(Err(error)) => stage.note(format_args!("{} cannot open: {error}", self.machine.name())),
                Err(_) => return None,
            }
            stage.sleep(Duration::from_secs(1)).await;
        }
        None
    }

    fn start_loops(&self, stage: &Stage, engine: &Engine) {
        let env = self.machine.env();
        let (follow, keep) = (follow(stage.clone(), engine.clone()), keep(stage.clone(), engine.clone()));
        let clock = (Arc::clone(&env.clock), Arc::clone(&env.clock));
        env.spawn.task("refresh", Box::pin(follow(clock.0)));
        env.spawn.task("keeper", Box::pin(keep(clock.1)));
        let late_until = Arc::clone(&self.late_until);
        let clock = Arc::clone(&env.clock);
        env.spawn.task("routes", Box::pin(route(stage.clone(), engine.clone(), clock, late_until)));
        if stage.plot.splits {
            env.spawn
                .task("detections", Box::pin(detect(stage.clone(), engine.clone(), Arc::clone(&env.clock))));
            for _ in 0..engine.splits_at_once() {
                env.spawn
                    .task("splits", Box::pin(split(stage.clone(), engine.clone(), Arc::clone(&env.clock))));
            }
        }
    }
}

type Work = env::BoxFuture<'static, ()>;

/// Follows what others change.
fn follow(stage: Stage, engine: Engine) -> impl FnOnce(Arc<dyn env::Clock>) -> Work {
    move |clock| {
        Box::pin(async move {
            let mut was_leased = true;
            loop {
                let leased_before = engine.is_leased();
                let refreshed = engine.refresh().await;
                if was_leased && (!leased_before || !engine.is_leased()) {
                    stage.ledger.count(|counts| counts.leases_lost += 1);
                }
                was_leased = refreshed.is_ok() && engine.is_leased();
                clock.sleep(stage.pace()).await;
            }
        })
    }
}

/// Makes candidates of what reads find, some time later. What a server has not taken up when it crashes is lost, and what reads
/// find on several servers comes several times.
async fn detect(stage: Stage, engine: Engine, clock: Arc<dyn env::Clock>) {
    loop {
        engine.detection().await;
        clock.sleep(stage.pace()).await;
        let _found_again = engine.take_detections().await;
    }
}

/// Works on splits.
async fn split(stage: Stage, engine: Engine, clock: Arc<dyn env::Clock>) {
    loop {
        if matches!(engine.work_on_splits().await, Ok(true)) {
            continue;
        }
        let soon = clock.sleep(stage.pace() * 5);
        futures::future::select(Box::pin(engine.split_work()), Box::pin(soon)).await;
    }
}

/// Keeps filters up to date, and moves read modes on.
async fn route(stage: Stage, engine: Engine, clock: Arc<dyn env::Clock>, late_until: Arc<Mutex<Duration>>) {
    for round in (0_u32..).cycle() {
        clock.sleep(ROUTES_EVERY).await;
        if stage.is_slow() && !round.is_multiple_of(QUIET_ROUNDS) {
            continue;
        }
        // What fails is tried again in the next round.
        if *late_until.lock().unwrap_or_else(PoisonError::into_inner) <= stage.world.now() {
            let _later = engine.refresh_filters().await;
        }
        let moved = engine.advance_read_modes().await.unwrap_or(0);
        stage.ledger.count(|counts| counts.advanced += moved as u64);
    }
}

/// Looks after slices and what is left behind.
fn keep(stage: Stage, engine: Engine) -> impl FnOnce(Arc<dyn env::Clock>) -> Work {
    move |clock| {
        Box::pin(async move {
            for round in (0_u32..).cycle() {
                // What fails is tried again in the next round.
                let _later = engine.settle().await;
                if round.is_multiple_of(ROUNDS_PER_KEEPING) || stage.is_slow() {
                    let _later = engine.drop_expired().await;
                    let _later = engine.make_slices_ahead().await;
                    let _later = engine.close_time().await;
                }
                if round.is_multiple_of(ROUNDS_PER_SWEEP) {
                    let _later = engine.sweep_tables().await;
                }
                clock.sleep(stage.pace()).await;
            }
        })
    }
}
