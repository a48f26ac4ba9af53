//! Events that were read, where the pages have them that they came with.
//!
//! An event of its own would own four counted references and a list: a fifth of what a server spends on a page.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use model::{EventId, RowView, RowsBuilder, SeriesId, Timestamp};

use super::partition::Head;
use crate::course::PageRows;

/// An event that was read.
#[derive(Clone)]
pub struct Event {
    /// Whose event.
    pub series: SeriesId,
    /// When it happened.
    pub time: Timestamp,
    /// It is larger than a page and goes on in the next one.
    pub continues: bool,
    rows: EventRows,
}

/// An item of an event, looked at in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// Its key, UTF-8.
    pub key: &'a [u8],
    /// Its value.
    pub value: &'a [u8],
    /// Its encoded metadata; see [`crate::metadata`].
    pub metadata: &'a [u8],
}

/// One row for each item, at least one.
#[derive(Clone)]
enum EventRows {
    /// So many from one on.
    InPage { page: Arc<PageRows>, first: usize, count: usize },
    /// From several pages.
    Own(RowsBuilder),
}

impl Event {
    /// An event of its own; none without rows, which are all of one event.
    pub fn new(series: SeriesId, rows: RowsBuilder, continues: bool) -> Option<Self> {
        let time = rows.view(0)?.event_time;
        Some(Self { series, time, continues, rows: EventRows::Own(rows) })
    }

    /// The event that begins with a row.
    pub(super) fn begin(head: &Head<'_>) -> Self {
        let rows = EventRows::InPage { page: Arc::clone(head.page), first: head.at, count: 1 };
        Self { series: head.series.clone(), time: head.view.event_time, continues: false, rows }
    }

    /// Goes on with a row.
    pub(super) fn push(&mut self, head: &Head<'_>) {
        match &mut self.rows {
            EventRows::InPage { page, first, count }
                if Arc::ptr_eq(page, head.page) && *first + *count == head.at =>
            {
                *count += 1;
            }
            EventRows::InPage { .. } => {
                let mut rows = RowsBuilder::default();
                self.rows().for_each(|row| rows.push(row));
                rows.push(head.view);
                self.rows = EventRows::Own(rows);
            }
            EventRows::Own(rows) => rows.push(head.view),
        }
    }

    /// Which event.
    pub fn event_id(&self) -> &[u8] {
        self.row(0).map_or(&[], |row| row.event_id)
    }

    /// The same, to keep.
    pub fn to_event_id(&self) -> EventId {
        EventId::from_stored(Bytes::copy_from_slice(self.event_id()))
    }

    /// How many items it has.
    pub fn item_count(&self) -> usize {
        match &self.rows {
            EventRows::InPage { count, .. } => *count,
            EventRows::Own(rows) => rows.len(),
        }
    }

    /// Its items in the order of their keys (reversed when reading newest first).
    pub fn items(&self) -> impl DoubleEndedIterator<Item = Item<'_>> {
        self.rows().map(|row| Item { key: row.item_key, value: row.value, metadata: row.metadata })
    }

    fn rows(&self) -> impl DoubleEndedIterator<Item = RowView<'_>> {
        (0..self.item_count()).filter_map(|index| self.row(index))
    }

    /// The row of an item, looked at in place.
    #[inline]
    pub fn row(&self, index: usize) -> Option<RowView<'_>> {
        match &self.rows {
            EventRows::InPage { page, first, .. } => page.view(first + index),
            EventRows::Own(rows) => rows.view(index),
        }
    }
}

impl PartialEq for Event {
    /// Wherever their rows are.
    fn eq(&self, other: &Self) -> bool {
        (self.time, self.continues, self.event_id()) == (other.time, other.continues, other.event_id())
            && self.series == other.series
            && self.items().eq(other.items())
    }
}

impl Eq for Event {}

impl fmt::Debug for Event {
    /// Without the rest of the page.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("series", &self.series)
            .field("time", &self.time)
            .field("event_id", &String::from_utf8_lossy(self.event_id()))
            .field("items", &self.items().collect::<Vec<_>>())
            .field("continues", &self.continues)
            .finish()
    }
}
