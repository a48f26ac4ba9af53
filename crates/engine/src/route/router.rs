//! From a partition to where it is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use env::Env;
use model::{Layout, PartitionKey};
use split::{Cover, SplitId};

use super::cache::{Cache, Entry};
use super::filter::{Filter, hash_of};
use super::filters::{Filters, SliceFilters};
use super::metrics::RouteMetrics;
use super::way::{Fallback, Way, way};
use crate::catalog::{Catalog, Dataset};
use crate::course::ChunkCache;
use crate::namespace::Share;
use crate::split::Stored;
use crate::view::Standing;
use crate::{Error, Reason, Result};

/// One check of a filter in so many is timed.
const TIMED_EVERY: u64 = 64;
/// A read waits for the record of a split so long; then it takes the origin.
const RECORD_WITHIN: Duration = Duration::from_millis(500);

/// Routes the reads of one server.
pub(crate) struct Router {
    pub(super) catalog: Arc<Catalog>,
    env: Env,
    pub(super) filters: Filters,
    pub(super) cache: Cache,
    /// What pages of packed targets ended in.
    pub(crate) chunks: ChunkCache,
    pub(crate) metrics: RouteMetrics,
    checks: AtomicU64,
    #[cfg(feature = "seeded-bugs")]
    pub(super) bug: Option<crate::split::Bug>,
}

/// How the partitions of one page are read.
pub(crate) struct Plan {
    pub(crate) way: Way,
    /// The filters of the namespace; none where nothing can have been split, or nobody asks.
    filters: Option<Arc<SliceFilters>>,
    /// Something was read from targets.
    touched: AtomicBool,
}

/// What the filter said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Nobody asked, or nothing of the slice was split.
    #[default]
    Nothing,
    /// It was not split.
    No,
    /// It may have been.
    Maybe,
}

/// Where what is known of the split came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Cached {
    /// Nobody asked.
    #[default]
    NotAsked,
    /// It was known.
    Hit,
    /// It was read.
    Miss,
}

/// Where a partition is read.
#[derive(Clone, Debug, Default)]
pub(crate) enum Choice {
    /// In the origin, as ever.
    #[default]
    Origin,
    /// In the origin; it may have been split, and is to be compared.
    Noted,
    /// In its targets.
    Targets(Arc<Entry>, Cover),
    /// In the origin because of this, though it should be in its targets.
    Back(Fallback),
}

/// How a partition came to be read where it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routed {
    pub(crate) seen: Seen,
    pub(crate) cached: Cached,
    pub(crate) choice: Choice,
}

impl Plan {
    /// All from the origin.
    pub(crate) const fn origin() -> Self {
        Self { way: Way::Origin, filters: None, touched: AtomicBool::new(false) }
    }

    const fn new(way: Way, filters: Arc<SliceFilters>) -> Self {
        Self { way, filters: Some(filters), touched: AtomicBool::new(false) }
    }
}

impl Router {
    pub(crate) fn new(catalog: Arc<Catalog>, env: Env) -> Self {
        Self {
            catalog,
            env,
            filters: Filters::default(),
            cache: Cache::default(),
            chunks: ChunkCache::default(),
            metrics: RouteMetrics::default(),
            checks: AtomicU64::new(0),
            #[cfg(feature = "seeded-bugs")]
            bug: None,
        }
    }

    /// The same with a fault.
    #[cfg(feature = "seeded-bugs")]
    pub(crate) fn with(mut self, bug: Option<crate::split::Bug>) -> Self {
        self.bug = bug;
        self
    }

    /// Whether this one is put in.
    #[cfg(feature = "seeded-bugs")]
    pub(crate) fn has(&self, bug: crate::split::Bug) -> bool {
        self.bug == Some(bug)
    }

    /// How a page of a namespace is read.
    pub(crate) fn plan(&self, dataset: &Dataset, standing: Standing) -> Plan {
        let Some(filters) = self.filters.of(dataset) else { return Plan::origin() };
        let spec = &dataset.namespace.spec.read;
        let leased = standing == Standing::Leased;
        #[cfg(feature = "seeded-bugs")]
        let leased = leased || self.has(crate::split::Bug::CacheBeyondLease);
        Plan::new(way(spec.mode, spec.canary, leased, || self.draw()), filters)
    }

