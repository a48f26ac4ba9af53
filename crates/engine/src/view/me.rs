//! This server among the others: its id, its lease, and what it has seen of them. Locks only; [`super::lease`] and
//! [`super::server`] decide.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use env::{BootTime, Env, fresh_id};
use store::MetaVersion;

use super::lease::{Lease, Standing};
use super::server::{ServerRecord, Watched};

/// Changes whose server is gone are settled by another one after this.
const SETTLED_WITHIN: Duration = Duration::from_secs(10);

/// How a server takes part.
#[derive(Clone, Debug, Default)]
pub struct Member {
    /// Where it listens, for people.
    pub address: String,
    /// What it is, for people.
    pub program: String,
    /// What it does, for people.
    pub roles: Vec<String>,
    /// Nobody else can use the store: whoever is registered besides is dead.
    pub alone: bool,
}

/// A registration of this server.
#[derive(Clone, Debug)]
pub(super) struct Registration {
    pub(super) id: String,
    pub(super) version: Option<MetaVersion>,
    /// The epoch that was reported last.
    pub(super) epoch: u64,
}

/// This server.
pub(crate) struct Me {
    pub(crate) member: Member,
    pub(super) started: i64,
    pub(super) registration: tokio::sync::Mutex<Registration>,
    /// The id of the registration, for whoever cannot wait for a report that is under way.
    id: RwLock<String>,
    lease: RwLock<Lease>,
    watched: Mutex<Watched>,
    /// The highest epoch whose barrier is known to have passed.
    passed: RwLock<u64>,
    /// When somebody last tried to get a lost lease back.
    tried: Mutex<Option<BootTime>>,
    /// Up to where the log was settled when that was seen first.
    settled: Mutex<Option<(u64, BootTime)>>,
    /// Of the head as it was last seen: whether all of it was settled, and which barrier it said had passed.
    head: Mutex<Option<(bool, u64)>>,
}

impl Me {
    /// A server that is not registered yet.
    pub(crate) fn new(member: Member, env: &Env) -> Self {
        let id = fresh_id(&*env.random);
        Self {
            member,
            started: env.clock.wall(),
            id: RwLock::new(id.clone()),
            registration: tokio::sync::Mutex::new(Registration { id, version: None, epoch: 0 }),
            lease: RwLock::default(),
            watched: Mutex::default(),
            passed: RwLock::default(),
            tried: Mutex::default(),
            settled: Mutex::default(),
            head: Mutex::default(),
        }
    }

    pub(super) fn record(&self, epoch: u64, clock: i64) -> ServerRecord {
        let Member { address, program, roles, .. } = &self.member;
        let new = ServerRecord::new(address.clone(), program.clone(), self.started);
        ServerRecord { epoch, clock, roles: roles.clone(), ..new }
    }

    /// A registration under a name that was never used.
    pub(super) fn another(&self, env: &Env) -> Registration {
        let id = fresh_id(&*env.random);
        id.clone_into(&mut self.id.write().unwrap_or_else(PoisonError::into_inner));
        Registration { id, version: None, epoch: 0 }
    }

    /// What it is called.
    pub(crate) fn id(&self) -> String {
        self.id.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How long ago the last refresh began.
    pub(crate) fn view_age(&self, now: BootTime) -> Option<Duration> {
        self.lease().age(now)
    }

    /// What it may do at `now`.
    pub(crate) fn standing(&self, now: BootTime) -> Standing {
        self.lease().standing(now)
    }

    pub(super) fn lease(&self) -> Lease {
        *self.lease.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn change_lease(&self, act: impl FnOnce(&mut Lease)) {
        act(&mut self.lease.write().unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) fn watched(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The highest epoch whose barrier is known to have passed.
    pub(crate) fn passed(&self) -> u64 {
        *self.passed.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn has_passed(&self, epoch: u64) {
        let mut passed = self.passed.write().unwrap_or_else(PoisonError::into_inner);
        *passed = epoch.max(*passed);
    }

    /// Whether nobody has tried for `pause`; then the caller is the one who does.
    pub(super) fn may_try(&self, now: BootTime, pause: Duration) -> bool {
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        let may = tried.is_none_or(|at| now.since(at) >= pause);
        if may {
            *tried = Some(now);
        }
        may
    }

    /// The head is settled or not, and says that this barrier has passed.
    pub(super) fn saw_head(&self, is_settled: bool, passed: u64) {
        *self.head.lock().unwrap_or_else(PoisonError::into_inner) = Some((is_settled, passed));
    }

    /// Whether the head, as it was last seen, may have to be settled.
    pub(super) fn may_have_to_settle(&self) -> bool {
        let seen = *self.head.lock().unwrap_or_else(PoisonError::into_inner);
        seen.is_none_or(|(is_settled, passed)| !is_settled || passed < self.passed())
    }

    /// Whether the log has been settled up to `epoch` and no further for so long that another server has to do it.
    pub(super) fn is_overdue(&self, epoch: u64, now: BootTime) -> bool {
        let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        match *settled {
            Some((seen, since)) if seen == epoch => now.since(since) >= SETTLED_WITHIN,
            _ => {
                *settled = Some((epoch, now));
                false
            }
        }
    }
}
