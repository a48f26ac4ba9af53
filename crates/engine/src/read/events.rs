//! Rows to events to a page: pure. Decides what belongs on the page and where the next one begins.

use bytes::Bytes;
use model::{EventId, ItemKey, Order, Position, Row, SeriesId, Timestamp};

use crate::{Event, EventFilter, Item, PAGE_BYTES_MAX, ReadRequest, Resume};

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
    /// Everything up to here is on this or an earlier page, or was filtered out.
    passed: Option<Position>,
    stopped: bool,
}

struct OpenEvent {
    event: Event,
    bytes: u64,
    matched: Vec<bool>,
    /// The event alone is larger than a page; further items are only looked at for the filters.
    overflows: bool,
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
            passed: resume.map(|resume| resume.after.clone()),
            stopped: false,
        }
    }

    /// Whether more events are wanted at all.
    pub(super) fn wants(&self) -> Wants {
        let enough = self.events.len() >= self.records_max || self.remaining == Some(0) || self.stopped;
        if enough { Wants::Nothing } else { Wants::More }
    }

    /// Takes the next row in order.
    pub(super) fn add(&mut self, row: Row) -> Wants {
        let same = self.open.as_ref().is_some_and(|open| {
            open.event.time == row.key.event_time && open.event.event_id == row.key.event_id
        });
        if !same {
            self.close_event();
            if self.wants() == Wants::Nothing {
                return Wants::Nothing;
            }
        }
        self.extend_event(row);
        self.wants()
    }

    fn extend_event(&mut self, row: Row) {
        let begun = self
            .begun
            .as_ref()
            .is_some_and(|(time, id)| *time == row.key.event_time && *id == row.key.event_id);
        let open = self.open.get_or_insert_with(|| OpenEvent {
            event: Event {
                series: self.series.clone(),
                time: row.key.event_time,
                event_id: row.key.event_id.clone(),
                items: Vec::new(),
                continues: false,
            },
            bytes: OVERHEAD_BYTES,
            matched: vec![begun; self.filters.len()],
            overflows: false,
        });
        for (matched, filter) in open.matched.iter_mut().zip(self.filters) {
            *matched |= filter.key == row.key.item_key.as_bytes() && filter.value == row.value;
        }
        if open.overflows || (!open.event.items.is_empty() && open.bytes + size(&row) > PAGE_BYTES_MAX) {
            open.overflows = true;
            // Decided as soon as it can be: the rest of an event may be long.
            if open.matched.iter().all(|matched| *matched) {
                self.close_event();
                self.stopped = true;
            }
            return;
        }
        open.bytes += size(&row);
        let Row { key, value, metadata, .. } = row;
        open.event.items.push(Item { key: key.item_key.into_bytes(), value, metadata });
    }

    /// The open event is whole, or as much of it as fits: puts it on the page if it matches and fits.
    fn close_event(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        let behind = behind_event(self.series, self.order, &open.event);
        if !open.matched.iter().all(|matched| *matched) {
            self.passed = Some(behind);
            return;
        }
        if !self.events.is_empty() && self.bytes + open.bytes > PAGE_BYTES_MAX {
            // It begins the next page, from where this one has passed.
            self.stopped = true;
            return;
        }
        if open.overflows {
            open.event.continues = true;
            let last = open.event.items.last().map_or_else(Bytes::new, |item| item.key.clone());
            self.passed = Some(Position { item_key: ItemKey::from_stored(last), ..behind });
            self.stopped = true;
        } else {
            self.passed = Some(behind);
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
            self.passed = Some(Position {
                event_time: time,
                event_id: EventId::from_stored(nothing.clone()),
                series: self.series.clone(),
                item_key: ItemKey::from_stored(nothing),
            });
        }
    }

    /// The events, and where the next page begins if `ended` is not yet true.
    pub(super) fn finish(mut self, ended: bool) -> (Vec<Event>, Option<Resume>) {
        self.close_event();
        let over = (ended && !self.stopped) || self.remaining == Some(0);
        let next =
            if over { None } else { self.passed.map(|after| Resume { after, remaining: self.remaining }) };
        (self.events, next)
    }
}

fn size(row: &Row) -> u64 {
    row.logical_bytes() + OVERHEAD_BYTES
}

/// The position behind all items of an event, in the direction of the read.
fn behind_event(series: &SeriesId, order: Order, event: &Event) -> Position {
    let item_key = match order {
        Order::OldestFirst => Bytes::from_static(ABOVE_ITEMS),
        Order::NewestFirst => Bytes::new(),
    };
    Position {
        event_time: event.time,
        event_id: event.event_id.clone(),
        series: series.clone(),
        item_key: ItemKey::from_stored(item_key),
    }
}

/// Whether a position lies between two items of one event.
fn is_inside_event(position: &Position) -> bool {
    let item_key = position.item_key.as_bytes();
    !item_key.is_empty() && item_key != ABOVE_ITEMS
}
