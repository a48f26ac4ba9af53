//! Rows to events to a page: pure. Decides what belongs on the page and where the next one begins.

use bytes::Bytes;
use model::{EventId, ItemKey, Order, Position, Row, RowView, SeriesId, Timestamp};

use super::partition::Head;
use crate::{Event, EventFilter, Item, PAGE_BYTES_MAX, ReadRequest};

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
    series: &'a SeriesId,
    order: Order,
    filters: &'a [EventFilter],
    records_max: usize,
    remaining: Option<u64>,
    events: Vec<Event>,
    bytes: u64,
    /// The event whose rows are coming.
    open: Option<OpenEvent>,
    /// The event that the page before began: it has matched.
    begun: Option<(Timestamp, EventId)>,
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
    /// As they count on the page.
    bytes: u64,
    matched: Vec<bool>,
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
    pub(super) fn new(request: &'a ReadRequest) -> Self {
        let resume = request.resume.as_ref();
        let begun = resume.map(|resume| &resume.after).filter(|after| is_inside_event(after));
        Self {
            series: &request.series,
            order: request.order,
            filters: &request.filters,
            records_max: request.page_records,
            remaining: resume.map_or(request.total_limit, |resume| resume.remaining),
            events: Vec::new(),
            bytes: 0,
            open: None,
            begun: begun.map(|after| (after.event_time, after.event_id.clone())),
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
    pub(super) fn goes_on_with(&self, row: &RowView<'_>) -> bool {
        self.open.as_ref().is_some_and(|open| {
            open.event.time == row.event_time && open.event.event_id.as_bytes() == row.event_id
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
            self.open = Some(self.begin_event(row));
        }
        let Some(open) = &mut self.open else { return };
        for (matched, filter) in open.matched.iter_mut().zip(self.filters) {
            *matched |= filter.key == view.item_key && filter.value == view.value;
        }
        if let Some(Row { key, value, metadata, .. }) = row {
            open.bytes += bytes + OVERHEAD_BYTES;
            open.kept_bytes += bytes;
            open.event.items.push(Item { key: key.item_key.into_bytes(), value, metadata });
            return;
        }
        open.overflows = true;
        open.unkept_bytes += bytes;
        // Decided as soon as it can be: the rest of an event may be long.
        if open.matches() {
            self.close_event();
            self.stopped = true;
        }
    }

    fn begin_event(&self, row: &Row) -> OpenEvent {
        let (time, event_id) = (row.key.event_time, &row.key.event_id);
        let begun = self.begun.as_ref().is_some_and(|(at, id)| *at == time && id == event_id);
        let event_id = event_id.clone();
        let event =
            Event { series: self.series.clone(), time, event_id, items: Vec::new(), continues: false };
        OpenEvent {
            event,
            bytes: OVERHEAD_BYTES,
            matched: vec![begun; self.filters.len()],
            overflows: false,
            unkept_bytes: 0,
            kept_bytes: 0,
        }
    }

    /// The open event is whole, or as much of it as fits: puts it on the page if it matches and fits.
    pub(super) fn close_event(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        if !open.matches() {
            let Event { time, event_id, .. } = open.event;
            self.passed = Some(Passed::At(self.behind_event(time, event_id)));
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

    /// No row at or before `time` (in the order of the read) is left: the page may end here though it is not full.
    pub(super) fn pass_time(&mut self, time: Timestamp) {
        self.close_event();
        if !self.stopped {
            let nothing = Bytes::new();
            self.passed = Some(Passed::Edge(Position {
                event_time: time,
                event_id: EventId::from_stored(nothing.clone()),
                series: self.series.clone(),
                item_key: ItemKey::from_stored(nothing),
            }));
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
        let behind_last = || {
            let event = self.events.last()?;
            Some(self.behind_event(event.time, event.event_id.clone()))
        };
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
    fn behind_event(&self, event_time: Timestamp, event_id: EventId) -> Position {
        let item_key = match self.order {
            Order::OldestFirst => Bytes::from_static(ABOVE_ITEMS),
            Order::NewestFirst => Bytes::new(),
        };
        let item_key = ItemKey::from_stored(item_key);
        Position { event_time, event_id, series: self.series.clone(), item_key }
    }
}

impl OpenEvent {
    fn matches(&self) -> bool {
        self.matched.iter().all(|matched| *matched)
    }
}

/// Whether a position lies between two items of one event.
fn is_inside_event(position: &Position) -> bool {
    let item_key = position.item_key.as_bytes();
    !item_key.is_empty() && item_key != ABOVE_ITEMS
}
