//! What all actors share: the world, the store, the servers, the ledger, and how fast the play goes.

use std::fmt::Arguments;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::evidence::{MISMATCHES, READ_MODES};
use super::ledger::Ledger;
use super::plot::Plot;
use super::records::{Records, SPLITS};
use super::server::Server;
use crate::{Cluster, World};

/// How often servers look for changes while something happens.
const PACE: Duration = Duration::from_secs(1);
/// The same in quiet hours, which are there for time to pass.
const SLOW_PACE: Duration = Duration::from_secs(9);

/// How the play goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    /// Everybody does something all the time.
    Busy,
    /// Now and then somebody does something.
    Quiet,
    /// Only the servers run.
    Over,
    /// The same, slowly: splits come to rest.
    Resting,
}

/// The stage. Clones are the same one.
#[derive(Clone)]
pub(super) struct Stage {
    pub(super) world: World,
    pub(super) cluster: Cluster,
    pub(super) servers: Arc<Vec<Arc<Server>>>,
    pub(super) ledger: Ledger,
    pub(super) plot: Plot,
    pub(super) records: Records,
    mood: Arc<AtomicU64>,
}

impl Stage {
    pub(super) fn new(world: World, cluster: Cluster, servers: Vec<Server>, plot: Plot) -> Self {
        cluster.watch(&[SPLITS, READ_MODES, MISMATCHES]);
        let servers = Arc::new(servers.into_iter().map(Arc::new).collect());
        let (ledger, records) = (Ledger::default(), Records::default());
        Self { world, cluster, servers, ledger, plot, records, mood: Arc::default() }
    }

    pub(super) fn set_mood(&self, mood: Mood) {
        self.note(format_args!("the play is {mood:?}"));
        let number = match mood {
            Mood::Busy => 0,
            Mood::Quiet => 1,
            Mood::Over => 2,
            Mood::Resting => 3,
        };
        self.mood.store(number, Ordering::Relaxed);
    }

    pub(super) fn is_slow(&self) -> bool {
        matches!(self.mood.load(Ordering::Relaxed), 1 | 3)
    }

    pub(super) fn is_over(&self) -> bool {
        self.mood.load(Ordering::Relaxed) >= 2
    }

    /// How long a server waits between two looks.
    pub(super) fn pace(&self) -> Duration {
        if self.is_slow() { SLOW_PACE } else { PACE }
    }

    /// Waits so long; in quiet hours about fifty times as long, or until they are over.
    pub(super) async fn idle(&self, wait: Duration) {
        self.wait(wait, 50).await;
    }

    /// The same for somebody who has something to look at: in quiet hours ten times as long.
    pub(super) async fn linger(&self, wait: Duration) {
        self.wait(wait, 10).await;
    }

    async fn wait(&self, wait: Duration, times: u32) {
        let until = self.world.now() + wait * times;
        self.sleep(wait).await;
        while self.is_slow() && self.world.now() < until {
            self.sleep(wait.max(PACE)).await;
        }
    }

    /// Starts an actor.
    pub(super) fn start(&self, name: &'static str, actor: impl Future<Output = ()> + Send + 'static) {
        self.world.env("actors").spawn.task(name, Box::pin(actor));
    }

    pub(super) async fn sleep(&self, wait: Duration) {
        self.world.clock().sleep(wait).await;
    }

    /// True wall time.
    pub(super) fn wall(&self) -> i64 {
        self.world.clock().wall()
    }

    pub(super) fn note(&self, what: Arguments<'_>) {
        self.world.trace().record(self.world.now(), what);
    }

    /// Something that must not be.
    pub(super) fn wrong(&self, what: String) {
        self.note(format_args!("WRONG: {what}"));
        self.ledger.wrong(self.world.now(), what);
    }

    /// Looks which tables there are.
    pub(super) fn look_at_tables(&self) {
        self.ledger.saw_tables(self.world.now(), self.cluster.tables());
    }
}
