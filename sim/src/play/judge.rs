//! Holds answers against the ledger.
//!
//! A read owes every event that was acknowledged before it began, unless its slice may have been dropped or its namespace
//! deleted since; each once, in order, with its own value; and nothing that nobody tried to write there. Where it came from, an
//! origin or targets, makes no difference; but damage that was done to targets may be served until it is found.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::{Event, ReadPage};
use model::{Interval, Order};

use super::routes::Routes;
use super::space::Key;
use super::stage::Stage;

/// A read under way, over its pages.
pub(super) struct Reading {
    pub(super) space: &'static str,
    pub(super) series: Vec<&'static str>,
    pub(super) interval: Interval,
    pub(super) order: Order,
    /// The generation that was there when it began.
    pub(super) generation: Option<u32>,
    pub(super) begun: Duration,
    pub(super) first: u32,
    last: Option<Place>,
    found: BTreeSet<Place>,
    routes: Routes,
    /// It may have met damage.
    is_excused: bool,
}

/// Where an event stands among those of several series.
type Place = (Key, &'static str);

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
        (space, series): (&'static str, Vec<&'static str>),
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
            last: None,
            found: BTreeSet::new(),
            routes: Routes::default(),
            is_excused: false,
        }
    }

    /// Takes over a page.
    pub(super) fn take(&mut self, stage: &Stage, page: &ReadPage) {
        self.routes.take(stage, self.space, page);
        let may_be_damaged = || stage.records.tainted().may_be_met(self.space, &self.series, self.begun);
        if page.cost.targets > 0 && !self.is_excused && may_be_damaged() {
            self.is_excused = true;
            stage.ledger.count(|counts| counts.excused += 1);
        }
        for event in page.events.iter().filter(|_| !self.is_excused) {
            let id = String::from_utf8_lossy(event.event_id()).into_owned();
            let key = (event.time.nanos(), id);
            let Some(series) = self.series.iter().find(|series| **series == event.series.as_str()) else {
                stage.wrong(format!("{} has {key:?} of {}", self.name(), event.series.as_str()));
                continue;
            };
            let place = (key, *series);
            if let Some(problem) = self.problem_of(stage, event, &place) {
                stage.wrong(format!("{} has {place:?}, {problem}", self.name()));
            }
            self.last = Some(place.clone());
            self.found.insert(place);
        }
    }

    fn problem_of(&self, stage: &Stage, event: &Event, place: &Place) -> Option<String> {
        let in_order = self.last.as_ref().is_none_or(|last| match self.order {
            Order::OldestFirst => last < place,
            Order::NewestFirst => last > place,
        });
        if !in_order {
            return Some(format!("which comes behind {:?}", self.last));
        }
        let (key, series) = place;
        if !self.interval.contains(event.time) {
            return Some("which nobody asked for".to_owned());
        }
        let mut items: Vec<&str> = items_of(key).to_vec();
        if self.order == Order::NewestFirst {
            items.reverse();
        }
        let wanted = items.iter().map(|item| value_of(self.space, series, key, item));
        if !wanted.eq(event.items().map(|item| String::from_utf8_lossy(item.value).into_owned())) {
            return Some("which is not as it was written".to_owned());
        }
        stage.ledger.with(self.space, |space| {
            let tried = space.series.get(series).and_then(|events| events.get(key));
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
        let missing: Vec<Place> = stage.ledger.with(self.space, |space| {
            let same = space.present().is_some() && space.present() == self.generation && !self.is_excused;
            let events = self.series.iter().filter(|_| same).filter_map(|series| {
                Some(space.series.get(series)?.iter().map(move |(key, tried)| (key, *series, tried)))
            });
            let owed = events.flatten().filter(|((time, _), _, tried)| {
                let acknowledged = tried
                    .acknowledged
                    .filter(|(generation, at)| Some(*generation) == self.generation && *at <= self.begun);
                acknowledged.is_some()
                    && (claim.start()..claim.end()).contains(time)
                    && !space.may_be_dropped(*time, now, start)
            });
            let owed = owed.map(|(key, series, _)| (key.clone(), series));
            owed.filter(|place| !self.found.contains(place)).collect()
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
        format!("a read of {}/{} {:?}", self.space, self.series.join(","), self.order)
    }
}
