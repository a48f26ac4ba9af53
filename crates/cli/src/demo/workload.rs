//! What the demo writes: many small series, whose sizes fall off as they do in life, and one whale with half of all
//! events. The same seed and the same end of time give the same events, byte for byte.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use api::convert::timestamp_to_wire;
use api::v1;
use env::{Random, SeededRandom};

use crate::import::{Found, Place, Source};

/// Where the randomness of the events starts.
pub(crate) const SEED: u64 = 7;
/// The series with half of the events.
pub(crate) const WHALE: usize = 0;
/// The time that the events spread over.
const SPAN: Duration = Duration::from_secs(HOURS * 3_600);
const SPAN_NANOS: u64 = HOURS * 3_600 * 1_000_000_000;
/// Whole ones, so that each series has as many partitions.
pub(crate) const HOURS: u64 = 2;
const HOUR_NANOS: i64 = 3_600 * 1_000_000_000;
const MIB: i64 = 1 << 20;
/// The weight of the largest of the small series; the n-th has a n-th of it.
const WEIGHT: u64 = 1 << 32;
const ITEM_KEY: &str = "play";
/// What every value ends with, as values in life have much in common.
const REST: &str = r#""app":"12.4.1","quality":"uhd","autoplay":true,"buffered":false"#;
const DEVICES: [&str; 5] = ["tv", "ios", "android", "web", "console"];
const COUNTRIES: [&str; 6] = ["US", "BR", "DE", "IN", "JP", "KE"];

/// How much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scale {
    /// 50,000 events of 2,000 series
    #[default]
    S,
    /// 400,000 events of 5,000 series
    M,
    /// 2,000,000 events of 20,000 series
    L,
}

impl Scale {
    /// From how many bytes on a partition is wide, and how many a target should have: the defaults, but for a workload that is
    /// too small for them.
    pub(crate) const fn split_bytes(self) -> (i64, i64) {
        match self {
            Self::S => (MIB, MIB / 4),
            Self::M | Self::L => (16 * MIB, 4 * MIB),
        }
    }
}

/// The newest full hour whose events nobody may send any more with the default settings: where a workload ends.
pub(crate) const fn closed_hour(now: i64) -> i64 {
    now - now.rem_euclid(HOUR_NANOS) - HOUR_NANOS
}

/// A workload that can be made as often as needed.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    events: u64,
    series: usize,
    /// Nanoseconds since 1970 at which it begins.
    start: i64,
    /// Up to here, the weights of the small series added up, one after another.
    weights: Arc<[u64]>,
}

impl Workload {
    /// The workload of a scale that ends at `end`, in nanoseconds since 1970.
    pub(crate) fn new(scale: Scale, end: i64) -> Self {
        let (events, series) = match scale {
            Scale::S => (50_000, 2_000),
            Scale::M => (400_000, 5_000),
            Scale::L => (2_000_000, 20_000),
        };
        Self::sized(events, series, end)
    }

    pub(super) fn sized(events: u64, series: usize, end: i64) -> Self {
        let mut total = 0;
        let weights = (1..).take(series.saturating_sub(1)).map(|rank: u64| {
            total += WEIGHT / rank;
            total
        });
        let span = i64::try_from(SPAN.as_nanos()).unwrap_or(i64::MAX);
        Self { events, series, start: end.saturating_sub(span), weights: weights.collect() }
    }

    /// How many events it has.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// How many series it has, the whale among them.
    pub(crate) fn series(&self) -> usize {
        self.series
    }

    /// When its events lie.
    pub(crate) fn interval(&self) -> v1::TimeInterval {
        let end = self.start.saturating_add(i64::try_from(SPAN.as_nanos()).unwrap_or(i64::MAX));
        v1::TimeInterval { start: Some(timestamp_to_wire(self.start)), end: Some(timestamp_to_wire(end)) }
    }

    /// All events, in the order of time, each with the number of its series.
    pub(crate) fn iter(&self) -> Events {
        Events { workload: self.clone(), next: 0, random: SeededRandom::new(SEED) }
    }

