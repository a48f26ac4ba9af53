//! Reads, aggregations and explanations as the engine serves them: checked, admitted, counted.

use std::sync::Arc;
use std::time::Duration;

use env::{BootTime, Env};
use model::NamespaceName;
use store::Store;

use crate::aggregate::{AGGREGATE_SCAN_BYTES_MAX, aggregate_page};
use crate::block::Access;
use crate::catalog::{Catalog, Dataset};
use crate::metrics::Metrics;
use crate::read::{
    Desk, PAGE_SCAN_BYTES_MAX, Place, ReadLimits, Reading, TimeLimit, explain_page, read_page,
};
use crate::{AggregatePage, AggregateRequest, Cost, Explanation, ReadPage, ReadRequest, Result};

/// Serves reads of one engine.
pub(crate) struct Reads {
    catalog: Arc<Catalog>,
    store: Arc<dyn Store>,
    env: Env,
    metrics: Arc<Metrics>,
    desk: Desk,
}

/// A read that was let in.
struct Admitted {
    dataset: Arc<Dataset>,
    started: BootTime,
    limit: TimeLimit,
    place: Place,
}

impl Reads {
    pub(crate) fn new(
        catalog: Arc<Catalog>,
        store: Arc<dyn Store>,
        env: Env,
        metrics: Arc<Metrics>,
        limits: ReadLimits,
    ) -> Self {
        Self { catalog, store, env, metrics, desk: Desk::new(limits) }
    }

    /// Refuses a read of a blocked series.
    fn check(&self, request: &ReadRequest) -> Result<Arc<Dataset>> {
        let (dataset, now) = (self.catalog.find(&request.namespace)?, self.env.clock.wall());
        request.series.iter().try_for_each(|series| dataset.check_access(series, now, Access::Read))?;
        Ok(dataset)
    }

    /// Forgets a namespace that was deleted.
    pub(crate) fn forget(&self, name: &NamespaceName) {
        self.desk.forget(name);
    }

    pub(crate) async fn read(&self, request: ReadRequest) -> Result<ReadPage> {
        let started = self.env.clock.boot();
        let mut result = async {
            let admitted = self.admit(&request, started).await?;
            let reading = self.reading(&admitted, &request, PAGE_SCAN_BYTES_MAX);
            let (page, walked) = read_page(&reading).await?;
            admitted.place.learn(walked.learned(&reading));
            Ok(page)
        }
        .await;
        let took = self.took(started);
        if let Ok(page) = &mut result {
            page.cost.time_taken = took;
        }
        self.count(&request, took, result.as_ref().map(|page| (&page.cost, page.partial.is_some())));
        result
    }

    pub(crate) async fn aggregate(&self, request: AggregateRequest) -> Result<AggregatePage> {
        let (started, read) = (self.env.clock.boot(), &request.read);
        let mut result = async {
            let admitted = self.admit(read, started).await?;
            let reading = self.reading(&admitted, read, AGGREGATE_SCAN_BYTES_MAX);
            let (page, walked) = aggregate_page(&reading, &request.aggregation).await?;
            admitted.place.learn(walked.learned(&reading));
            Ok(page)
        }
        .await;
        let took = self.took(started);
        if let Ok(page) = &mut result {
            page.cost.time_taken = took;
        }
        self.count(read, took, result.as_ref().map(|page| (&page.cost, page.partial.is_some())));
        result
    }

    pub(crate) async fn explain(&self, request: ReadRequest) -> Result<Explanation> {
        let started = self.env.clock.boot();
        let mut result = async {
            let admitted = self.admit(&request, started).await?;
            let reading =
                Reading { explains: true, ..self.reading(&admitted, &request, PAGE_SCAN_BYTES_MAX) };
            explain_page(&reading).await
        }
        .await;
        let took = self.took(started);
        if let Ok(explanation) = &mut result {
            explanation.page.cost.time_taken = took;
        }
        let page = result.as_ref().map(|explanation| &explanation.page);
        self.count(&request, took, page.map(|page| (&page.cost, page.partial.is_some())));
        result
    }

    async fn admit(&self, request: &ReadRequest, started: BootTime) -> Result<Admitted> {
        let dataset = self.check(request)?;
        let limit = TimeLimit::of(request, &dataset.namespace.spec);
        let window = self.desk.window(&request.namespace);
        let place = window.enter(&*self.env.clock, limit.within).await?;
        Ok(Admitted { dataset, started, limit, place })
    }

    fn reading<'a>(
        &'a self,
        admitted: &'a Admitted,
        request: &'a ReadRequest,
        bytes_max: u64,
    ) -> Reading<'a> {
        Reading {
            dataset: &admitted.dataset,
            store: &self.store,
            clock: &self.env.clock,
            request,
            started: admitted.started,
            limit: admitted.limit,
            learned: admitted.place.learned(),
            bytes_max,
            explains: false,
        }
    }

    fn took(&self, started: BootTime) -> Duration {
        self.env.clock.boot().since(started)
    }

    fn count(
        &self,
        request: &ReadRequest,
        took: Duration,
        answer: std::result::Result<(&Cost, bool), &crate::Error>,
    ) {
        self.metrics.read(&self.catalog, &request.namespace, took, answer);
    }
}
