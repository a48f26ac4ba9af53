//! Reads, aggregations and explanations as the engine serves them: checked, admitted, counted.

use std::sync::Arc;

use env::{BootTime, Env};
use model::NamespaceName;
use store::Store;

use crate::aggregate::{AGGREGATE_SCAN_BYTES_MAX, aggregate_page};
use crate::block::Access;
use crate::catalog::{Catalog, Dataset};
use crate::metrics::Metrics;
use crate::read::{
    Desk, PAGE_SCAN_BYTES_MAX, Place, ReadLimits, Reading, TimeLimit, Walked, certain, explain_page,
    read_page,
};
use crate::readmode::{Comparer, Served, split_partitions};
use crate::route::{Fallback, Plan, Router};
use crate::split::Splits;
use crate::view::Standing;
use crate::{AggregatePage, AggregateRequest, Cost, Explanation, ReadPage, ReadRequest, Result};

/// Serves reads of one engine.
pub(crate) struct Reads {
    catalog: Arc<Catalog>,
    store: Arc<dyn Store>,
    env: Env,
    metrics: Arc<Metrics>,
    splits: Arc<Splits>,
    comparer: Arc<Comparer>,
    desk: Desk,
}

/// A read that was let in.
struct Admitted {
    dataset: Arc<Dataset>,
    started: BootTime,
    limit: TimeLimit,
    place: Place,
    standing: Standing,
    /// What is left of the request where this server cannot be sure of all of it.
    cut: Option<ReadRequest>,
}

impl Reads {
    pub(crate) fn new(
        (catalog, (store, env)): (Arc<Catalog>, (Arc<dyn Store>, Env)),
        metrics: Arc<Metrics>,
        comparer: Arc<Comparer>,
        splits: Arc<Splits>,
        limits: ReadLimits,
    ) -> Self {
        Self { catalog, store, env, metrics, splits, comparer, desk: Desk::new(limits) }
    }

    /// Refuses a read of a blocked series.
    async fn check(&self, request: &ReadRequest) -> Result<Arc<Dataset>> {
        let (dataset, now) = (self.catalog.find_or_look(&request.namespace).await?, self.env.clock.wall());
        request.series.iter().try_for_each(|series| dataset.check_access(series, now, Access::Read))?;
        Ok(dataset)
    }

    /// Forgets a namespace that was deleted.
    pub(crate) fn forget(&self, name: &NamespaceName) {
        self.desk.forget(name);
    }

    pub(crate) async fn read(&self, request: ReadRequest) -> Result<ReadPage> {
        let started = self.env.clock.boot();
        let result = async {
            let admitted = self.admit(&request, started).await?;
            let mut plan = self.plan(&admitted);
            let (page, walked) = loop {
                let reading = self.reading(&admitted, &request, PAGE_SCAN_BYTES_MAX, &plan);
                let read = read_page(&reading).await;
                match self.fallback(&plan, read.as_ref().map(|(_, walked)| walked)) {
                    Some(why) => plan = self.router().back(&plan, why),
                    None => {
                        let (page, walked) = read?;
                        admitted.place.learn(walked.learned(&reading));
                        break (page, walked);
                    }
                }
            };
            self.splits.saw(&admitted.dataset, &request, &page.partitions);
            self.comparer.fell_back(&plan, &admitted.dataset, &walked);
            let (partitions, side) = split_partitions(&walked);
            let took = self.env.clock.boot().since(started);
            let (dataset, request, page_read) = (&admitted.dataset, &request, &page);
            self.comparer.served(Served { dataset, request, page: page_read, partitions, side, took });
            Ok(page)
        }
        .await;
        self.counted(&request, started, result, |page| (&mut page.cost, page.partial.is_some()))
    }

    pub(crate) async fn aggregate(&self, request: AggregateRequest) -> Result<AggregatePage> {
        let (started, read) = (self.env.clock.boot(), &request.read);
        let result = async {
            let admitted = self.admit(read, started).await?;
            let mut plan = self.plan(&admitted);
            let (page, walked) = loop {
                let reading = self.reading(&admitted, read, AGGREGATE_SCAN_BYTES_MAX, &plan);
                let tallied = aggregate_page(&reading, &request.aggregation).await;
                match self.fallback(&plan, tallied.as_ref().map(|(_, walked)| walked)) {
                    Some(why) => plan = self.router().back(&plan, why),
                    None => {
                        let (page, walked) = tallied?;
                        admitted.place.learn(walked.learned(&reading));
                        break (page, walked);
                    }
                }
            };
            self.splits.saw(&admitted.dataset, read, &walked.visited.partitions);
            self.comparer.fell_back(&plan, &admitted.dataset, &walked);
            Ok(page)
        }
        .await;
        self.counted(read, started, result, |page| (&mut page.cost, page.partial.is_some()))
    }

