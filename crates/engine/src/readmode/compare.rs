//! After the answer: the same page the other way, and whether that is the same.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use env::{BootTime, Env};
use model::{PartitionKey, Position};
use store::Store;
use tokio::sync::Semaphore;

use super::evidence::{Evidence, Notes};
use super::metrics::{CompareMetrics, Compared};
use super::sides::{bytes_of, difference, is_beyond};
use crate::catalog::{Catalog, Dataset};
use crate::namespace::{ReadMode, Share};
use crate::read::{Only, PAGE_SCAN_BYTES_MAX, Reading, TimeLimit, Walked, is_inside_event, read_page};
use crate::route::{Fallback, Plan, Router, Way, id_of};
use crate::split::Splits;
use crate::{Event, PAGE_RECORDS_MAX, ReadPage, ReadRequest, Reason, Result};

/// Comparisons under way at once.
const AT_ONCE: usize = 4;
/// Bytes that are read for comparisons in a second.
const BYTES_PER_SECOND: f64 = (32_u64 << 20) as f64;

/// Compares reads of one server.
pub(crate) struct Comparer {
    pub(super) catalog: Arc<Catalog>,
    pub(super) store: Arc<dyn Store>,
    pub(super) env: Env,
    pub(crate) router: Arc<Router>,
    pub(super) splits: Arc<Splits>,
    pub(super) notes: Arc<Notes>,
    pub(crate) metrics: CompareMetrics,
    places: Arc<Semaphore>,
    /// Bytes that may be read now, and as of when.
    budget: Mutex<(f64, Option<BootTime>)>,
}

/// Which way something was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Origin,
    Targets,
}

/// A page that was served.
pub(crate) struct Served<'a> {
    pub(crate) dataset: &'a Arc<Dataset>,
    pub(crate) request: &'a ReadRequest,
    pub(crate) page: &'a ReadPage,
    /// Partitions that may have been split, by the start of their slice, and which way they were read.
    pub(crate) partitions: Vec<(i64, PartitionKey)>,
    pub(crate) side: Side,
    pub(crate) took: Duration,
}

/// What is read both ways.
pub(super) struct Asked {
    pub(super) dataset: Arc<Dataset>,
    pub(super) request: ReadRequest,
    pub(super) only: Only,
    /// Events behind this place do not count; none where it is the end.
    pub(super) until: Option<Position>,
}

/// What was read one way.
pub(super) struct Look {
    pub(super) events: Vec<Event>,
    pub(super) page: ReadPage,
    pub(super) took: Duration,
    /// This server would still go the same way.
    pub(super) holds: bool,
}

impl Comparer {
    pub(crate) fn new(
        catalog: Arc<Catalog>,
        (store, env): (Arc<dyn Store>, Env),
        router: Arc<Router>,
        splits: Arc<Splits>,
        notes: Arc<Notes>,
    ) -> Self {
        let (metrics, places) = (CompareMetrics::default(), Arc::new(Semaphore::new(AT_ONCE)));
        Self { catalog, store, env, router, splits, notes, metrics, places, budget: Mutex::default() }
    }

    /// Counts a page that was to come from targets, and has one compared that touched something split, if there is room.
    pub(crate) fn served(self: &Arc<Self>, served: Served<'_>) {
        let spec = &served.dataset.namespace.spec.read;
        let cost = &served.page.cost;
        if cost.targets > 0 || cost.fallbacks > 0 {
            let fell_back = u64::from(cost.fallbacks > 0);
            let seen =
                Evidence { target_pages: 1 - fell_back, fallback_pages: fell_back, ..Evidence::default() };
            self.notes.add(served.dataset, &seen);
        }
        if served.partitions.is_empty() || !matches!(spec.mode, ReadMode::Shadow | ReadMode::Canary) {
            return;
        }
        match self.prepare(&served, spec.compare) {
            Err(skipped) => self.skip(served.dataset, skipped),
            Ok((asked, events, place)) => {
                let (comparer, side, took) = (Arc::clone(self), served.side, served.took);
                let run = async move {
                    comparer.compare(asked, events, side, took).await;
                    drop(place);
                };
                self.env.spawn.task("braid-compare", Box::pin(run));
            }
        }
    }

