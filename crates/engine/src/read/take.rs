//! Whoever takes the rows of a read: a page of events, or a tally of them.

use bytes::Bytes;
use model::{EventId, ItemKey, Order, Position, RowView, SeriesId, Timestamp};

use super::count::{Counting, Counts};
use super::partition::Head;
use crate::Resume;

/// Whether more rows are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    More,
    Nothing,
}

/// What became of an event that was looked at in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InPlace {
    /// It was counted, or does not match: nothing more of it is needed.
    Passed,
    /// Its rows are wanted, one by one.
    Wanted,
    /// There is no room for it: it begins the next page.
    NoRoom,
}

/// Takes rows one after the other. All rows of an event come together: [`Taker::goes_on_with`] says whether a row is of the
/// event that is open, and if not, that one is closed before the row is taken.
pub(crate) trait Taker {
    /// Whether more events are wanted at all.
    fn wants(&self) -> Wants;

    /// How many more events it can take.
    fn events_wanted(&self) -> usize;

    /// Whether every event that is read takes room, so that it is full with [`crate::PAGE_BYTES_MAX`].
    fn takes_all(&self) -> bool {
        false
    }

    /// What it wants to know of events, where it is nothing but how many there are and when.
    fn counting(&self) -> Option<Counting> {
        None
    }

    /// Takes events that were counted elsewhere; false where it has no room for them.
    fn take_counts(&mut self, _counts: &Counts) -> bool {
        false
    }

    /// Looks at an event that has not begun and whose rows are all here. So a rejected event never becomes a record.
    fn take_in_place(&mut self, head: &Head<'_>, rows: usize) -> InPlace;

    /// The event of this row was the last that was passed in place. Told late, when its page ends or another way begins: of most
    /// events nothing but the time is ever looked at.
    fn passed(&mut self, head: &Head<'_>);

    /// Whether a row belongs to the event whose rows are coming.
    fn goes_on_with(&self, head: &Head<'_>) -> bool;

    /// Takes the next row in order, of the open event or of a new one.
    fn extend_event(&mut self, head: &Head<'_>);

    /// The open event is whole.
    fn close_event(&mut self);

    /// Forgets the open event: not all of its rows were seen. The next page begins with it.
    fn abandon_event(&mut self);

    /// The open event is whole, and nothing is left before `edge`: the page may end there though it is not full.
    fn pass(&mut self, edge: Edge);
}

/// A place at which no event is half done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    /// It has no event id, and no event is as old.
    pub(crate) position: Position,
    /// Only in a read by partition: which event bucket is done with; none between two slices.
    pub(crate) event_bucket: Option<u32>,
}

/// Where a page ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ended {
    /// Where the next page begins; none at the end.
    pub(crate) after: Option<After>,
    /// Events still wanted; none without limit.
    pub(crate) remaining: Option<u64>,
    /// Logical bytes of rows that were taken and lie behind that place; all of one event.
    pub(crate) again_bytes: u64,
}

/// The last thing that a page has passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// An event, or a part of one that goes on.
    Row(Position),
    /// The edge of a group, a partition or a slice.
    Edge(Edge),
}

impl After {
    /// What the page before had passed.
    pub(crate) fn of(resume: &Resume) -> Self {
        let position = resume.after.clone();
        if position.event_id.as_bytes().is_empty() {
            Self::Edge(Edge { position, event_bucket: resume.event_bucket })
        } else {
            Self::Row(position)
        }
    }

    pub(crate) fn into_position(self) -> Position {
        match self {
            Self::Row(position) | Self::Edge(Edge { position, .. }) => position,
        }
    }
}

/// Which event, in memory that is used again and again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mark {
    /// None before the first event.
    series: Option<SeriesId>,
    time: i64,
    event_id: Vec<u8>,
}

impl Mark {
    /// The event of this row.
    pub(crate) fn set(&mut self, head: &Head<'_>) {
        if self.series.as_ref() != Some(head.series) {
            self.series = Some(head.series.clone());
        }
        self.time = head.view.event_time.nanos();
        self.event_id.clear();
        self.event_id.extend_from_slice(head.view.event_id);
    }

    /// When it happened, nanoseconds since 1970.
    pub(crate) const fn time(&self) -> i64 {
        self.time
    }

    /// Whether a row is of that event.
    pub(crate) fn is_of(&self, series: &SeriesId, row: &RowView<'_>) -> bool {
        self.time == row.event_time.nanos()
            && self.event_id == row.event_id
            && self.series.as_ref() == Some(series)
    }

    /// The position behind all items of that event.
    pub(crate) fn behind(&self, order: Order) -> Option<Position> {
        Some(Position {
            event_time: Timestamp::from_nanos(self.time).ok()?,
            event_id: EventId::from_stored(Bytes::copy_from_slice(&self.event_id)),
            series: self.series.clone()?,
            item_key: behind_items(order),
        })
    }
}

/// Above every item key: no text has this byte.
const ABOVE_ITEMS: &[u8] = &[0xFF];

/// Behind all items of an event, in this order.
pub(crate) fn behind_items(order: Order) -> ItemKey {
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
pub(crate) fn edge(time: Timestamp, series: &SeriesId) -> Position {
    let nothing = Bytes::new();
    Position {
        event_time: time,
        event_id: EventId::from_stored(nothing.clone()),
        series: series.clone(),
        item_key: ItemKey::from_stored(nothing),
    }
}

/// Whether a position lies between two items of one event.
pub(crate) fn is_inside_event(position: &Position) -> bool {
    let item_key = position.item_key.as_bytes();
    !item_key.is_empty() && item_key != ABOVE_ITEMS
}
