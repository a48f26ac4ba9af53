//! Reads of one series through an engine in this process: a page, all of it, what matches, how many there are. Each says where
//! its rows came from, so that nobody measures another route than he thinks.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use engine::{AggregateRequest, Aggregation, Cost, Engine, ReadMode, ReadPage, ReadRequest, SearchQuery};
use env::{Clock, SystemClock};
use model::{Interval, NamespaceName, Order, SeriesId};

use crate::{crowd, workload};

/// Events on a page of who reads everything: as the server chooses for a stream.
pub(crate) const DRAIN_PAGE: usize = 4_000;

/// One series, as a client of the engine names it. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Series {
    pub(crate) engine: Engine,
    pub(crate) name: NamespaceName,
    pub(crate) series: SeriesId,
}

/// What one or several calls gave.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    /// Events, or how many there are.
    pub(crate) events: u64,
    /// How long each call took.
    pub(crate) calls: Vec<Duration>,
    origins: u64,
    targets: u64,
    fallbacks: u64,
}

/// Reads of all of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum All {
    /// Every event.
    Events,
    /// Those with the marked value.
    Marked,
    /// Their number.
    Count,
}

impl Given {
    fn add(&mut self, events: u64, cost: &Cost, took: Duration) {
        self.events += events;
        self.calls.push(took);
        self.origins += cost.origins;
        self.targets += cost.targets;
        self.fallbacks += cost.fallbacks;
    }

    /// Checks that the rows came from where the mode says.
    pub(crate) fn routed(self, mode: ReadMode) -> Result<Self> {
        let from_targets = mode == ReadMode::On;
        let as_it_should = match from_targets {
            true => self.targets > 0 && self.origins == 0,
            false => self.targets == 0 && self.origins > 0,
        };
        ensure!(
            as_it_should && self.fallbacks == 0,
            "{} origins, {} targets, {} fallbacks: not what was to be measured",
            self.origins,
            self.targets,
            self.fallbacks
        );
        Ok(self)
    }
}

impl Series {
    fn request(&self, interval: Interval, page_records: usize) -> ReadRequest {
        ReadRequest {
            namespace: self.name.clone(),
            series: vec![self.series.clone()],
            interval,
            query: None,
            page_records,
            order: Order::NewestFirst,
            resume: None,
            total_limit: None,
            max_latency: None,
            deadline: None,
        }
    }

    /// The newest events of each interval, a page each, which has to be full.
    pub(crate) async fn pages(&self, intervals: &[Interval], page_records: usize) -> Result<Given> {
        let mut given = Given::default();
        for interval in intervals {
            let page = self.page(&mut given, self.request(*interval, page_records)).await?;
            let found = page.events.len();
            ensure!(found == page_records, "a page has {found} events instead of {page_records}");
        }
        Ok(given)
    }

    async fn page(&self, given: &mut Given, request: ReadRequest) -> Result<ReadPage> {
        let start = SystemClock.boot();
        let page = self.engine.read(request).await?;
        given.add(page.events.len() as u64, &page.cost, SystemClock.boot().since(start));
        ensure!(page.partial.is_none(), "a page ran out of time");
        Ok(page)
    }

    /// All of an interval, answer after answer.
    pub(crate) async fn all(&self, what: All, interval: Interval) -> Result<Given> {
        let (mut given, mut request) = (Given::default(), self.request(interval, DRAIN_PAGE));
        if what == All::Marked {
            let value = workload::marked_value();
            request.query = Some(SearchQuery::Equals { key: workload::ITEM_KEY.to_owned(), value });
        }
        loop {
            let next = match what {
                All::Events | All::Marked => self.page(&mut given, request.clone()).await?.next,
                All::Count => {
                    let asked = AggregateRequest { read: request.clone(), aggregation: Aggregation::Count };
                    let start = SystemClock.boot();
                    let page = self.engine.aggregate(asked).await?;
                    given.add(page.count, &page.cost, SystemClock.boot().since(start));
                    page.next
                }
            };
            match next {
                Some(next) => request.resume = Some(next),
                None => return Ok(given),
            }
        }
    }

    /// The same by as many readers as there are intervals, all at once; how many events. Has to run on a runtime.
    pub(crate) async fn all_at_once(
        &self,
        what: All,
        intervals: Vec<Interval>,
        mode: ReadMode,
    ) -> Result<u64> {
        let (readers, intervals) = (intervals.len() as u64, Arc::new(intervals));
        let reader = |number: u64| {
            let (series, intervals) = (self.clone(), Arc::clone(&intervals));
            async move {
                let interval = intervals.get(usize::try_from(number)?).context("no such reader")?;
                Ok(series.all(what, *interval).await?.routed(mode)?.events)
            }
        };
        crowd::work(readers, reader).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_from_elsewhere_is_no_figure() {
        let given = |origins, targets, fallbacks| {
            let mut given = Given::default();
            given.add(1, &Cost { origins, targets, fallbacks, ..Cost::default() }, Duration::ZERO);
            given
        };
        assert!(given(0, 16, 0).routed(ReadMode::On).is_ok());
        assert!(given(1, 16, 0).routed(ReadMode::On).is_err());
        assert!(given(1, 0, 1).routed(ReadMode::On).is_err());
        assert!(given(1, 0, 0).routed(ReadMode::Off).is_ok());
        assert!(given(1, 0, 0).routed(ReadMode::Shadow).is_ok());
        assert!(given(0, 1, 0).routed(ReadMode::Off).is_err());
        assert!(Given::default().routed(ReadMode::Off).is_err());
    }
}
