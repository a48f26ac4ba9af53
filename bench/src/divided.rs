//! A wide series that was split, and whose reads go to the origin or to the targets as its namespace is told.
//!
//! Reads move through the same steps and gates as everybody's; the gates want nothing here. Nothing is compared unless the mode
//! is shadow or canary.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use engine::{
    Engine, Evidence, NamespaceSpec, ReadGates, ReadMode, ReadModePolicy, ReadSpec, SplitLayout, SplitSpec,
    SplitStrategy,
};
use env::{Random, SeededRandom};
use model::{Interval, NamespaceName, SeriesId};
use store::Store;

use crate::kind::Kind;
use crate::series::Series;
use crate::small::EVENTS_PER_SERIES;
use crate::splitting::{Splitting, Took, open_for_ever};
use crate::workload;

/// The same places in every run.
const SEED: u64 = 20_260_329;

/// A series that was split.
pub(crate) struct Divided {
    splitting: Splitting,
    /// Who reads it.
    pub(crate) series: Series,
    /// How many events it has.
    pub(crate) events: u64,
    /// How many targets.
    pub(crate) targets: usize,
    /// How they keep events.
    pub(crate) layout: &'static str,
    /// What its events are like.
    pub(crate) kind: Kind,
}

/// What is written: a series of so many bytes, and so many small ones beside it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data {
    pub(crate) kind: Kind,
    pub(crate) bytes: u64,
    pub(crate) small_series: u64,
}

impl Divided {
    /// Writes it into a namespace of this name, and splits the series.
    pub(crate) async fn write(
        at: (Engine, Arc<dyn Store>),
        name: &str,
        (strategy, layout): (SplitStrategy, SplitLayout),
        Data { kind, bytes, small_series }: Data,
    ) -> Result<Self> {
        let engine = at.0.clone();
        let splitting = Splitting::write_into(at, name, spec(strategy, layout), kind, bytes).await?;
        for number in 0..small_series {
            let rows = workload::rows(number * EVENTS_PER_SERIES, EVENTS_PER_SERIES)?;
            splitting.write_small(workload::series(number)?, rows).await?;
        }
        engine.refresh().await?;
        let (took, events) = (splitting.split().await?, splitting.events);
        let (targets, layout) = (took.targets, took.layout);
        let series =
            Series { engine, name: splitting.name.clone(), series: splitting.partition.series.clone() };
        Ok(Self { splitting, series, events, targets, layout, kind })
    }

    /// Logical bytes of the series.
    pub(crate) const fn bytes(&self) -> u64 {
        self.splitting.bytes
    }

    /// How many events have the marked value.
    pub(crate) const fn marked(&self) -> u64 {
        match self.kind {
            Kind::Marked => self.events.div_ceil(workload::MARKED_EVERY),
            Kind::Small | Kind::Large | Kind::Huge | Kind::Noise => 0,
        }
    }

    /// Splits it once more.
    pub(crate) async fn split(&self) -> Result<Took> {
        self.splitting.split().await
    }

    /// Brings its reads into a mode.
    pub(crate) async fn go(&self, wanted: ReadMode) -> Result<()> {
        go(&self.series.engine, &self.series.name, wanted).await
    }

    /// Checks that what was measured was measured under a lease.
    pub(crate) fn leased(&self) -> Result<()> {
        ensure!(self.series.engine.is_leased(), "a run took longer than a lease; make it shorter");
        Ok(())
    }

    /// What comparisons have come to in the present mode.
    pub(crate) async fn evidence(&self) -> Result<Evidence> {
        Ok(self.series.engine.read_mode(&self.series.name).await?.evidence)
    }

    /// All of its time, cut into so many parts.
    pub(crate) fn parts(&self, parts: u64) -> Result<Vec<Interval>> {
        let edge = |part: u64| Ok::<i64, anyhow::Error>(workload::time(self.events * part / parts)?.nanos());
        (0..parts).map(|part| Ok(Interval::new(edge(part)?, edge(part + 1)?)?)).collect()
    }

