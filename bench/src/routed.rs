//! Namespaces with the same small series, which differ only in what their reads have to ask before they know that nothing of what
//! they read was split: nothing at all (mode off), whether anything was split, or the filter of a slice in which other series were.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use engine::{
    Engine, EventInput, NamespaceSpec, ReadMode, ReadModePolicy, ReadRequest, ReadSpec, SplitSpec,
    WriteRequest,
};
use model::{Interval, NamespaceName, Order, PartitionKey, SeriesId};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use split::State;

use crate::harness::{Sample, Setting, measure};
use crate::place::{Home, Place};
use crate::splitting::{open, open_for_ever, without_throttle};
use crate::{local, workload};

/// Series that are read.
pub(crate) const SERIES: u64 = 1_024;
/// Events of each.
const EVENTS_PER_SERIES: u64 = 16;
/// Event buckets, as namespaces have by default.
const BUCKETS: u32 = 4;
/// Wide series have numbers from here on, and so many events that each of their partitions is wide.
const FIRST_WIDE: u64 = 1_000_000;
const EVENTS_PER_WIDE: u64 = 1_600;
/// The smallest that may be.
const THRESHOLD_BYTES: u64 = 64 << 10;
const WRITE_EVENTS: usize = 1_000;
const ACCEPT_LIMIT: Duration = Duration::from_secs(60);
const HOUR_NANOS: i64 = 3_600_000_000_000;

/// A namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// Mode off.
    Nothing,
    /// Mode on, and nothing was ever split.
    Whether,
    /// Mode on, and others were split in the same slice.
    Filter,
}

impl Asks {
    const ALL: [Self; 3] = [Self::Nothing, Self::Whether, Self::Filter];

    const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "asks_nothing",
            Self::Whether => "asks_whether",
            Self::Filter => "asks_filter",
        }
    }

    const fn mode(self) -> ReadMode {
        match self {
            Self::Nothing => ReadMode::Off,
            Self::Whether | Self::Filter => ReadMode::On,
        }
    }
}

/// How much of a series a read asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    /// Hours, from the one in which its events lie.
    pub(crate) hours: i64,
    /// Events at most.
    pub(crate) records: usize,
}

/// What reads came to.
pub(crate) struct Done {
    /// Units are partitions that were visited.
    pub(crate) sample: Sample,
    /// Events that were read.
    pub(crate) events: u64,
}

/// The namespaces, in one engine.
pub(crate) struct Routed {
    home: Home,
    engine: Engine,
    registry: Registry,
    /// Partitions that were split.
    pub(crate) splits: u64,
}

impl Routed {
    /// Writes everything, and splits the partitions of so many wide series.
    pub(crate) fn open(setting: &Setting, place: Place, wide: u64) -> Result<Self> {
        let (home, store) = Home::open(setting, place)?;
        let engine = home.run(async {
            let engine = open(&store, without_throttle()).await?;
            for asks in Asks::ALL {
                fill(&engine, asks, wide).await.with_context(|| format!("cannot fill {}", asks.name()))?;
            }
            Ok(engine)
        })?;
        drop(store);
        let mut registry = Registry::default();
        engine.register_metrics(&mut registry);
        Ok(Self { home, engine, registry, splits: wide * u64::from(BUCKETS) })
    }

    /// Reads a page of each series. Nothing of them was split, so everything comes from origins.
    pub(crate) fn read(&self, asks: Asks, series: &[SeriesId], page: Page) -> Result<Done> {
        let first = workload::time(0)?.nanos();
        let interval = Interval::new(first, first + page.hours * HOUR_NANOS)?;
        let name = NamespaceName::new(asks.name())?;
        let request = |series: &SeriesId| ReadRequest {
            namespace: name.clone(),
            series: vec![series.clone()],
            interval,
            query: None,
            page_records: page.records,
            order: Order::NewestFirst,
            resume: None,
            total_limit: None,
            max_latency: None,
            deadline: None,
        };
        let requests: Vec<ReadRequest> = series.iter().map(request).collect();
        self.home.run(async { Ok(self.engine.refresh().await?) })?;
        let mut events = 0;
        let sample = measure(|| {
            self.home.run(async {
                let mut partitions = 0;
                for request in requests {
                    let page = self.engine.read(request).await?;
                    ensure!(page.cost.targets + page.cost.fallbacks == 0, "something was routed elsewhere");
                    ensure!(!page.events.is_empty(), "a page is empty");
                    events += page.events.len() as u64;
                    partitions += page.cost.partitions;
                }
                Ok(partitions)
            })
        })?;
        ensure!(self.engine.is_leased(), "a run took longer than a lease; make it shorter");
        Ok(Done { sample, events })
    }

