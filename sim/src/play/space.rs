//! One namespace as clients know it: its generations, what it was configured to be and when, and every event that anybody
//! tried to write.
//!
//! Whatever was asked for and not confirmed may hold or not, so configuration is kept as all that *may* have been in force.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use engine::NamespaceSpec;
use model::Interval;

use super::specs::nanos;

/// A lease ends within this, on any clock; so does what a server does on an old view.
pub(super) const LEASE: Duration = Duration::from_secs(31);

/// An event: its time and its id.
pub(super) type Key = (i64, String);

/// A namespace.
#[derive(Default)]
pub(super) struct Space {
    /// How often it was made.
    pub(super) generation: u32,
    /// Which making of it servers call it.
    pub(super) incarnation: u32,
    /// Whether it is certainly there: made, and nobody has asked to delete it since.
    pub(super) is_ready: bool,
    pub(super) specs: Vec<InForce>,
    /// When which time was told to be closed.
    pub(super) closed: Vec<(Duration, i64)>,
    pub(super) backfills: Vec<Reopened>,
    /// Slices that servers have shown: from when to when.
    pub(super) slices: BTreeMap<i64, i64>,
    pub(super) series: BTreeMap<&'static str, BTreeMap<Key, Tried>>,
    /// Ids that somebody has asked to block.
    pub(super) blocked: BTreeSet<&'static str>,
}

/// A configuration that may be in force.
pub(super) struct InForce {
    pub(super) spec: NamespaceSpec,
    from: Duration,
    until: Option<Duration>,
}

/// A range of time that may take old events.
pub(super) struct Reopened {
    pub(super) interval: Interval,
    /// What names it, once that is known.
    pub(super) id: Option<u64>,
    from: Duration,
    until: Option<Duration>,
}

/// An event that somebody tried to write.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    /// In which generations it can be.
    pub(super) first: u32,
    pub(super) last: u32,
    /// In which it certainly is, and since when.
    pub(super) acknowledged: Option<(u32, Duration)>,
}

impl Space {
    /// The generation that is certainly there.
    pub(super) fn present(&self) -> Option<u32> {
        self.is_ready.then_some(self.generation)
    }

    /// The last generation that can be there.
    pub(super) fn latest(&self) -> u32 {
        if self.is_ready { self.generation } else { self.generation + 1 }
    }

    /// It was made, at last now; asked for at `from`.
    pub(super) fn made(&mut self, spec: NamespaceSpec, incarnation: u32, from: Duration) {
        let series = std::mem::take(&mut self.series);
        let generation = self.generation + 1;
        let specs = vec![InForce { spec, from, until: None }];
        *self = Self { generation, incarnation, is_ready: true, specs, series, ..Self::default() };
    }

    /// It was asked at `from` to become `spec`, and has become so where `confirmed`.
    pub(super) fn changed(&mut self, spec: NamespaceSpec, from: Duration, confirmed: Option<Duration>) {
        if let Some(now) = confirmed {
            self.specs.iter_mut().for_each(|before| before.until = before.until.or(Some(now)));
        }
        self.specs.push(InForce { spec, from, until: None });
    }

    /// What it was configured to be last.
    pub(super) fn spec(&self) -> Option<&NamespaceSpec> {
        self.specs.last().map(|last| &last.spec)
    }

    /// A backfill was asked for at `from`.
    pub(super) fn reopens(&mut self, interval: Interval, from: Duration) {
        self.backfills.push(Reopened { interval, id: None, from, until: None });
    }

    /// A backfill of this interval is over.
    pub(super) fn reopened_is_over(&mut self, interval: Interval, now: Duration) {
        for range in self.backfills.iter_mut().filter(|range| range.interval == interval) {
            range.until = range.until.or(Some(now + LEASE));
        }
    }

    /// Backfills that nobody has ended.
    pub(super) fn open_backfills(&self) -> Vec<(Interval, Option<u64>)> {
        let open = self.backfills.iter().filter(|range| range.until.is_none());
        open.map(|range| (range.interval, range.id)).collect()
    }

    /// Whether a backfill may have taken an event of this time between `from` and `to`.
    pub(super) fn may_be_reopened(&self, time: i64, from: Duration, to: Duration) -> bool {
        self.backfills.iter().any(|range| {
            (range.interval.start()..range.interval.end()).contains(&time)
                && range.from <= to
                && range.until.is_none_or(|until| from <= until)
        })
    }

    /// Up to where time was closed when a request began at `begun`.
    pub(super) fn closed_at(&self, begun: Duration) -> i64 {
        self.closed.iter().filter(|(told, _)| *told <= begun).map(|(_, closed)| *closed).max().unwrap_or(0)
    }

    /// Whether retention may have dropped the slice of this time by now: some configuration that may have been in force let it
    /// go while it was.
    pub(super) fn may_be_dropped(&self, time: i64, now: Duration, start: i64) -> bool {
        let Some((_, end)) = self.slices.range(..=time).next_back().filter(|(_, end)| time < **end) else {
            return true;
        };
        self.specs.iter().any(|held| {
            let after = held.spec.delete_after;
            let from = end.saturating_add(nanos(after)).saturating_sub(start);
            let due = Duration::from_nanos(u64::try_from(from).unwrap_or(0)).max(held.from);
            !after.is_zero() && due <= now && held.until.is_none_or(|until| due <= until)
        })
    }

    /// Somebody tries to write an event. Where it could be is known when the try is over.
    pub(super) fn tries(&mut self, series: &'static str, key: &Key) {
        let generation = self.generation;
        let tried = Tried { first: generation, last: generation, acknowledged: None };
        self.series.entry(series).or_default().entry(key.clone()).or_insert(tried);
    }

    /// A try is over.
    pub(super) fn tried(&mut self, series: &'static str, key: &Key) -> Option<&mut Tried> {
        let latest = self.latest();
        let tried = self.series.get_mut(series)?.get_mut(key)?;
        tried.last = tried.last.max(latest);
        Some(tried)
    }
}