    fn prepare(
        &self,
        served: &Served<'_>,
        share: Share,
    ) -> std::result::Result<(Asked, Vec<Event>, tokio::sync::OwnedSemaphorePermit), Compared> {
        if !share.has(self.router.draw()) {
            return Err(Compared::NotDrawn);
        }
        let (request, page) = (served.request, served.page);
        let until = page.next.as_ref().map(|next| next.after.clone());
        let inside = |place: Option<&Position>| place.is_some_and(is_inside_event);
        let resume = request.resume.as_ref();
        let is_limited =
            until.is_none() && resume.map_or(request.total_limit, |resume| resume.remaining).is_some();
        if request.series.is_empty()
            || is_limited
            || page.events.iter().any(|event| event.continues)
            || inside(until.as_ref())
            || inside(resume.map(|resume| &resume.after))
        {
            return Err(Compared::Kind);
        }
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| Compared::Busy)?;
        if !self.may_read(page.cost.bytes_read) {
            return Err(Compared::Budget);
        }
        let only = Only::new(served.partitions.iter().cloned());
        let asked = Asked { dataset: Arc::clone(served.dataset), request: request.clone(), only, until };
        Ok((asked, page.events.clone(), place))
    }

    /// Whether so many bytes may be read now.
    fn may_read(&self, bytes: u64) -> bool {
        let now = self.env.clock.boot();
        let mut budget = self.budget.lock().unwrap_or_else(PoisonError::into_inner);
        let (left, since) = *budget;
        let gained =
            since.map_or(BYTES_PER_SECOND, |since| now.since(since).as_secs_f64() * BYTES_PER_SECOND);
        let left = (left + gained).min(BYTES_PER_SECOND);
        let may = left > 0.0;
        *budget = (if may { left - bytes as f64 } else { left }, Some(now));
        may
    }

    pub(super) fn skip(&self, dataset: &Dataset, why: Compared) {
        self.metrics.count(why);
        self.notes.add(dataset, &Evidence { skipped: 1, ..Evidence::default() });
    }

    async fn compare(&self, asked: Asked, served: Vec<Event>, side: Side, took: Duration) {
        let (dataset, only) = (Arc::clone(&asked.dataset), asked.only.clone());
        let compared = match Box::pin(self.compare_page(asked, served, side, took)).await {
            Ok(None) => return,
            Ok(Some(compared)) => compared,
            Err(error) => {
                tracing::debug!(%error, "a read could not be compared");
                if error.reason() == Reason::ChecksumMismatch {
                    self.look_at_damage(&dataset, &only).await;
                }
                Compared::Unread
            }
        };
        match compared {
            Compared::Match | Compared::Differ | Compared::Unconfirmed => self.metrics.count(compared),
            skipped => self.skip(&dataset, skipped),
        }
    }

    /// A page was read anew from the origin. If that is because targets are damaged, they are compared after the answer: else who
    /// reads would meet the damage, and go back, until a worker compares the split by itself, which takes hours.
    pub(crate) fn fell_back(self: &Arc<Self>, plan: &Plan, dataset: &Arc<Dataset>, walked: &Walked) {
        if plan.way != Way::Back(Fallback::TargetDamaged) {
            return;
        }
        // Where too much is compared already, the next read that meets the damage comes here again.
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else { return };
        let (comparer, dataset) = (Arc::clone(self), Arc::clone(dataset));
        let only = Only::new(walked.visited.fell_back.iter().cloned());
        let run = async move {
            comparer.look_at_damage(&dataset, &only).await;
            drop(place);
        };
        self.env.spawn.task("braid-damage", Box::pin(run));
    }

    /// Something of these splits is damaged: they are compared as a whole, which takes one out of use whose targets are.
    async fn look_at_damage(&self, dataset: &Dataset, only: &Only) {
        for (start, partition) in only.iter() {
            let layout = model::Timestamp::checked(*start).and_then(|start| dataset.layouts.find(start));
            let Some(layout) = layout else { continue };
            if let Err(error) = self.splits.look_again(&id_of(dataset, layout, partition)).await {
                tracing::warn!(%error, "a split that is damaged could not be compared; a later read tries again");
            }
        }
    }

    /// Reads the page the other way; none where nothing of it is split after all.
    async fn compare_page(
        &self,
        mut asked: Asked,
        mut served: Vec<Event>,
        side: Side,
        took: Duration,
    ) -> Result<Option<Compared>> {
        let Some(only) = self.really_split(&asked).await? else { return Ok(None) };
        asked.only = only;
        let place =
            |event: &Event| asked.dataset.layouts.place(&event.series, event.time, &event.to_event_id());
        served.retain(|event| place(event).is_some_and(|at| asked.only.holds(at.slice.start(), &at.key)));
        asked.request = self.as_compared(&asked.request, served.len());
        let other = match side {
            Side::Origin => Side::Targets,
            Side::Targets => Side::Origin,
        };
        let look = self.look(&asked, other).await?;
        if !look.holds || (look.page.next.is_some() && look.events.len() < served.len()) {
            return Ok(Some(Compared::Unread));
        }
        let (origin, targets) = match side {
            Side::Origin => (&served, &look.events),
            Side::Targets => (&look.events, &served),
        };
        let nanos = |took: Duration| u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let (mine, theirs) = (nanos(took), nanos(look.took));
        let (origin_nanos, target_nanos) = if side == Side::Origin { (mine, theirs) } else { (theirs, mine) };
        let timed = Evidence { compared: 1, timed: 1, origin_nanos, target_nanos, ..Evidence::default() };
        let bytes: u64 = served.iter().map(bytes_of).sum();
        match difference(origin, targets, asked.request.order) {
            None => {
                self.metrics.bytes(bytes, 0);
                self.notes.add(&asked.dataset, &Evidence { match_bytes: bytes, ..timed });
                Ok(Some(Compared::Match))
            }
            Some(found) => Ok(Some(self.confirm(&asked, found, timed).await?)),
        }
    }

    /// Those of the partitions that have targets to read from; none where there are none.
    async fn really_split(&self, asked: &Asked) -> Result<Option<Only>> {
        let mut split = Vec::new();
        for (start, partition) in asked.only.iter() {
            let layout =
                model::Timestamp::checked(*start).and_then(|start| asked.dataset.layouts.find(start));
            let Some(layout) = layout else { continue };
            let (_, entry) = self.router.entry(id_of(&asked.dataset, layout, partition)).await;
            if entry?.cover.is_some() {
                split.push((*start, partition.clone()));
            }
        }
        Ok((!split.is_empty()).then(|| Only::new(split)))
    }

    /// The request of a comparison: room for one event more than are expected.
    fn as_compared(&self, request: &ReadRequest, expected: usize) -> ReadRequest {
        let resume = request.resume.clone().map(|resume| crate::Resume {
            remaining: None,
            scanned_bytes: Vec::new(),
            ..resume
        });
        let page_records = (expected + 1).min(PAGE_RECORDS_MAX);
        ReadRequest {
            page_records,
            resume,
            total_limit: None,
            max_latency: None,
            deadline: None,
            ..request.clone()
        }
    }

    /// Reads one way what is asked.
    pub(super) async fn look(&self, asked: &Asked, side: Side) -> Result<Look> {
        let plan = match side {
            Side::Origin => Plan::origin(),
            Side::Targets => self.router.plan_targets(&asked.dataset),
        };
        let started = self.env.clock.boot();
        let reading = Reading {
            dataset: &asked.dataset,
            store: &self.store,
            clock: &self.env.clock,
            request: &asked.request,
            started,
            limit: TimeLimit::of(&asked.request, &asked.dataset.namespace.spec),
            learned: None,
            bytes_max: PAGE_SCAN_BYTES_MAX,
            explains: false,
            is_cut: false,
            router: &self.router,
            plan: &plan,
            only: Some(&asked.only),
        };
        let (mut page, walked) = read_page(&reading).await?;
        let holds = match side {
            Side::Origin => true,
            // What was asked for is split: without entries it went out of use meanwhile.
            Side::Targets => {
                let entries = &walked.visited.entries;
                !walked.visited.has_origin && self.router.holds(entries.iter())
            }
        };
        let mut events = std::mem::take(&mut page.events);
        if let Some(until) = &asked.until {
            events.retain(|event| !is_beyond(event, until, asked.request.order));
        }
        Ok(Look { events, page, took: self.env.clock.boot().since(started), holds })
    }
}

/// Which partitions of a page are to be compared, and which way they were read.
pub(crate) fn split_partitions(walked: &Walked) -> (Vec<(i64, PartitionKey)>, Side) {
    if walked.visited.entries.is_empty() {
        return (walked.visited.noted.clone(), Side::Origin);
    }
    (walked.visited.routed.clone(), Side::Targets)
}