    /// All of its time.
    pub(crate) fn whole(&self) -> Result<Interval> {
        self.parts(1)?.pop().context("no part")
    }

    /// So many stretches of time, anywhere, with so many events each.
    pub(crate) fn stretches(&self, stretches: u64, events: u64) -> Result<Vec<Interval>> {
        let random = SeededRandom::new(SEED);
        let stretch = |_| {
            let first = random.below(self.events - events);
            Ok(Interval::new(workload::time(first)?.nanos(), workload::time(first + events)?.nanos())?)
        };
        (0..stretches).map(stretch).collect()
    }

    /// Reads the newest events of small series; how long each call took.
    pub(crate) async fn read_small(&self, asked: &[SeriesId]) -> Result<Vec<Duration>> {
        self.splitting.read_small(asked).await
    }
}

/// Brings the reads of a namespace into a mode, step by step, and renews the lease.
pub(crate) async fn go(engine: &Engine, name: &NamespaceName, wanted: ReadMode) -> Result<()> {
    engine.refresh().await?;
    let mut mode = engine.get_namespace(name)?.spec.read.mode;
    if mode > wanted {
        mode = engine.roll_back_read_mode(name, Some(wanted), false).await?.mode;
    }
    while mode < wanted {
        mode = engine.advance_read_mode(name, false).await?.mode;
    }
    Ok(())
}

/// Takes events of any age, splits what somebody asks for, and lets reads go where they are told.
fn spec(strategy: SplitStrategy, layout: SplitLayout) -> NamespaceSpec {
    NamespaceSpec {
        split: SplitSpec { strategy, layout, ..SplitSpec::default() },
        read: ReadSpec {
            mode: ReadMode::Off,
            policy: ReadModePolicy::Manual,
            gates: ReadGates { min_compared: 0, ..ReadGates::default() },
            ..ReadSpec::default()
        },
        ..open_for_ever()
    }
}

#[cfg(test)]
mod tests {
    use store::MemoryStore;

    use super::*;
    use crate::series::All;
    use crate::small;
    use crate::splitting::{open, without_throttle};

    /// The smallest that is wide, and more.
    const BYTES: u64 = 20_000_000;

    #[tokio::test(flavor = "multi_thread")]
    async fn the_same_events_come_from_the_origin_and_from_targets() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let engine = open(&store, without_throttle()).await.unwrap();
        for (name, strategy) in [("hash", SplitStrategy::EventBucket), ("time", SplitStrategy::TimeRange)] {
            let at = (engine.clone(), Arc::clone(&store));
            let data = Data { kind: Kind::Marked, bytes: BYTES, small_series: 2 };
            let divided = Divided::write(at, name, (strategy, SplitLayout::Rows), data).await.unwrap();
            assert_eq!(divided.targets, 5);
            let (whole, parts) = (divided.whole().unwrap(), divided.parts(4).unwrap());
            assert_eq!((parts[0].start(), parts[3].end()), (whole.start(), whole.end()));
            for mode in [ReadMode::On, ReadMode::Off, ReadMode::On, ReadMode::Shadow] {
                divided.go(mode).await.unwrap();
                let read = async |what| {
                    let given = divided.series.all(what, whole).await.unwrap();
                    given.routed(mode).unwrap().events
                };
                assert_eq!(read(All::Events).await, divided.events);
                assert_eq!(read(All::Count).await, divided.events);
                assert_eq!(read(All::Marked).await, divided.events.div_ceil(workload::MARKED_EVERY));
                let at_once = divided.series.all_at_once(All::Count, parts.clone(), mode).await.unwrap();
                assert_eq!(at_once, divided.events);
                let stretches = divided.stretches(3, 50).unwrap();
                let pages = divided.series.pages(&stretches, 50).await.unwrap().routed(mode).unwrap();
                assert_eq!((pages.events, pages.calls.len()), (150, 3));
            }
            let asked = small::asked(2, 5).unwrap();
            assert_eq!(divided.read_small(&asked).await.unwrap().len(), 5);
            divided.leased().unwrap();
        }
    }
}
