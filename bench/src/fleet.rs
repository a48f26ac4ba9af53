//! Many servers over one store in memory, on a clock that is moved by hand: each does every second what the upkeep of a
//! server does, and what that asks of the metadata is counted step by step.
//!
//! Servers start spread over ten seconds and go on so, as servers do that were not all started at once. They are asked one
//! after the other, so nobody ever loses a race for a record.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use engine::{Engine, NamespaceSpec, Options};
use env::{Env, ManualClock};
use model::NamespaceName;
use store::layer::Layered;
use store::{MemoryStore, Store};

use crate::counted::{Counted, Tally};

/// 2026-03-28T00:00:00Z
const START_NANOS: i64 = 1_774_656_000_000_000_000;
const SECOND: Duration = Duration::from_secs(1);
/// A server looks after slices once in so many seconds.
const SECONDS_PER_KEEPING: usize = 10;
/// Changes of whoever makes the namespaces, between two times that they are written down.
const CHANGES_PER_SETTLING: usize = 32;

/// What all servers together asked in one second, by what they did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Second {
    /// Taking over what has changed, and reporting: every server.
    pub(crate) refresh: Tally,
    /// Writing down for newcomers what has changed: every server looks whether it has to.
    pub(crate) settle: Tally,
    /// Slices, closed time and servers that are gone: a tenth of the servers.
    pub(crate) keep: Tally,
    /// The change of a namespace, where one was made: one server.
    pub(crate) change: Tally,
}

/// The servers.
pub(crate) struct Fleet {
    counted: Counted,
    clock: ManualClock,
    servers: Vec<Engine>,
    namespaces: Vec<NamespaceName>,
    seconds: usize,
    /// What the last server asked until it was open.
    pub(crate) start: Tally,
}

impl Fleet {
    /// Makes the namespaces, then starts the servers.
    pub(crate) async fn start(servers: usize, namespaces: usize) -> Result<Self> {
        let counted = Counted::default();
        let store: Arc<dyn Store> = Arc::new(Layered::new(Arc::new(MemoryStore::new()), counted.clone()));
        let clock = ManualClock::starting_at(START_NANOS);
        let env = Env { clock: Arc::new(clock.clone()), ..Env::system() };
        let name = |number| Ok(NamespaceName::new(&format!("namespace_{number:05}"))?);
        let namespaces = (0..namespaces).map(name).collect::<Result<Vec<_>>>()?;
        found(&store, &env, &namespaces).await.context("cannot make the namespaces")?;
        let (opened, seconds, start) = (Vec::with_capacity(servers), 0, Tally::default());
        let mut fleet = Self { counted, clock, servers: opened, namespaces, seconds, start };
        for tenth in 1..=SECONDS_PER_KEEPING {
            while fleet.servers.len() < servers * tenth / SECONDS_PER_KEEPING {
                let before = fleet.counted.so_far();
                fleet
                    .servers
                    .push(Engine::open_with(Arc::clone(&store), env.clone(), Options::default()).await?);
                fleet.start = fleet.counted.so_far() - before;
            }
            fleet.second(false).await?;
        }
        Ok(fleet)
    }

    /// Lets a second pass.
    pub(crate) async fn second(&mut self, with_change: bool) -> Result<Second> {
        self.clock.advance(SECOND);
        let before = self.counted.so_far();
        if with_change {
            self.change().await?;
        }
        let changed = self.counted.so_far();
        for server in &self.servers {
            server.refresh().await?;
        }
        let refreshed = self.counted.so_far();
        for server in &self.servers {
            server.settle().await?;
        }
        let settled = self.counted.so_far();
        let keeping =
            self.servers.iter().skip(self.seconds % SECONDS_PER_KEEPING).step_by(SECONDS_PER_KEEPING);
        for server in keeping {
            server.drop_expired().await?;
            server.make_slices_ahead().await?;
            server.close_time().await?;
        }
        self.seconds += 1;
        ensure!(self.servers.iter().all(Engine::is_leased), "a server has lost its lease");
        Ok(Second {
            change: changed - before,
            refresh: refreshed - changed,
            settle: settled - refreshed,
            keep: self.counted.so_far() - settled,
        })
    }

    /// Changes a namespace through a server, each time another one through another one.
    async fn change(&self) -> Result<()> {
        let name = self.namespaces.get(self.seconds % self.namespaces.len()).context("no namespace")?;
        let server = self.servers.get(self.seconds % self.servers.len()).context("no server")?;
        let mut spec = server.get_namespace(name)?.spec;
        spec.read_target += Duration::from_millis(1);
        server.update_namespace(name, spec, None).await?;
        Ok(())
    }
}

/// Makes the namespaces through a server that leaves then, and brings the log to where it stays.
async fn found(store: &Arc<dyn Store>, env: &Env, namespaces: &[NamespaceName]) -> Result<()> {
    let founder = Engine::open_with(Arc::clone(store), env.clone(), Options::default()).await?;
    for some in namespaces.chunks(CHANGES_PER_SETTLING) {
        for name in some {
            founder.create_namespace(name, NamespaceSpec::default()).await?;
        }
        founder.settle().await?;
        founder.close_time().await?;
    }
    Ok(founder.leave().await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_server_reads_once_a_second_and_reports_when_something_is_new_or_time_is_up() {
        let mut fleet = Fleet::start(20, 3).await.unwrap();
        for _ in 0..10 {
            let idle = fleet.second(false).await.unwrap();
            assert_eq!((idle.refresh.gets, idle.refresh.ranges, idle.refresh.changes), (20, 0, 4));
            assert_eq!((idle.settle.reads(), idle.settle.changes), (0, 0));
            assert_eq!((idle.change, idle.keep.changes), (Tally::default(), 0));
        }
        let changed = fleet.second(true).await.unwrap();
        assert_eq!((changed.refresh.gets, changed.refresh.changes), (20, 20));
        assert_eq!(changed.change.changes, 1);
    }
}