    /// All events, for an import. `made` counts them.
    pub(crate) fn source(&self, made: Arc<AtomicU64>) -> Box<dyn Source> {
        Box::new(Made { events: self.iter(), made })
    }

    /// The event with this number, from the next numbers of `random`.
    fn event(&self, number: u64, random: &dyn Random) -> (usize, v1::Event) {
        let series = self.draw(random);
        let (session, trace) = (random.next_u64(), random.next_u64());
        let device = pick(&DEVICES, random);
        let country = pick(&COUNTRIES, random);
        let (title, position) = (random.below(90_000), random.below(7_200_000));
        let what = format!(r#""title":"tt{title:07}","device":"{device}","country":"{country}""#);
        let whose = format!(r#""session":"{session:016x}","trace":"{trace:016x}{number:016x}""#);
        let value = format!(r#"{{{what},"position_ms":{position},{whose},{REST}}}"#);
        let item = v1::EventItem {
            event_item_key: ITEM_KEY.to_owned(),
            event_item_value: value.into(),
            ..v1::EventItem::default()
        };
        let offset = u128::from(number) * u128::from(SPAN_NANOS) / u128::from(self.events.max(1));
        let time = self.start.saturating_add(i64::try_from(offset).unwrap_or(i64::MAX));
        let event = v1::Event {
            time_series_id: name(series),
            event_time: Some(timestamp_to_wire(time)),
            event_id: format!("{number:08x}"),
            event_items: vec![item],
            continues: false,
        };
        (series, event)
    }

    /// The whale every other time, else a small series by its weight.
    fn draw(&self, random: &dyn Random) -> usize {
        let total = self.weights.last().copied().unwrap_or(0);
        if total == 0 || random.below(2) == 0 {
            return WHALE;
        }
        let drawn = random.below(total);
        1 + self.weights.partition_point(|sum| *sum <= drawn)
    }
}

/// What the series with this number is called.
pub(crate) fn name(series: usize) -> String {
    if series == WHALE { "profile:whale".to_owned() } else { format!("profile:{series:05}") }
}

fn pick<'a>(from: &[&'a str], random: &dyn Random) -> &'a str {
    let count = u64::try_from(from.len()).unwrap_or(1).max(1);
    let at = usize::try_from(random.below(count)).unwrap_or(0);
    from.get(at).copied().unwrap_or_default()
}

/// The events of a workload.
pub(crate) struct Events {
    workload: Workload,
    next: u64,
    random: SeededRandom,
}

impl Iterator for Events {
    type Item = (usize, v1::Event);

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.workload.events {
            return None;
        }
        let number = self.next;
        self.next += 1;
        Some(self.workload.event(number, &self.random))
    }
}

/// The same events, as something to import.
struct Made {
    events: Events,
    made: Arc<AtomicU64>,
}

