//! The rows of a chunk, in both directions and from any position. A row borrows from the chunk or shares its buffers; only ids were copied, once a chunk.

use std::cmp::Ordering;
use std::ops::Range;

use model::{EventId, Interval, ItemKey, Row, RowKey, RowView, Timestamp};

use crate::{Chunk, Dictionary, Error, Events, Header, Ids, Values};

/// All rows of a chunk, newest first.
#[derive(Clone, Copy, Debug)]
pub struct ChunkRows<'a> {
    pub(crate) header: &'a Header,
    pub(crate) events: &'a Events,
    pub(crate) ids: &'a Ids,
    pub(crate) item_keys: &'a Dictionary,
    pub(crate) metadata: &'a Dictionary,
    pub(crate) values: &'a Values,
    pub(crate) write_times: &'a [i64],
}

impl<'a> ChunkRows<'a> {
    pub(crate) fn new(chunk: &'a Chunk) -> Result<Self, Error> {
        Ok(Self {
            header: chunk.header(),
            events: chunk.events()?,
            ids: chunk.ids()?,
            item_keys: chunk.item_keys()?,
            metadata: chunk.metadata()?,
            values: chunk.values()?,
            write_times: chunk.write_times()?,
        })
    }

    /// Rows descend, and they are those that the header speaks of.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if !self.events_descend() || !self.items_descend() {
            return Err(Error::Malformed("its rows are not in order"));
        }
        let last = self.len().checked_sub(1).and_then(|last| self.get(last));
        let is = |row: Option<RowView<'_>>, key: &RowKey| row.is_some_and(|row| against(&row, key).is_eq());
        if !is(self.get(0), &self.header.newest) || !is(last, &self.header.oldest) {
            return Err(Error::Malformed("its first and last row are not those of the header"));
        }
        if self.logical_bytes() != self.header.logical_bytes {
            return Err(Error::Malformed("its rows have other bytes than the header says"));
        }
        Ok(())
    }

    /// Each event is older than the one before, or of the same time and another, lesser id: one that was cut in two would be
    /// counted twice. Most differ in time, so ids are hardly looked at.
    fn events_descend(&self) -> bool {
        let pairs = self.events.times().array_windows().zip(1_usize..);
        pairs.into_iter().all(|([before, time], event)| {
            time < before || (time == before && self.ids.get(event) < self.ids.get(event - 1))
        })
    }

    /// The rows of each event.
    fn items_descend(&self) -> bool {
        self.events.are_rows()
            || (0..self.events.times().len()).filter_map(|event| self.events.rows(event)).all(|rows| {
                let mut pairs = rows.clone().zip(rows.skip(1));
                pairs.all(|(before, row)| self.item_keys.get(row) < self.item_keys.get(before))
            })
    }

    /// Added up by column; what [`RowView::logical_bytes`] gives row by row.
    fn logical_bytes(&self) -> u64 {
        let ids = if self.events.are_rows() {
            self.ids.total_bytes()
        } else {
            let of_event = |event| {
                let rows = self.events.rows(event).unwrap_or_default().len();
                (self.ids.get(event).len() * rows) as u64
            };
            (0..self.events.times().len()).map(of_event).sum()
        };
        let times = (self.len() * size_of::<i64>()) as u64;
        times + ids + self.item_keys.total_bytes() + self.metadata.total_bytes() + self.values.total_bytes()
    }

    #[inline]
    fn build(&self, event: usize, row: usize) -> RowView<'a> {
        RowView {
            event_time: time_of(self.events, event),
            event_id: self.ids.get(event),
            item_key: self.item_keys.get(row),
            write_time: self.write_times.get(row).copied().unwrap_or_default(),
            value: self.values.get(row),
            metadata: self.metadata.get(row),
        }
    }

    /// How many there are, at least one.
    #[expect(clippy::len_without_is_empty, reason = "no chunk is empty")]
    pub const fn len(&self) -> usize {
        self.header.rows as usize
    }

    /// When the event of a row happened.
    #[inline]
    pub fn time(&self, row: usize) -> Option<Timestamp> {
        (row < self.len()).then(|| time_of(self.events, self.events.event_of(row)))
    }

    /// A row, looked at in place.
    #[inline]
    pub fn get(&self, row: usize) -> Option<RowView<'a>> {
        (row < self.len()).then(|| self.build(self.events.event_of(row), row))
    }

    /// A row that shares the buffers of the chunk.
    pub fn shared(&self, row: usize) -> Option<Row> {
        let view = self.get(row)?;
        let event = self.events.event_of(row);
        let key = RowKey {
            event_time: view.event_time,
            event_id: EventId::from_stored(self.ids.shared(event)),
            item_key: ItemKey::from_stored(self.item_keys.shared(row)),
        };
        let (value, metadata) = (self.values.shared(row), self.metadata.shared(row));
        Some(Row { key, write_time: view.write_time, value, metadata })
    }

    /// Rows of a range of indices, newest first; `rev` for oldest first. What the range has too much is left out.
    pub fn iter(&self, range: Range<usize>) -> impl DoubleEndedIterator<Item = RowView<'a>> + use<'a> {
        let rows = *self;
        (range.start..range.end.min(rows.len())).filter_map(move |row| rows.get(row))
    }

    /// Indices of the rows in an interval.
    pub fn inside(&self, interval: Interval) -> Range<usize> {
        let times = self.events.times();
        let first_row = |event: usize| self.events.rows(event).map_or(self.len(), |rows| rows.start);
        let start = first_row(times.partition_point(|time| *time >= interval.end()));
        let end = first_row(times.partition_point(|time| *time >= interval.start()));
        start..end.max(start)
    }

    /// Index of the first row, newest first, that is `key` or older: newest first a read goes on at it, or behind it where it is
    /// `key`; oldest first it ends before it.
    pub fn at_or_older(&self, key: &RowKey) -> usize {
        self.first(|row| against(row, key) != Ordering::Greater)
    }

    /// Index of the first row, newest first, that is older than `key`: newest first a read that has seen `key` goes on here.
    pub fn older(&self, key: &RowKey) -> usize {
        self.first(|row| against(row, key) == Ordering::Less)
    }

    fn first(&self, holds: impl Fn(&RowView<'_>) -> bool) -> usize {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from + (to - from) / 2;
            if self.get(middle).is_some_and(|row| holds(&row)) { to = middle } else { from = middle + 1 }
        }
        from
    }
}

#[inline]
fn time_of(events: &Events, event: usize) -> Timestamp {
    let nanos = events.times().get(event).copied().unwrap_or_default();
    // Times lie between those of the header, so all are in range.
    Timestamp::checked(nanos).unwrap_or(Timestamp::MIN)
}

fn against(row: &RowView<'_>, key: &RowKey) -> Ordering {
    let time = row.event_time.cmp(&key.event_time);
    time.then_with(|| row.event_id.cmp(key.event_id.as_bytes()))
        .then_with(|| row.item_key.cmp(key.item_key.as_bytes()))
}