    /// How a page is read to be compared: from targets, whatever the mode says.
    pub(crate) fn plan_targets(&self, dataset: &Dataset) -> Plan {
        self.filters.of(dataset).map_or_else(Plan::origin, |filters| Plan::new(Way::Targets, filters))
    }

    /// A number up to [`Share::WHOLE`], by chance.
    pub(crate) fn draw(&self) -> u16 {
        let mut random = [0; 8];
        self.env.random.fill(&mut random);
        u16::try_from(u64::from_le_bytes(random) % u64::from(Share::WHOLE)).unwrap_or(0)
    }

    /// Where a partition is read.
    pub(crate) async fn route(
        &self,
        plan: &Plan,
        dataset: &Dataset,
        layout: &Layout,
        partition: &PartitionKey,
    ) -> Routed {
        let Some(filter) = plan.filters.as_ref().and_then(|all| all.get(&layout.slice.start())) else {
            return Routed::default();
        };
        if plan.way == Way::Origin {
            return Routed::default();
        }
        if !self.check(filter, partition) {
            return Routed { seen: Seen::No, ..Routed::default() };
        }
        let maybe = Routed { seen: Seen::Maybe, ..Routed::default() };
        match plan.way {
            Way::Origin => maybe,
            Way::Notice => Routed { choice: Choice::Noted, ..maybe },
            Way::Back(why) => {
                let known = self.cache.get(&id_of(dataset, layout, partition));
                let is_unsplit = known.is_some_and(|entry| entry.cover.is_none());
                let choice = if is_unsplit { Choice::Origin } else { Choice::Back(why) };
                Routed { choice, ..maybe }
            }
            Way::Targets => {
                let (cached, found) = self.entry(id_of(dataset, layout, partition)).await;
                let choice = match found {
                    Ok(entry) => match entry.cover.clone() {
                        Some(cover) => {
                            plan.touched.store(true, Ordering::Relaxed);
                            Choice::Targets(entry, cover)
                        }
                        None => Choice::Origin,
                    },
                    Err(error) => {
                        tracing::debug!(%error, "the record of a split cannot be read; the origin is");
                        Choice::Back(Fallback::Metadata)
                    }
                };
                Routed { cached, choice, ..maybe }
            }
        }
    }

    fn check(&self, filter: &Filter, partition: &PartitionKey) -> bool {
        #[cfg(feature = "seeded-bugs")]
        if self.has(crate::split::Bug::FilterMisses) {
            return false;
        }
        if !self.checks.fetch_add(1, Ordering::Relaxed).is_multiple_of(TIMED_EVERY) {
            return filter.may_hold(hash_of(partition));
        }
        let started = self.env.clock.boot();
        let may_hold = filter.may_hold(hash_of(partition));
        self.metrics.checked(self.env.clock.boot().since(started));
        may_hold
    }

    /// What is known of a split: from the cache, or from its record.
    pub(crate) async fn entry(&self, id: SplitId) -> (Cached, Result<Arc<Entry>>) {
        let retired = match self.retired(&id) {
            Ok(retired) => retired,
            Err(error) => return (Cached::NotAsked, Err(error)),
        };
        let (now, known) = (self.env.clock.boot(), self.cache.get(&id));
        #[cfg(feature = "seeded-bugs")]
        if let Some(entry) = known.as_ref().filter(|_| self.has(crate::split::Bug::CacheBeyondLease)) {
            return (Cached::Hit, Ok(Arc::clone(entry)));
        }
        if let Some(entry) = known.filter(|entry| entry.holds(retired, now)) {
            self.metrics.asked(true);
            return (Cached::Hit, Ok(entry));
        }
        self.metrics.asked(false);
        let found = self.record(&id).await;
        self.metrics.read(self.env.clock.boot().since(now));
        let entry = found.map(|found| {
            let cover = found.as_ref().and_then(|stored| Cover::of(&stored.record));
            if found.is_none() {
                self.metrics.false_positive(&id);
            }
            Arc::new(Entry { id, cover, retired, loaded: now })
        });
        if let Ok(entry) = &entry {
            self.cache.put(Arc::clone(entry));
        }
        (Cached::Miss, entry)
    }

