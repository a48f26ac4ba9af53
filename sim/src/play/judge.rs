//! Holds answers against the ledger.
//!
//! A read owes every event that was acknowledged before it began, unless its slice may have been dropped or its namespace
//! deleted since; each once, in order, with its own value; and nothing that nobody tried to write there.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::Event;
use model::{Interval, Order};

use super::space::Key;
use super::stage::Stage;

/// A read under way, over its pages.
pub(super) struct Reading {
    pub(super) space: &'static str,
    pub(super) series: &'static str,
    pub(super) interval: Interval,
    pub(super) order: Order,
    /// The generation that was there when it began.
    pub(super) generation: Option<u32>,
    pub(super) begun: Duration,
    first: u32,
    last_key: Option<Key>,
    found: BTreeSet<Key>,
}

/// The ids of large events begin so.
pub(super) const WIDE: &str = "w";
/// How often the value of a large event says where it belongs: about 3 KB.
const WIDE_TIMES: usize = 80;

/// The value of an item: it says where it belongs.
pub(super) fn value_of(space: &str, series: &str, key: &Key, item: &str) -> String {
    let value = format!("{space}/{series}/{}/{}/{item}", key.0, key.1);
    if key.1.starts_with(WIDE) { value.repeat(WIDE_TIMES) } else { value }
}

/// The items of an event, in their order.
pub(super) fn items_of(key: &Key) -> &'static [&'static str] {
    if key.0 % 3 == 0 { &["k", "l"] } else { &["k"] }
}

impl Reading {
    pub(super) fn begin(
        stage: &Stage,
        (space, series): (&'static str, &'static str),
        interval: Interval,
        order: Order,
    ) -> Self {
        let (generation, first) = stage.ledger.with(space, |known| (known.present(), known.generation));
        let begun = stage.world.now();
        Self {
            space,
            series,
            interval,
            order,
            generation,
            begun,
            first,
            last_key: None,
            found: BTreeSet::new(),
        }
    }

    /// Takes over the events of a page.
    pub(super) fn take(&mut self, stage: &Stage, events: &[Event]) {
        for event in events {
            let id = String::from_utf8_lossy(event.event_id.as_bytes()).into_owned();
            let key = (event.time.nanos(), id);
            if let Some(problem) = self.problem_of(stage, event, &key) {
                stage.wrong(format!("{} has {key:?}, {problem}", self.name()));
            }
            self.last_key = Some(key.clone());
            self.found.insert(key);
        }
    }

    fn problem_of(&self, stage: &Stage, event: &Event, key: &Key) -> Option<String> {
        let in_order = self.last_key.as_ref().is_none_or(|last| match self.order {
            Order::OldestFirst => last < key,
            Order::NewestFirst => last > key,
        });
        if !in_order {
            return Some(format!("which comes behind {:?}", self.last_key));
        }
        if !self.interval.contains(event.time) || event.series.as_str() != self.series {
            return Some("which nobody asked for".to_owned());
        }
        let mut items: Vec<&str> = items_of(key).to_vec();
        if self.order == Order::NewestFirst {
            items.reverse();
        }
        let wanted = items.iter().map(|item| value_of(self.space, self.series, key, item));
        if !wanted.eq(event.items.iter().map(|item| String::from_utf8_lossy(&item.value).into_owned())) {
            return Some("which is not as it was written".to_owned());
        }
        stage.ledger.with(self.space, |space| {
            let tried = space.series.get(self.series).and_then(|events| events.get(key));
            let Some(tried) = tried else { return Some("which nobody wrote".to_owned()) };
            let (first, latest) = (self.first, space.latest());
            (tried.last < first || tried.first > latest).then(|| {
                format!("which is of generation {}..={}, not {first}..={latest}", tried.first, tried.last)
            })
        })
    }

    /// All that is asked for and lies in `complete` has been read, somebody claims.
    pub(super) fn is_complete_in(&self, stage: &Stage, complete: Interval, who: &str) {
        let claim = complete.intersect(self.interval);
        let (now, start) = (stage.world.now(), stage.wall() - super::specs::nanos(stage.world.now()));
        let missing: Vec<Key> = stage.ledger.with(self.space, |space| {
            let same = space.present().is_some() && space.present() == self.generation;
            let events = space.series.get(self.series).filter(|_| same);
            let owed = events.into_iter().flatten().filter(|((time, _), tried)| {
                let acknowledged = tried
                    .acknowledged
                    .filter(|(generation, at)| Some(*generation) == self.generation && *at <= self.begun);
                acknowledged.is_some()
                    && (claim.start()..claim.end()).contains(time)
                    && !space.may_be_dropped(*time, now, start)
            });
            owed.map(|(key, _)| key).filter(|key| !self.found.contains(*key)).cloned().collect()
        });
        if let Some(first) = missing.first() {
            stage.wrong(format!(
                "{} lacks {} acknowledged events of {}..{} by {who}, the first {first:?}; it began at {:?} in generation {:?}",
                self.name(),
                missing.len(),
                claim.start(),
                claim.end(),
                self.begun,
                self.generation,
            ));
        }
    }

    fn name(&self) -> String {
        format!("a read of {}/{} {:?}", self.space, self.series, self.order)
    }
}
