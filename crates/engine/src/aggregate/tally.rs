//! What the events add up to, as their rows go by. Pure.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use model::{Interval, Order};

use super::sum::Sum;
use crate::query::{Matcher, Number, Seen};
use crate::read::{After, Counting, Counts as GroupCounts, Edge, Ended, Head, InPlace, Mark, Taker, Wants};
use crate::{Aggregation, Bucket, BucketKey, PAGE_BYTES_MAX, ReadRequest, Stats};

/// Bytes that a bucket takes in the answer beside its value, about.
const BUCKET_BYTES: u64 = 32;

/// Counts matching events until a limit of the answer is reached.
pub(super) struct Tally<'a> {
    order: Order,
    matcher: &'a Matcher,
    counts: Counts<'a>,
    count: u64,
    remaining: Option<u64>,
    /// The last event that was counted or did not match.
    passed: Mark,
    after: Progress,
    /// The event whose rows are coming, where they are not all in one page of the store.
    open: Option<Open>,
    again_bytes: u64,
    full: bool,
}

/// How far the tally has come.
enum Progress {
    /// Where the answers before ended; none at the beginning.
    Before(Option<After>),
    /// Behind the event that was passed last.
    Event,
    Edge(Edge),
}

#[derive(Default)]
struct Open {
    mark: Mark,
    seen: Seen,
    value: Option<Bytes>,
    bytes: u64,
}

/// What is kept of the events.
enum Counts<'a> {
    Count,
    Distinct {
        key: &'a [u8],
        values: HashMap<Bytes, u64>,
        bytes: u64,
        buckets_max: usize,
    },
    Stats {
        key: &'a [u8],
        count: u64,
        range: Option<(Number, Number)>,
        sum: Sum,
    },
    /// Stretches of time by their start.
    Histogram {
        width: i64,
        stretches: BTreeMap<i64, u64>,
        buckets_max: usize,
    },
}

impl<'a> Tally<'a> {
    pub(super) fn new(request: &'a ReadRequest, aggregation: &'a Aggregation, matcher: &'a Matcher) -> Self {
        let resume = request.resume.as_ref();
        let buckets_max = request.page_records;
        let counts = match aggregation {
            Aggregation::Count => Counts::Count,
            Aggregation::Distinct { key } => {
                Counts::Distinct { key: key.as_bytes(), values: HashMap::new(), bytes: 0, buckets_max }
            }
            Aggregation::Stats { key } => {
                Counts::Stats { key: key.as_bytes(), count: 0, range: None, sum: Sum::default() }
            }
            Aggregation::TimeHistogram { width } => {
                Counts::Histogram { width: *width, stretches: BTreeMap::new(), buckets_max }
            }
        };
        Self {
            order: request.order,
            matcher,
            counts,
            count: 0,
            remaining: resume.map_or(request.total_limit, |resume| resume.remaining),
            passed: Mark::default(),
            after: Progress::Before(resume.map(After::of)),
            open: None,
            again_bytes: 0,
            full: false,
        }
    }

    /// Counts an event; false where the answer has no room for its bucket.
    fn count(&mut self, time: i64, value: Option<&[u8]>) -> bool {
        if !self.counts.add(time, value) {
            self.full = true;
            return false;
        }
        self.count += 1;
        self.remaining = self.remaining.map(|left| left.saturating_sub(1));
        true
    }

    /// The answer, and where the next begins if this is not the end.
    pub(super) fn finish(mut self, over: bool) -> (u64, Vec<Bucket>, Option<Stats>, Ended) {
        self.close_event();
        let over = (over && !self.full) || self.remaining == Some(0);
        let after = match self.after {
            _ if over => None,
            Progress::Before(after) => after,
            Progress::Event => self.passed.behind(self.order).map(After::Row),
            Progress::Edge(edge) => Some(After::Edge(edge)),
        };
        let ended = Ended { after, remaining: self.remaining, again_bytes: self.again_bytes };
        let (buckets, stats) = self.counts.into_answer(self.order);
        (self.count, buckets, stats, ended)
    }
}

