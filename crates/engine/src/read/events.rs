//! Rows to events to a page: pure. Decides what belongs on the page and where the next one begins.

use bytes::Bytes;
use model::{EventId, ItemKey, Order, Position, Row, SeriesId, Timestamp};

use super::partition::Head;
use crate::query::{Matcher, Seen};
use crate::{Event, Item, PAGE_BYTES_MAX, ReadRequest};

/// Bytes that an event or item costs on the page beside its own, roughly what the wire adds.
const OVERHEAD_BYTES: u64 = 32;
/// Above every item key: no text has this byte.
const ABOVE_ITEMS: &[u8] = &[0xFF];

/// Whether the page wants more rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wants {
    More,
    Nothing,
}

/// A page that fills up with events.
pub(super) struct PageOfEvents<'a> {
    series: &'a [SeriesId],
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
    /// Where the page began, or behind an event that was filtered out.
    At(Position),
    /// At the edge of a group: nothing of it is left.
    Edge(Position),
}

struct OpenEvent {
    event: Event,
    /// Its series' place in the list.
    series: usize,
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

/// A page that is done.
pub(super) struct Finished {
    pub(super) events: Vec<Event>,
    /// Where the next page begins; none at the end.
    pub(super) after: Option<Position>,
    pub(super) remaining: Option<u64>,
    /// That is the edge of a group.
    pub(super) at_edge: bool,
    /// Logical bytes of rows that were taken and lie behind that place; all of one event.
    pub(super) again_bytes: u64,
}

impl<'a> PageOfEvents<'a> {
    /// An empty page of this read.
    pub(super) fn new(request: &'a ReadRequest, matcher: &'a Matcher) -> Self {
        let resume = request.resume.as_ref();
        let begun = resume.map(|resume| &resume.after).filter(|after| is_inside_event(after));
        Self {
            series: &request.series,
            order: request.order,
            matcher,
            records_max: request.page_records,
            remaining: resume.map_or(request.total_limit, |resume| resume.remaining),
            events: Vec::new(),
            bytes: 0,
            open: None,
            begun,
            passed: resume.map(|resume| Passed::At(resume.after.clone())),
            again_bytes: 0,
            stopped: false,
        }
    }

    /// Whether more events are wanted at all.
    pub(super) fn wants(&self) -> Wants {
        let enough = self.events.len() >= self.records_max || self.remaining == Some(0) || self.stopped;
        if enough { Wants::Nothing } else { Wants::More }
    }

    /// Whether a row belongs to the event whose rows are coming. If not, that one is to be closed.
    pub(super) fn goes_on_with(&self, head: &Head<'_>) -> bool {
        let row = &head.view;
        self.open.as_ref().is_some_and(|open| {
            open.event.time == row.event_time
                && open.event.event_id.as_bytes() == row.event_id
                && open.series == head.series
        })
    }