    /// What the engine tells about itself, as `/metrics` shows it.
    pub(crate) fn metrics(&self) -> Result<String> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }

    /// Closes the store and removes what it held.
    pub(crate) fn close(self) {
        drop(self.engine);
        self.home.close();
    }
}

/// Makes a namespace, writes its series, closes their time and, where reads are to ask a filter, splits the wide ones. All have
/// the same wide series: a larger table alone costs something.
async fn fill(engine: &Engine, asks: Asks, wide: u64) -> Result<()> {
    let name = NamespaceName::new(asks.name())?;
    let mut spec = NamespaceSpec {
        split: SplitSpec {
            threshold_bytes: THRESHOLD_BYTES,
            target_bytes: THRESHOLD_BYTES,
            ..SplitSpec::default()
        },
        read: ReadSpec { mode: asks.mode(), policy: ReadModePolicy::Manual, ..ReadSpec::default() },
        ..open_for_ever()
    };
    spec.shape.buckets_per_id = u16::try_from(BUCKETS)?;
    engine.create_namespace(&name, spec.clone()).await?;
    let small = (0..SERIES).map(|number| (number, EVENTS_PER_SERIES));
    let all = small.chain((FIRST_WIDE..FIRST_WIDE + wide).map(|number| (number, EVENTS_PER_WIDE)));
    let mut waiting = Vec::new();
    for (number, count) in all {
        waiting.extend(events(number, count)?);
        if waiting.len() >= WRITE_EVENTS {
            write(engine, &name, std::mem::take(&mut waiting)).await?;
        }
    }
    write(engine, &name, waiting).await?;
    let closed = NamespaceSpec { accept_limit: ACCEPT_LIMIT, ..spec };
    engine.update_namespace(&name, closed, None).await?;
    let splits = if asks == Asks::Filter { wide } else { 0 };
    for number in FIRST_WIDE..FIRST_WIDE + splits {
        split(engine, &name, workload::series(number)?).await?;
    }
    Ok(())
}

fn events(number: u64, count: u64) -> Result<Vec<EventInput>> {
    let series = workload::series(number)?;
    let rows = workload::rows(number * EVENTS_PER_WIDE, count)?;
    let events = (0..).zip(rows).map(|(at, row)| local::event(&series, row, workload::time(at)?));
    events.collect()
}

async fn write(engine: &Engine, name: &NamespaceName, events: Vec<EventInput>) -> Result<()> {
    for some in events.chunks(WRITE_EVENTS) {
        let request = WriteRequest { namespace: name.clone(), events: some.to_vec() };
        let accepted = engine.write_synced(request).await?.accepted;
        ensure!(accepted == some.len(), "{accepted} of {} events were accepted", some.len());
    }
    Ok(())
}

/// Splits all partitions of a series.
async fn split(engine: &Engine, name: &NamespaceName, series: SeriesId) -> Result<()> {
    let table = engine.list_slices(name)?.pop().context("no slice")?.table;
    engine.refresh().await?;
    for event_bucket in 0..BUCKETS {
        let partition = PartitionKey { series: series.clone(), time_bucket: 0, event_bucket };
        let id = engine.create_split(name, &table, &partition, engine::SplitAsk::default()).await?.id;
        while engine.work_on_splits().await? {}
        let record = engine.get_split(name, &id).await?.record;
        ensure!(record.state == State::Completed, "{id} is {}: {:?}", record.state.as_str(), record.reason);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buckets::Buckets;

    #[test]
    fn every_namespace_gives_the_same_and_only_one_asks_a_filter() {
        let routed = Routed::open(&Setting::for_test(1), Place::Memory, 2).unwrap();
        let series: Vec<SeriesId> = (0..128).map(|number| workload::series(number).unwrap()).collect();
        let checks =
            || Buckets::parse(&routed.metrics().unwrap(), "braid_filter_check_duration_seconds").count();
        for (asks, asked) in [(Asks::Nothing, false), (Asks::Whether, false), (Asks::Filter, true)] {
            let before = checks();
            let done = routed.read(asks, &series, Page { hours: 1, records: 10 }).unwrap();
            assert_eq!((done.events, done.sample.units), (1_280, 512), "{asks:?}");
            assert_eq!(checks() > before, asked, "{asks:?}");
        }
        assert_eq!(routed.splits, 8);
        routed.close();
    }
}