    pub(crate) async fn explain(&self, request: ReadRequest) -> Result<Explanation> {
        let started = self.env.clock.boot();
        let result = async {
            let admitted = self.admit(&request, started).await?;
            let mut plan = self.plan(&admitted);
            loop {
                let reading = self.reading(&admitted, &request, PAGE_SCAN_BYTES_MAX, &plan);
                let explained = explain_page(&Reading { explains: true, ..reading }).await;
                match self.fallback(&plan, explained.as_ref().map(|(_, walked)| walked)) {
                    Some(why) => plan = self.router().back(&plan, why),
                    None => return explained.map(|(explanation, _)| explanation),
                }
            }
        }
        .await;
        self.counted(&request, started, result, |explanation| {
            let page = &mut explanation.page;
            (&mut page.cost, page.partial.is_some())
        })
    }

    fn router(&self) -> &Router {
        &self.comparer.router
    }

    fn plan(&self, admitted: &Admitted) -> Plan {
        self.router().plan(&admitted.dataset, admitted.standing)
    }

    /// Why a page has to be read anew from the origin; none where it can be answered.
    fn fallback(&self, plan: &Plan, walked: std::result::Result<&Walked, &crate::Error>) -> Option<Fallback> {
        self.router().fallback(plan, walked.map(|walked| walked.visited.entries.as_slice()))
    }

    async fn admit(&self, request: &ReadRequest, started: BootTime) -> Result<Admitted> {
        let standing = self.catalog.settled_standing().await;
        let dataset = self.check(request).await?;
        let limit = TimeLimit::of(request, &dataset.namespace.spec);
        let window = self.desk.window(&request.namespace);
        let place = window.enter(&*self.env.clock, limit.within).await?;
        let cut = self.cut(&dataset, standing, request);
        Ok(Admitted { dataset, started, limit, place, cut, standing })
    }

    fn cut(&self, dataset: &Dataset, standing: Standing, request: &ReadRequest) -> Option<ReadRequest> {
        let certain =
            (standing != Standing::Leased).then(|| certain(dataset, request, self.env.clock.wall()));
        let interval = certain.filter(|interval| *interval != request.interval)?;
        Some(ReadRequest { interval, ..request.clone() })
    }

    /// What a read asks of the view, and nothing else; whether it would get all that it asked for.
    pub(crate) async fn ask(&self, request: &ReadRequest) -> Result<bool> {
        let standing = self.catalog.settled_standing().await;
        let dataset = self.catalog.find_or_look(&request.namespace).await?;
        Ok(self.cut(&dataset, standing, request).is_none())
    }

    fn reading<'a>(
        &'a self,
        admitted: &'a Admitted,
        request: &'a ReadRequest,
        bytes_max: u64,
        plan: &'a Plan,
    ) -> Reading<'a> {
        Reading {
            dataset: &admitted.dataset,
            store: &self.store,
            clock: &self.env.clock,
            request: admitted.cut.as_ref().unwrap_or(request),
            started: admitted.started,
            limit: admitted.limit,
            learned: admitted.place.learned(),
            bytes_max,
            explains: false,
            is_cut: admitted.cut.is_some(),
            router: self.router(),
            plan,
            only: None,
        }
    }

    /// Says how long an answer took, in it and in the metrics. `look` finds what it cost, and whether it is partial.
    fn counted<T>(
        &self,
        request: &ReadRequest,
        started: BootTime,
        mut result: Result<T>,
        look: impl FnOnce(&mut T) -> (&mut Cost, bool),
    ) -> Result<T> {
        let took = self.env.clock.boot().since(started);
        let answer = result.as_mut().map(|answer| {
            let (cost, partial) = look(answer);
            cost.time_taken = took;
            (&*cost, partial)
        });
        self.metrics.read(&self.catalog, &request.namespace, took, answer.map_err(|error| &*error));
        result
    }
}