impl Counts<'_> {
    /// The key of the items that are looked at.
    fn key(&self) -> Option<&[u8]> {
        match self {
            Self::Distinct { key, .. } | Self::Stats { key, .. } => Some(key),
            Self::Count | Self::Histogram { .. } => None,
        }
    }

    /// Takes an event of this time and with this value of the item; false where there is no room for it.
    fn add(&mut self, time: i64, value: Option<&[u8]>) -> bool {
        match self {
            Self::Count => {}
            Self::Distinct { values, bytes, buckets_max, .. } => {
                let Some(value) = value else { return true };
                if let Some(count) = values.get_mut(value) {
                    *count += 1;
                    return true;
                }
                let size = value.len() as u64 + BUCKET_BYTES;
                let fits = values.is_empty() || *bytes + size <= PAGE_BYTES_MAX;
                if !fits || values.len() >= *buckets_max {
                    return false;
                }
                *bytes += size;
                // Copied: a slice would hold on to the page it lies in.
                values.insert(Bytes::copy_from_slice(value), 1);
            }
            Self::Stats { count, range, sum, .. } => {
                let Some(number) = value.and_then(Number::parse) else { return true };
                *count += 1;
                sum.add(number);
                let (least, greatest) = range.get_or_insert((number, number));
                if number.compare(*least).is_lt() {
                    *least = number;
                }
                if number.compare(*greatest).is_gt() {
                    *greatest = number;
                }
            }
            Self::Histogram { width, stretches, buckets_max } => {
                let start = time - time.rem_euclid(*width);
                if let Some(count) = stretches.get_mut(&start) {
                    *count += 1;
                    return true;
                }
                if stretches.len() >= *buckets_max {
                    return false;
                }
                stretches.insert(start, 1);
            }
        }
        true
    }

    fn into_answer(self, order: Order) -> (Vec<Bucket>, Option<Stats>) {
        match self {
            Self::Count => (Vec::new(), None),
            Self::Distinct { values, .. } => {
                let mut values: Vec<(Bytes, u64)> = values.into_iter().collect();
                values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
                let bucket = |(value, count)| Bucket { key: BucketKey::Value(value), count };
                (values.into_iter().map(bucket).collect(), None)
            }
            Self::Stats { count, range, sum, .. } => {
                let (min, max) =
                    (range.map(|range| range.0.to_float()), range.map(|range| range.1.to_float()));
                (Vec::new(), Some(Stats { count, min, max, sum: sum.total() }))
            }
            Self::Histogram { width, stretches, .. } => {
                let bucket = |(start, count): (i64, u64)| {
                    let time = Interval::new(start, start.saturating_add(width)).ok()?;
                    Some(Bucket { key: BucketKey::Time(time), count })
                };
                let mut buckets: Vec<Bucket> = stretches.into_iter().filter_map(bucket).collect();
                if order == Order::NewestFirst {
                    buckets.reverse();
                }
                (buckets, None)
            }
        }
    }
}

impl Taker for Tally<'_> {
    fn wants(&self) -> Wants {
        if self.full || self.remaining == Some(0) { Wants::Nothing } else { Wants::More }
    }

    fn events_wanted(&self) -> usize {
        self.remaining.and_then(|left| usize::try_from(left).ok()).unwrap_or(usize::MAX - 1)
    }

    fn counting(&self) -> Option<Counting> {
        let counting = match &self.counts {
            Counts::Count => Counting::Events,
            Counts::Histogram { width, .. } => Counting::Stretches(*width),
            Counts::Distinct { .. } | Counts::Stats { .. } => return None,
        };
        // Where only so many are wanted, their order matters.
        (self.matcher.takes_all() && self.remaining.is_none()).then_some(counting)
    }

    fn take_counts(&mut self, counts: &GroupCounts) -> bool {
        if let Counts::Histogram { stretches, buckets_max, .. } = &mut self.counts {
            let new = counts.keys().filter(|start| !stretches.contains_key(start)).count();
            if stretches.len() + new > *buckets_max {
                return false;
            }
            counts.iter().for_each(|(start, events)| *stretches.entry(*start).or_default() += events);
        }
        self.count += counts.values().sum::<u64>();
        true
    }

    fn take_in_place(&mut self, head: &Head<'_>, rows: usize) -> InPlace {
        if !self.matcher.takes_all() {
            let mut seen = Seen::default();
            head.rows(rows).for_each(|row| self.matcher.look(row.item_key, row.value, &mut seen));
            if !self.matcher.matches(seen) {
                return InPlace::Passed;
            }
        }
        let key = self.counts.key();
        let row = key.and_then(|key| head.rows(rows).find(|row| row.item_key == key));
        let counted = self.count(head.view.event_time.nanos(), row.map(|row| row.value));
        if counted { InPlace::Passed } else { InPlace::NoRoom }
    }

    fn passed(&mut self, head: &Head<'_>) {
        self.passed.set(head);
        self.after = Progress::Event;
    }

    fn goes_on_with(&self, head: &Head<'_>) -> bool {
        self.open.as_ref().is_some_and(|open| open.mark.is_of(head.series, &head.view))
    }

    fn extend_event(&mut self, head: &Head<'_>) {
        let open = self.open.get_or_insert_with(|| {
            let mut open = Open::default();
            open.mark.set(head);
            open
        });
        self.matcher.look(head.view.item_key, head.view.value, &mut open.seen);
        if self.counts.key() == Some(head.view.item_key) {
            open.value = Some(Bytes::copy_from_slice(head.view.value));
        }
        open.bytes += head.view.logical_bytes();
    }

    fn close_event(&mut self) {
        let Some(open) = self.open.take() else { return };
        if self.matcher.matches(open.seen) && !self.count(open.mark.time(), open.value.as_deref()) {
            self.again_bytes = open.bytes;
            return;
        }
        self.passed = open.mark;
        self.after = Progress::Event;
    }

    fn abandon_event(&mut self) {
        if let Some(open) = self.open.take() {
            self.again_bytes = open.bytes;
        }
    }

    fn pass(&mut self, edge: Edge) {
        self.close_event();
        if !self.full {
            self.after = Progress::Edge(edge);
        }
    }
}
