//! Rows to events to a page: pure. Decides what belongs on the page and where the next one begins.

use bytes::Bytes;
use model::{ItemKey, Order, Position};

use super::partition::Head;
use super::take::{After, Edge, Ended, InPlace, Mark, Taker, Wants, behind_items, is_inside_event};
use crate::query::{Matcher, Seen};
use crate::{Event, PAGE_BYTES_MAX, ReadRequest};

/// Bytes that an event or item costs on the page beside its own, roughly what the wire adds.
const OVERHEAD_BYTES: u64 = 32;

/// A page that fills up with events.
pub(super) struct PageOfEvents<'a> {
    order: Order,
    matcher: &'a Matcher,
    records_max: usize,
    remaining: Option<u64>,
    events: Vec<Event>,
    bytes: u64,
    /// The event whose rows are coming.
    open: Option<OpenEvent>,
    /// Inside of this event the page before ended: it has matched.
    begun: Option<&'a Position>,
    passed: Option<Passed>,
    /// The last event that was filtered out.
    rejected: Mark,
    /// Logical bytes of rows that were taken and not passed.
    again_bytes: u64,
    stopped: bool,
}

/// Everything up to here is on this or an earlier page, or was filtered out.
enum Passed {
    /// Behind the last event on the page.
    Event,
    /// Inside of it: it goes on.
    Item,
    /// Behind the last event that was filtered out.
    Rejected,
    /// Here: where the page began, behind an event, or at an edge before which nothing is left.
    At(After),
}

struct OpenEvent {
    event: Event,
    /// As they count on the page.
    bytes: u64,
    seen: Seen,
    /// An earlier page has a part of it.
    begun: bool,
    /// The event alone is larger than a page; further items are only looked at for the filters.
    overflows: bool,
    /// Logical bytes of the rows that were looked at and not kept.
    unkept_bytes: u64,
    kept_bytes: u64,
}

impl<'a> PageOfEvents<'a> {
    /// An empty page of this read.
    pub(super) fn new(request: &'a ReadRequest, matcher: &'a Matcher) -> Self {
        let resume = request.resume.as_ref();
        let begun = resume.map(|resume| &resume.after).filter(|after| is_inside_event(after));
        Self {
            order: request.order,
            matcher,
            records_max: request.page_records,
            remaining: resume.map_or(request.total_limit, |resume| resume.remaining),
            events: Vec::new(),
            bytes: 0,
            open: None,
            begun,
            passed: resume.map(|resume| Passed::At(After::of(resume))),
            rejected: Mark::default(),
            again_bytes: 0,
            stopped: false,
        }
    }

    /// The first item of an event is always kept.
    fn begin_event(&self, head: &Head<'_>) -> OpenEvent {
        let bytes = head.view.logical_bytes();
        OpenEvent {
            event: Event::begin(head),
            bytes: bytes + 2 * OVERHEAD_BYTES,
            seen: Seen::default(),
            begun: self.begun.is_some_and(|begun| is_of(begun, head)),
            overflows: false,
            unkept_bytes: 0,
            kept_bytes: bytes,
        }
    }

    /// The events, and where the next page begins if `ended` is not yet true.
    pub(super) fn finish(mut self, ended: bool) -> (Vec<Event>, Ended) {
        self.close_event();
        let over = (ended && !self.stopped) || self.remaining == Some(0);
        let after = self.passed.take().filter(|_| !over).and_then(|passed| self.after(passed));
        let Self { events, remaining, again_bytes, .. } = self;
        (events, Ended { after, remaining, again_bytes })
    }

    fn after(&self, passed: Passed) -> Option<After> {
        let behind_last = || Some(self.behind_event(self.events.last()?));
        Some(match passed {
            Passed::At(after) => after,
            Passed::Rejected => After::Row(self.rejected.behind(self.order)?),
            Passed::Event => After::Row(behind_last()?),
            Passed::Item => {
                let last = Bytes::copy_from_slice(self.events.last()?.items().next_back()?.key);
                After::Row(Position { item_key: ItemKey::from_stored(last), ..behind_last()? })
            }
        })
    }