impl Source for Made {
    fn next(&mut self) -> Option<(Place, Found)> {
        let (_, event) = self.events.next()?;
        self.made.store(self.events.next, Ordering::Relaxed);
        Some((Place { input: 0, line: self.events.next }, Found::Event(event)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: i64 = 1_774_656_000_000_000_000;

    fn counts(workload: &Workload) -> Vec<u64> {
        let mut counts = vec![0; workload.series()];
        for (series, _) in workload.iter() {
            counts[series] += 1;
        }
        counts
    }

    #[test]
    fn the_same_workload_is_made_every_time_and_imported() {
        let workload = Workload::sized(500, 40, END);
        let first: Vec<_> = workload.iter().collect();
        assert_eq!(first, workload.clone().iter().collect::<Vec<_>>());
        let mut source = workload.source(Arc::default());
        for (line, (_, event)) in (1..).zip(&first) {
            assert_eq!(source.next(), Some((Place { input: 0, line }, Found::Event(event.clone()))));
        }
        assert_eq!(source.next(), None);
        let value = String::from_utf8(first[0].1.event_items[0].event_item_value.to_vec()).unwrap();
        let expect = concat!(
            r#"{"title":"tt0071246","device":"tv","country":"US","position_ms":666366,"#,
            r#""session":"b7e1e15867216173","trace":"7b2b2203a8a4fd910000000000000000","#,
            r#""app":"12.4.1","quality":"uhd","autoplay":true,"buffered":false}"#
        );
        assert_eq!(value, expect);
    }

    #[test]
    fn half_of_it_is_the_whale_and_the_others_fall_off() {
        let workload = Workload::new(Scale::S, END);
        let counts = counts(&workload);
        assert_eq!(counts.iter().sum::<u64>(), 50_000);
        assert!((24_000..26_000).contains(&counts[WHALE]), "{}", counts[WHALE]);
        // By the law of it, the first has one part in ln(2000) + 0.58 of the other half: some 3,050.
        assert!((2_850..3_250).contains(&counts[1]), "{}", counts[1]);
        assert!((1_400..1_650).contains(&counts[2]), "{}", counts[2]);
        let tail: u64 = counts[1_000..].iter().sum();
        assert!((1_900..2_350).contains(&tail), "{tail}");
        assert!(counts[1_999] < 10, "{}", counts[1_999]);
    }

    #[test]
    fn events_lie_in_the_interval_in_order_and_are_about_as_large_as_said() {
        let workload = Workload::sized(1_000, 10, END);
        let nanos = |time: prost_types::Timestamp| time.seconds * 1_000_000_000 + i64::from(time.nanos);
        let interval = workload.interval();
        let (start, end) = (nanos(interval.start.unwrap()), nanos(interval.end.unwrap()));
        assert_eq!((start, end), (END - 2 * HOUR_NANOS, END));
        let times: Vec<i64> = workload.iter().map(|(_, event)| nanos(event.event_time.unwrap())).collect();
        assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(times[0] >= start && times[999] < end);
        for (series, event) in workload.iter() {
            assert_eq!(event.time_series_id, name(series));
            let value = &event.event_items[0].event_item_value;
            assert!((180..260).contains(&value.len()), "{}", value.len());
            assert!(serde_json::from_slice::<serde_json::Value>(value).is_ok());
        }
    }

    #[test]
    fn a_workload_ends_with_an_hour_that_is_over_for_an_hour_or_two() {
        let hour = |hours: i64| hours * HOUR_NANOS;
        assert_eq!(closed_hour(hour(7)), hour(6));
        assert_eq!(closed_hour(hour(8) - 1), hour(6));
    }

    /// The whale is wide in every hour, and nobody else is.
    #[test]
    fn only_the_whale_is_wide() {
        let (workload, (threshold, _)) = (Workload::new(Scale::S, END), Scale::S.split_bytes());
        let mut bytes = vec![0_i64; workload.series()];
        for (series, event) in workload.iter() {
            let item = &event.event_items[0];
            let all = 8 + event.event_id.len() + item.event_item_key.len() + item.event_item_value.len();
            bytes[series] += i64::try_from(all).unwrap();
        }
        let hours = i64::try_from(HOURS).unwrap();
        assert!(bytes[WHALE] / hours > threshold + threshold / 4, "{}", bytes[WHALE]);
        assert!(bytes[1..].iter().all(|bytes| *bytes < threshold), "{:?}", bytes[1]);
        // Eight times as many events, sixteen times as wide: the same holds for the defaults.
        let (more, _) = Scale::M.split_bytes();
        assert!(bytes[WHALE] * 8 / hours > more + more / 4 && bytes[1] * 8 < more);
    }

    #[test]
    fn a_workload_of_the_whale_alone_and_an_empty_one_are_possible() {
        assert_eq!(counts(&Workload::sized(10, 1, END)), [10]);
        assert_eq!(Workload::sized(0, 5, END).iter().count(), 0);
        assert_eq!(Workload::new(Scale::L, END).series(), 20_000);
        assert_eq!(Workload::new(Scale::M, END).events(), 400_000);
    }
}
