//! What all parts of splitting share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use env::{BootTime, Env};
use model::{Layout, TableName};
use split::{Moment, SplitId};
use store::{MetaVersion, Store};
use tokio::sync::Notify;

use super::detect::Detector;
use super::metrics::SplitMetrics;
use super::throttle::Throttle;
use crate::catalog::{Catalog, Dataset};
use crate::readmode::Notes;
use crate::route::Router;

/// A worker that has written nothing for so long is gone; longer than any barrier takes.
const SILENT: Duration = Duration::from_secs(60);

/// Limits on what splitting may take from a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SplitLimits {
    /// Splits at once.
    pub at_once: usize,
    /// Bytes that all of them may copy in a second; reading counts a quarter.
    pub bytes_per_second: u64,
    /// Bytes of a partition that are read at a time.
    pub page_bytes: u64,
    /// Nothing new is begun while the disk is fuller than this share.
    pub disk_stop: f64,
    /// What is under way is given up when it is fuller than this.
    pub disk_abort: f64,
}

impl Default for SplitLimits {
    fn default() -> Self {
        Self {
            at_once: 2,
            bytes_per_second: 64 << 20,
            page_bytes: 1 << 20,
            disk_stop: 0.75,
            disk_abort: 0.85,
        }
    }
}

/// Splitting, as one server does it.
pub(crate) struct Splits {
    pub(super) catalog: Arc<Catalog>,
    pub(super) store: Arc<dyn Store>,
    pub(super) env: Env,
    pub(super) router: Arc<Router>,
    /// What is seen of reads, which differences count against.
    pub(super) notes: Arc<Notes>,
    pub(crate) limits: SplitLimits,
    pub(crate) metrics: SplitMetrics,
    pub(crate) detector: Detector,
    pub(super) throttle: Throttle,
    /// There is something to do that this server knows of.
    pub(crate) work: Notify,
    /// What workers of this server are at.
    running: Mutex<BTreeSet<SplitId>>,
    /// What workers of other servers are at: the version of their record, and when it was first seen.
    watched: Mutex<BTreeMap<SplitId, (MetaVersion, BootTime)>>,
    #[cfg(feature = "seeded-bugs")]
    pub(super) bug: Option<super::bugs::Bug>,
}

/// A split that a worker of this server is at; free again when dropped.
pub(super) struct Running<'a> {
    splits: &'a Splits,
    id: SplitId,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.splits.running().remove(&self.id);
    }
}

impl Splits {
    pub(crate) fn new(
        catalog: Arc<Catalog>,
        (store, env): (Arc<dyn Store>, Env),
        router: Arc<Router>,
        notes: Arc<Notes>,
        limits: SplitLimits,
    ) -> Self {
        Self {
            catalog,
            store,
            router,
            notes,
            throttle: Throttle::new(limits.bytes_per_second),
            work: Notify::new(),
            limits,
            metrics: SplitMetrics::default(),
            detector: Detector::default(),
            running: Mutex::default(),
            watched: Mutex::default(),
            #[cfg(feature = "seeded-bugs")]
            bug: None,
            env,
        }
    }

    fn running(&self) -> MutexGuard<'_, BTreeSet<SplitId>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a split for one worker of this server; none where another one has it.
    pub(super) fn take(&self, id: &SplitId) -> Option<Running<'_>> {
        let taken = self.running().insert(id.clone());
        taken.then(|| Running { splits: self, id: id.clone() })
    }

    /// Whether the worker of another server has written nothing for so long that it is gone.
    pub(super) fn is_silent(&self, id: &SplitId, version: MetaVersion) -> bool {
        // Whoever is alone has no others: what has an owner was left by an earlier life.
        if self.catalog.me.member.alone {
            return true;
        }
        let now = self.env.clock.boot();
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|_, (_, since)| now.since(*since) < 2 * SILENT);
        let seen = watched.entry(id.clone()).or_insert((version, now));
        if seen.0 != version {
            *seen = (version, now);
        }
        now.since(seen.1) >= SILENT
    }

    /// Now, by this server.
    pub(super) fn moment<'a>(&self, server: &'a str) -> Moment<'a> {
        Moment { now: self.env.clock.wall(), server }
    }
}

/// The slice with this table, if it is open.
pub(super) fn layout_of(dataset: &Dataset, table: &str) -> Option<Layout> {
    dataset.layouts.iter().find(|layout| TableName::data(layout.slice).as_str() == table).copied()
}