    /// Takes the next row in order, of the open event or of a new one.
    pub(super) fn extend_event(&mut self, head: &Head<'_>) {
        let (view, bytes) = (&head.view, head.view.logical_bytes());
        let fits =
            |open: &OpenEvent| !open.overflows && open.bytes + bytes + OVERHEAD_BYTES <= PAGE_BYTES_MAX;
        // The first item of an event is always kept.
        let row = if self.open.as_ref().is_none_or(fits) { head.to_row() } else { None };
        if let (None, Some(row)) = (&self.open, &row) {
            self.open = self.begin_event(head.series, row);
        }
        let Some(open) = &mut self.open else { return };
        self.matcher.look(view.item_key, view.value, &mut open.seen);
        if let Some(Row { key, value, metadata, .. }) = row {
            open.bytes += bytes + OVERHEAD_BYTES;
            open.kept_bytes += bytes;
            open.event.items.push(Item { key: key.item_key.into_bytes(), value, metadata });
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

    fn begin_event(&self, series: usize, row: &Row) -> Option<OpenEvent> {
        let (time, event_id, id) = (row.key.event_time, &row.key.event_id, self.series.get(series)?);
        let is_same = |begun: &&Position| {
            begun.event_time == time && begun.event_id == *event_id && begun.series == *id
        };
        let event_id = event_id.clone();
        let event = Event { series: id.clone(), time, event_id, items: Vec::new(), continues: false };
        Some(OpenEvent {
            event,
            series,
            bytes: OVERHEAD_BYTES,
            seen: Seen::default(),
            begun: self.begun.filter(is_same).is_some(),
            overflows: false,
            unkept_bytes: 0,
            kept_bytes: 0,
        })
    }

    /// The open event is whole, or as much of it as fits: puts it on the page if it matches and fits.
    pub(super) fn close_event(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        if !open.begun && !self.matcher.matches(open.seen) {
            self.passed = Some(Passed::At(self.behind_event(&open.event)));
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

    /// Forgets the open event: not all of its rows were seen. The next page begins with it.
    pub(super) fn abandon_event(&mut self) {
        if let Some(open) = self.open.take() {
            self.again_bytes = open.kept_bytes + open.unkept_bytes;
        }
    }

    /// No row at or before `time` (in the order of the read) is left: the page may end here though it is not full.
    pub(super) fn pass_time(&mut self, time: Timestamp) {
        self.close_event();
        if !self.stopped {
            self.passed = self.series.first().map(|series| Passed::Edge(edge(time, series)));
        }
    }

    /// The events, and where the next page begins if `ended` is not yet true.
    pub(super) fn finish(mut self, ended: bool) -> Finished {
        self.close_event();
        let over = (ended && !self.stopped) || self.remaining == Some(0);
        let at_edge = matches!(self.passed, Some(Passed::Edge(_)));
        let after = self.passed.take().filter(|_| !over).and_then(|passed| self.position(passed));
        let Self { events, remaining, again_bytes, .. } = self;
        Finished { events, after, remaining, at_edge, again_bytes }
    }

    fn position(&self, passed: Passed) -> Option<Position> {
        let behind_last = || Some(self.behind_event(self.events.last()?));
        match passed {
            Passed::At(position) | Passed::Edge(position) => Some(position),
            Passed::Event => behind_last(),
            Passed::Item => {
                let last = self.events.last()?.items.last()?.key.clone();
                Some(Position { item_key: ItemKey::from_stored(last), ..behind_last()? })
            }
        }
    }

    /// The position behind all items of an event, in the direction of the read.
    fn behind_event(&self, event: &Event) -> Position {
        Position {
            event_time: event.time,
            event_id: event.event_id.clone(),
            series: event.series.clone(),
            item_key: behind_items(self.order),
        }
    }
}

/// Behind all items of an event, in this order.
pub(super) fn behind_items(order: Order) -> ItemKey {
    ItemKey::from_stored(match order {
        Order::OldestFirst => Bytes::from_static(ABOVE_ITEMS),
        Order::NewestFirst => Bytes::new(),
    })
}

/// Before all items of an event, in this order.
pub(super) fn before_items(order: Order) -> ItemKey {
    behind_items(match order {
        Order::OldestFirst => Order::NewestFirst,
        Order::NewestFirst => Order::OldestFirst,
    })
}

/// A position at which no event is half done: before all that happened at `time` if the read goes up, behind it if it goes down.
pub(super) fn edge(time: Timestamp, series: &SeriesId) -> Position {
    let nothing = Bytes::new();
    Position {
        event_time: time,
        event_id: EventId::from_stored(nothing.clone()),
        series: series.clone(),
        item_key: ItemKey::from_stored(nothing),
    }
}

/// Whether a position lies between two items of one event.
fn is_inside_event(position: &Position) -> bool {
    let item_key = position.item_key.as_bytes();
    !item_key.is_empty() && item_key != ABOVE_ITEMS
}
