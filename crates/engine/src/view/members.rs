//! Registering, reporting, and looking at the other servers.

use std::time::Duration;

use store::{CasOutcome, ErrorKind, MetaChange};

use super::lease::{LEASE, Lease, on_any_clock};
use super::server::{Seen, ServerRecord, server_key, servers_group};
use crate::catalog::Catalog;
use crate::{Error, Reason, Result};

/// How often a report is tried again because an earlier one of the same server was still under way.
const TRIES: u32 = 5;
/// How often whoever waits for a barrier looks at the reports.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A server as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerInfo {
    /// Drawn anew at every start.
    pub id: String,
    /// Where it listens.
    pub address: String,
    /// What it is.
    pub program: String,
    /// What it does.
    pub roles: Vec<String>,
    /// When it was started, on its own clock.
    pub started: i64,
    /// The epoch that it has reported.
    pub epoch: u64,
    /// For how long it has said nothing, as far as this server knows.
    pub silent: Duration,
    /// Whether it can hold a lease.
    pub leased: bool,
    /// Whether it is the one that was asked.
    pub here: bool,
}

impl Catalog {
    /// Makes this server known, before it reads anything. A server that is alone sweeps those before it.
    pub(crate) async fn register(&self) -> Result<()> {
        if self.me.member.alone {
            for stored in self.range(servers_group()).await? {
                let key = server_key(&String::from_utf8_lossy(&stored.name));
                self.store.meta_cas(&key, Some(stored.version), MetaChange::Remove).await?;
            }
        }
        self.report().await
    }

    /// Tells the others which epoch this server acts on.
    pub(crate) async fn report(&self) -> Result<()> {
        let mut registration = self.me.registration.lock().await;
        for _ in 0..TRIES {
            let (started, epoch) = (self.env.clock.boot(), self.known().epoch);
            let record = self.me.record(epoch, self.env.clock.wall());
            let (key, change) = (server_key(&registration.id), MetaChange::Put(record.encode()?));
            match self.store.meta_cas(&key, registration.version, change).await {
                Ok(CasOutcome::Applied(version)) => {
                    (registration.version, registration.epoch) = (Some(version), epoch);
                    self.me.change_lease(|lease| lease.reported(started));
                    return Ok(());
                }
                // An earlier report of this server came through after all.
                Ok(CasOutcome::Conflict(Some(found))) => registration.version = Some(found.version),
                // It was removed after a long silence. A name is never used twice.
                Ok(CasOutcome::Conflict(None)) => {
                    self.me.change_lease(Lease::forget_reports);
                    *registration = self.me.another(&self.env);
                }
                Err(error) if error.kind() == ErrorKind::Unknown => {
                    registration.version = self.store.meta_get(&key).await?.map(|found| found.version);
                }
                Err(error) => return Err(error.into()),
            }
        }
        let message = "this server cannot report to the others; its metadata is too slow";
        Err(Error::new(Reason::BackendOverloaded, message))
    }

    /// Reports if there is something new, or it is time to.
    pub(crate) async fn report_if_due(&self) -> Result<()> {
        let reported = self.me.registration.lock().await.epoch;
        if reported == self.known().epoch && !self.me.lease().is_report_due(self.env.clock.boot()) {
            return Ok(());
        }
        self.report().await
    }

    /// Ends the registration: this server acts no more.
    pub(crate) async fn leave(&self) -> Result<()> {
        let registration = self.me.registration.lock().await;
        self.me.change_lease(Lease::forget_reports);
        let removed = MetaChange::Remove;
        self.store.meta_cas(&server_key(&registration.id), registration.version, removed).await?;
        Ok(())
    }

    /// Looks at all registrations.
    pub(crate) async fn watch(&self) -> Result<()> {
        let records = self.range(servers_group()).await?;
        let now = self.env.clock.boot();
        self.me.watched().saw(&records, now)
    }

    /// Removes registrations of servers that have been silent for so long that they take no writes any more.
    pub(crate) async fn remove_gone(&self) -> Result<usize> {
        self.watch().await?;
        let gone = self.me.watched().gone(self.env.clock.boot());
        for (id, version) in &gone {
            self.store.meta_cas(&server_key(id), Some(*version), MetaChange::Remove).await?;
            tracing::warn!(server = id, "a server has been silent for more than an hour and is forgotten");
        }
        Ok(gone.len())
    }

    /// Waits until no server can act on a view older than `epoch` under a lease: each has reported it, or could hold no lease
    /// any more.
    pub(crate) async fn barrier(&self, epoch: u64) -> Result<()> {
        // What was published before this moment is waited for from now on, which is later than it has to be.
        let since = self.env.clock.boot();
        loop {
            if self.me.passed() >= epoch {
                return Ok(());
            }
            self.report_if_due().await?;
            self.watch().await?;
            let now = self.env.clock.boot();
            let passed = self.me.watched().none_leased_before(epoch, now);
            if passed || now.since(since) >= on_any_clock(LEASE) {
                self.me.has_passed(epoch);
                return Ok(());
            }
            self.env.clock.sleep(LOOK_EVERY).await;
        }
    }

    /// Whether every server has said itself that it has seen `epoch`.
    pub(crate) async fn all_reported(&self, epoch: u64) -> Result<bool> {
        self.report_if_due().await?;
        self.watch().await?;
        Ok(self.me.watched().all_reported(epoch))
    }

    /// The earliest wall clock of all servers.
    pub(crate) async fn earliest_clock(&self) -> Result<i64> {
        self.report_if_due().await?;
        self.watch().await?;
        let (own, now) = (self.env.clock.wall(), self.env.clock.boot());
        Ok(self.me.watched().earliest_clock(own, now))
    }

    /// All servers.
    pub(crate) async fn servers(&self) -> Result<Vec<ServerInfo>> {
        self.watch().await?;
        let (now, own) = (self.env.clock.boot(), self.me.registration.lock().await.id.clone());
        let info = |(id, seen): (&String, &Seen)| {
            let ServerRecord { address, program, roles, started, epoch, .. } = seen.record.clone();
            let (silent, leased, here) = (seen.silence(now), !seen.is_unleased(now), *id == own);
            ServerInfo { id: id.clone(), address, program, roles, started, epoch, silent, leased, here }
        };
        Ok(self.me.watched().servers.iter().map(info).collect())
    }
}