    /// The position behind all items of an event, in the direction of the read.
    fn behind_event(&self, event: &Event) -> Position {
        Position {
            event_time: event.time,
            event_id: event.to_event_id(),
            series: event.series.clone(),
            item_key: behind_items(self.order),
        }
    }
}

impl Taker for PageOfEvents<'_> {
    fn wants(&self) -> Wants {
        let enough = self.events.len() >= self.records_max || self.remaining == Some(0) || self.stopped;
        if enough { Wants::Nothing } else { Wants::More }
    }

    fn events_wanted(&self) -> usize {
        let remaining = self.remaining.and_then(|left| usize::try_from(left).ok()).unwrap_or(usize::MAX);
        self.records_max.saturating_sub(self.events.len()).min(remaining)
    }

    fn takes_all(&self) -> bool {
        self.matcher.takes_all()
    }

    fn take_in_place(&mut self, head: &Head<'_>, rows: usize) -> InPlace {
        if self.matcher.takes_all() || self.begun.is_some_and(|begun| is_of(begun, head)) {
            return InPlace::Wanted;
        }
        let mut seen = Seen::default();
        head.rows(rows).for_each(|row| self.matcher.look(row.item_key, row.value, &mut seen));
        if self.matcher.matches(seen) { InPlace::Wanted } else { InPlace::Passed }
    }

    fn passed(&mut self, head: &Head<'_>) {
        self.rejected.set(head);
        self.passed = Some(Passed::Rejected);
    }

    fn goes_on_with(&self, head: &Head<'_>) -> bool {
        let row = &head.view;
        self.open.as_ref().is_some_and(|open| {
            open.event.time == row.event_time
                && open.event.event_id() == row.event_id
                && open.event.series == *head.series
        })
    }

    fn extend_event(&mut self, head: &Head<'_>) {
        let (view, bytes) = (&head.view, head.view.logical_bytes());
        let Some(open) = &mut self.open else {
            let mut open = self.begin_event(head);
            self.matcher.look(view.item_key, view.value, &mut open.seen);
            self.open = Some(open);
            return;
        };
        self.matcher.look(view.item_key, view.value, &mut open.seen);
        if !open.overflows && open.bytes + bytes + OVERHEAD_BYTES <= PAGE_BYTES_MAX {
            open.bytes += bytes + OVERHEAD_BYTES;
            open.kept_bytes += bytes;
            open.event.push(head);
            return;
        }
        open.overflows = true;
        open.unkept_bytes += bytes;
        // Decided as soon as it can be: the rest of an event may be long.
        if open.begun || self.matcher.matches_already(open.seen) {
            self.close_event();
            self.stopped = true;
        }
    }

    fn close_event(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        if !open.begun && !self.matcher.matches(open.seen) {
            self.passed = Some(Passed::At(After::Row(self.behind_event(&open.event))));
            return;
        }
        if !self.events.is_empty() && self.bytes + open.bytes > PAGE_BYTES_MAX {
            // It begins the next page, from where this one has passed.
            self.again_bytes = open.kept_bytes + open.unkept_bytes;
            self.stopped = true;
            return;
        }
        if open.overflows {
            open.event.continues = true;
            self.again_bytes = open.unkept_bytes;
            self.passed = Some(Passed::Item);
            self.stopped = true;
        } else {
            self.passed = Some(Passed::Event);
            self.remaining = self.remaining.map(|left| left.saturating_sub(1));
        }
        self.bytes += open.bytes;
        self.events.push(open.event);
    }

    fn abandon_event(&mut self) {
        if let Some(open) = self.open.take() {
            self.again_bytes = open.kept_bytes + open.unkept_bytes;
        }
    }

    fn pass(&mut self, edge: Edge) {
        self.close_event();
        if !self.stopped {
            self.passed = Some(Passed::At(After::Edge(edge)));
        }
    }
}

/// Where the pages before have ended.
fn is_of(position: &Position, head: &Head<'_>) -> bool {
    position.event_time == head.view.event_time
        && position.event_id.as_bytes() == head.view.event_id
        && position.series == *head.series
}