    /// Reads a record, for as long as a read may wait for it.
    async fn record(&self, id: &SplitId) -> Result<Option<Stored>> {
        let too_late = self.env.clock.sleep(RECORD_WITHIN);
        tokio::select! {
            biased;
            found = self.catalog.split_record(id) => found,
            () = too_late => {
                let message = "the record of a split takes too long to read; its origin is read instead";
                Err(Error::new(Reason::BackendTimeout, message))
            }
        }
    }

    /// The last retirement in the namespace of a split that this server has heard of.
    fn retired(&self, id: &SplitId) -> Result<u64> {
        Ok(self.catalog.find_same(&id.namespace, id.incarnation)?.record.splits_retired)
    }

    /// Whether this server would still route by these entries.
    pub(crate) fn holds<'a>(&self, mut entries: impl Iterator<Item = &'a Arc<Entry>>) -> bool {
        let now = self.env.clock.boot();
        #[cfg(feature = "seeded-bugs")]
        if self.has(crate::split::Bug::CacheBeyondLease) {
            return true;
        }
        self.catalog.standing() == Standing::Leased
            && entries.all(|entry| self.retired(&entry.id).is_ok_and(|retired| entry.holds(retired, now)))
    }

    /// Whether a page may be answered as it is; if not, why it is read anew from the origin. `read` are the entries that it came
    /// by, or why it failed.
    pub(crate) fn fallback(
        &self,
        plan: &Plan,
        read: std::result::Result<&[Arc<Entry>], &Error>,
    ) -> Option<Fallback> {
        if plan.way != Way::Targets || !plan.touched.load(Ordering::Relaxed) {
            return None;
        }
        match read {
            Err(error) if error.reason() == Reason::ChecksumMismatch => Some(Fallback::TargetDamaged),
            Err(_) => Some(Fallback::TargetError),
            Ok(entries) if entries.is_empty() || self.holds(entries.iter()) => None,
            Ok(_) => Some(Fallback::RouteChanged),
        }
    }

    /// The same page, all of it from the origin.
    pub(crate) fn back(&self, plan: &Plan, why: Fallback) -> Plan {
        self.metrics.fell_back(why);
        plan.filters.clone().map_or_else(Plan::origin, |filters| Plan::new(Way::Back(why), filters))
    }

    /// A split of this server is about to be made: its filter knows at once.
    pub(crate) fn will_split(&self, id: &SplitId, slice_start: i64) {
        let now = self.env.clock.boot();
        self.filters.insert(id, slice_start, || Filter::new(id.time_slice.clone(), &[], 0, now));
        self.cache.forget(id);
    }

    /// A split has another state: what is known of it is read again.
    pub(crate) fn forget(&self, id: &SplitId) {
        self.cache.forget(id);
    }

    /// Reads filters that have changed, or all of them; gives back how many were read.
    pub(crate) async fn load_filters(&self, everything: bool) -> Result<usize> {
        let read = self.filters.load(&self.catalog, everything).await?;
        self.measure();
        Ok(read)
    }

    /// Shows how large and how old filters are.
    pub(crate) fn measure(&self) {
        self.metrics.measure(&self.filters.all(), self.env.clock.boot());
    }

    /// Whether anything of a namespace may have been split.
    pub(crate) fn has_splits(&self, dataset: &Dataset) -> bool {
        let elements = |slices: Arc<SliceFilters>| slices.values().any(|filter| filter.elements() > 0);
        self.filters.of(dataset).is_some_and(elements)
    }
}

/// The split of a partition.
pub(crate) fn id_of(dataset: &Dataset, layout: &Layout, partition: &PartitionKey) -> SplitId {
    SplitId {
        namespace: dataset.namespace.name.clone(),
        incarnation: dataset.namespace.incarnation,
        time_slice: dataset.table(layout).name.as_str().to_owned(),
        partition: partition.clone(),
    }
}
