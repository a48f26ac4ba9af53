//! Many rows in a buffer: how a scan hands over what it read.
//!
//! A page of a scan has thousands of rows. As [`Row`]s each would own four reference-counted slices and keep the
//! engine's blocks alive; here their bytes lie one after another in one buffer and a small entry tells where. What comes in one
//! buffer anyway, as an answer of Cassandra, stays there ([`RowsInPlace`]). Reading
//! goes through [`RowView`], which borrows; whoever keeps a row asks for a [`Row`], which shares the buffer.

use bytes::Bytes;

use crate::row::logical_bytes;
use crate::{EventId, ItemKey, Row, RowKey, Timestamp};

/// Where one row lies: event id, item key, metadata and value, in this order from `start`, with the gap of its part between them.
#[derive(Clone, Copy, Debug)]
struct Entry {
    event_time: Timestamp,
    write_time: i64,
    start: usize,
    event_id_bytes: u32,
    item_key_bytes: u32,
    metadata_bytes: u32,
    value_bytes: u32,
}

impl Entry {
    fn item_key_at(&self, gap: usize) -> usize {
        self.start + self.event_id_bytes as usize + gap
    }

    fn metadata_at(&self, gap: usize) -> usize {
        self.item_key_at(gap) + self.item_key_bytes as usize + gap
    }

    fn value_at(&self, gap: usize) -> usize {
        self.metadata_at(gap) + self.metadata_bytes as usize + gap
    }

    fn logical_bytes(&self) -> u64 {
        let parts = [self.event_id_bytes, self.item_key_bytes, self.metadata_bytes, self.value_bytes];
        size_of::<i64>() as u64 + parts.into_iter().map(u64::from).sum::<u64>()
    }
}

/// A buffer, and from which row on rows lie in it.
#[derive(Clone)]
struct Part {
    bytes: Bytes,
    first: usize,
    /// Bytes between the columns of a row that are not its own.
    gap: usize,
}

/// A row that is looked at in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowView<'a> {
    /// When the event happened.
    pub event_time: Timestamp,
    /// Which event.
    pub event_id: &'a [u8],
    /// Which item of it.
    pub item_key: &'a [u8],
    /// When it was written, in microseconds since 1970.
    pub write_time: i64,
    /// The item's value.
    pub value: &'a [u8],
    /// The item's encoded metadata.
    pub metadata: &'a [u8],
}

impl RowView<'_> {
    /// The row's size; see [`Row::logical_bytes`].
    pub fn logical_bytes(&self) -> u64 {
        logical_bytes([self.event_id, self.item_key, self.value, self.metadata])
    }

    /// A row of its own, with copied bytes.
    pub fn to_row(&self) -> Row {
        Row {
            key: RowKey {
                event_time: self.event_time,
                event_id: EventId::from_stored(Bytes::copy_from_slice(self.event_id)),
                item_key: ItemKey::from_stored(Bytes::copy_from_slice(self.item_key)),
            },
            write_time: self.write_time,
            value: Bytes::copy_from_slice(self.value),
            metadata: Bytes::copy_from_slice(self.metadata),
        }
    }
}

impl Row {
    /// The row, looked at in place.
    pub fn view(&self) -> RowView<'_> {
        RowView {
            event_time: self.key.event_time,
            event_id: self.key.event_id.as_bytes(),
            item_key: self.key.item_key.as_bytes(),
            write_time: self.write_time,
            value: &self.value,
            metadata: &self.metadata,
        }
    }
}

/// Rows in order, in one buffer or a few.
#[derive(Clone, Default)]
pub struct Rows {
    parts: Vec<Part>,
    entries: Vec<Entry>,
}

impl Rows {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The part that a row lies in.
    #[inline]
    fn part(&self, index: usize) -> (&Bytes, usize) {
        static NONE: Bytes = Bytes::new();
        let part = match self.parts.as_slice() {
            [only] => Some(only),
            parts => parts.get(parts.partition_point(|part| part.first <= index).saturating_sub(1)),
        };
        part.map_or((&NONE, 0), |part| (&part.bytes, part.gap))
    }

    /// All rows in order, looked at in place.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = RowView<'_>> + ExactSizeIterator {
        self.entries.iter().enumerate().map(|(index, entry)| {
            let (bytes, gap) = self.part(index);
            view(bytes, gap, entry)
        })
    }

    /// The row at `index`, looked at in place.
    #[inline]
    pub fn view(&self, index: usize) -> Option<RowView<'_>> {
        let (bytes, gap) = self.part(index);
        self.entries.get(index).map(|entry| view(bytes, gap, entry))
    }

    /// When the event of the row at `index` happened.
    #[inline]
    pub fn time(&self, index: usize) -> Option<Timestamp> {
        self.entries.get(index).map(|entry| entry.event_time)
    }

    /// The row at `index`, sharing the buffer.
    pub fn get(&self, index: usize) -> Option<Row> {
        let (row, (bytes, _)) = (self.view(index)?, self.part(index));
        let shared = |part: &[u8]| if part.is_empty() { Bytes::new() } else { bytes.slice_ref(part) };
        Some(Row {
            key: RowKey {
                event_time: row.event_time,
                event_id: EventId::from_stored(shared(row.event_id)),
                item_key: ItemKey::from_stored(shared(row.item_key)),
            },
            write_time: row.write_time,
            value: shared(row.value),
            metadata: shared(row.metadata),
        })
    }

    /// The last row, sharing the buffer.
    pub fn last(&self) -> Option<Row> {
        self.get(self.len().checked_sub(1)?)
    }

    /// All rows, each sharing the buffer.
    pub fn to_vec(&self) -> Vec<Row> {
        (0..self.len()).filter_map(|index| self.get(index)).collect()
    }
}

impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Rows {}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a> FromIterator<&'a Row> for Rows {
    fn from_iter<T: IntoIterator<Item = &'a Row>>(rows: T) -> Self {
        let mut builder = RowsBuilder::default();
        rows.into_iter().for_each(|row| builder.push(row.view()));
        builder.finish()
    }
}

/// Rows that are being collected.
#[derive(Clone, Default)]
pub struct RowsBuilder {
    buffer: Vec<u8>,
    entries: Vec<Entry>,
    logical_bytes: u64,
}

impl RowsBuilder {
    /// A builder with room for so many bytes and rows; it grows if they do not suffice.
    pub fn with_capacity(bytes: usize, rows: usize) -> Self {
        Self { buffer: Vec::with_capacity(bytes), entries: Vec::with_capacity(rows), logical_bytes: 0 }
    }

    /// How many rows were collected.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The rows so far, looked at in place.
    pub fn iter(&self) -> impl Iterator<Item = RowView<'_>> {
        self.entries.iter().map(|entry| view(&self.buffer, 0, entry))
    }

    /// Their logical bytes.
    #[inline]
    pub fn logical_bytes(&self) -> u64 {
        self.logical_bytes
    }

    /// The row at `index`, looked at in place.
    #[inline]
    pub fn view(&self, index: usize) -> Option<RowView<'_>> {
        self.entries.get(index).map(|entry| view(&self.buffer, 0, entry))
    }

    /// Whether the last row has this time and these ids: then `row` is another write of it.
    #[inline]
    pub fn last_is(&self, row: &RowView<'_>) -> bool {
        let Some(entry) = self.entries.last() else { return false };
        if entry.event_time != row.event_time {
            return false;
        }
        let last = view(&self.buffer, 0, entry);
        last.event_id == row.event_id && last.item_key == row.item_key
    }

    /// Appends a row.
    #[inline]
    pub fn push(&mut self, row: RowView<'_>) {
        // Every part is limited to 1 MiB long before 32 bits end.
        let bytes = |part: &[u8]| u32::try_from(part.len()).unwrap_or(u32::MAX);
        let start = self.buffer.len();
        for part in [row.event_id, row.item_key, row.metadata, row.value] {
            self.buffer.extend_from_slice(part);
        }
        let entry = Entry {
            event_time: row.event_time,
            write_time: row.write_time,
            start,
            event_id_bytes: bytes(row.event_id),
            item_key_bytes: bytes(row.item_key),
            metadata_bytes: bytes(row.metadata),
            value_bytes: bytes(row.value),
        };
        self.logical_bytes += entry.logical_bytes();
        self.entries.push(entry);
    }

    /// Merges another write of the last row into it; see [`Row::merge`].
    pub fn merge_into_last(&mut self, other: RowView<'_>) {
        let Some(entry) = self.entries.pop() else {
            return self.push(other);
        };
        let last = view(&self.buffer, 0, &entry).to_row();
        self.logical_bytes -= last.logical_bytes();
        self.buffer.truncate(entry.start);
        self.push(last.merge(other.to_row()).view());
    }

    /// Forgets all rows and keeps the room.
    pub fn clear(&mut self) {
        self.buffer.clear();
        self.entries.clear();
        self.logical_bytes = 0;
    }

    /// The rows collected.
    pub fn finish(self) -> Rows {
        let part = Part { bytes: self.buffer.into(), first: 0, gap: 0 };
        Rows { parts: vec![part], entries: self.entries }
    }
}

#[inline]
fn view<'a>(buffer: &'a [u8], gap: usize, entry: &Entry) -> RowView<'a> {
    let part = |from: usize, bytes: u32| buffer.get(from..from + bytes as usize).unwrap_or_default();
    RowView {
        event_time: entry.event_time,
        event_id: part(entry.start, entry.event_id_bytes),
        item_key: part(entry.item_key_at(gap), entry.item_key_bytes),
        write_time: entry.write_time,
        value: part(entry.value_at(gap), entry.value_bytes),
        metadata: part(entry.metadata_at(gap), entry.metadata_bytes),
    }
}

/// Where a row lies in a buffer that somebody else wrote: event id, item key, metadata and value follow each other from `start`,
/// with the same gap between any two.
#[derive(Clone, Copy, Debug)]
pub struct RowPlace {
    /// When the event happened.
    pub event_time: Timestamp,
    /// When it was written, in microseconds since 1970.
    pub write_time: i64,
    /// Where its event id begins.
    pub start: usize,
    /// Lengths of event id, item key, metadata and value.
    pub lengths: [u32; 4],
}

/// Rows that are left where they came, in one buffer after the other.
#[derive(Default)]
pub struct RowsInPlace {
    rows: Rows,
    logical_bytes: u64,
}

impl RowsInPlace {
    /// The rows that follow lie in this buffer, about so many.
    pub fn begin(&mut self, bytes: Bytes, gap: usize, rows: usize) {
        self.rows.entries.reserve(rows);
        self.rows.parts.push(Part { bytes, first: self.rows.entries.len(), gap });
    }

    /// Appends a row of the buffer that was begun last.
    #[inline]
    pub fn push(&mut self, row: RowPlace) {
        let [event_id_bytes, item_key_bytes, metadata_bytes, value_bytes] = row.lengths;
        let RowPlace { event_time, write_time, start, .. } = row;
        let entry = Entry {
            event_time,
            write_time,
            start,
            event_id_bytes,
            item_key_bytes,
            metadata_bytes,
            value_bytes,
        };
        self.logical_bytes += entry.logical_bytes();
        self.rows.entries.push(entry);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Their logical bytes.
    pub const fn logical_bytes(&self) -> u64 {
        self.logical_bytes
    }

    /// The rows.
    pub fn finish(self) -> Rows {
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, proptest};

    use super::*;

    /// The same rows in buffers of so many of them, with gaps.
    fn in_place(rows: &[Row], in_buffer: usize, gap: usize) -> Rows {
        let mut collected = RowsInPlace::default();
        for rows in rows.chunks(in_buffer) {
            let (mut buffer, mut places) = (b"before".to_vec(), Vec::new());
            for row in rows {
                let RowView { event_time, event_id, item_key, write_time, value, metadata } = row.view();
                let parts = [event_id, item_key, metadata, value];
                let lengths = parts.map(|part| u32::try_from(part.len()).unwrap());
                places.push(RowPlace { event_time, write_time, start: buffer.len(), lengths });
                for part in parts {
                    buffer.extend_from_slice(part);
                    buffer.resize(buffer.len() + gap, b'-');
                }
            }
            collected.begin(buffer.into(), gap, rows.len());
            places.into_iter().for_each(|place| collected.push(place));
        }
        assert_eq!(collected.len(), rows.len());
        assert_eq!(collected.logical_bytes(), rows.iter().map(Row::logical_bytes).sum::<u64>());
        collected.finish()
    }

    fn any_rows() -> impl Strategy<Value = Vec<Row>> {
        let bytes = || proptest::collection::vec(any::<u8>(), 0..5);
        let row = (0_i64..9, "[ab]{1,3}", "[ab]{1,3}", any::<i64>(), bytes(), bytes());
        proptest::collection::vec(row, 0..8).prop_map(|rows| {
            let row = |(time, event_id, item_key, write_time, value, metadata): (
                _,
                String,
                String,
                _,
                Vec<u8>,
                Vec<u8>,
            )| Row {
                key: RowKey {
                    event_time: Timestamp::from_nanos(time).unwrap(),
                    event_id: EventId::new(event_id).unwrap(),
                    item_key: ItemKey::new(item_key).unwrap(),
                },
                write_time,
                value: value.into(),
                metadata: metadata.into(),
            };
            rows.into_iter().map(row).collect()
        })
    }

    proptest! {
        #[test]
        fn rows_come_out_as_they_went_in(rows in any_rows()) {
            let collected: Rows = rows.iter().collect();
            prop_assert_eq!(collected.len(), rows.len());
            prop_assert_eq!(&collected.to_vec(), &rows);
            prop_assert_eq!(collected.view(0).map(|view| view.to_row()), rows.first().cloned());
            prop_assert_eq!(collected.iter().map(|view| view.to_row()).collect::<Vec<Row>>(), rows.clone());
            prop_assert_eq!(collected.last(), rows.last().cloned());
            let sizes: u64 = collected.iter().map(|view| view.logical_bytes()).sum();
            prop_assert_eq!(sizes, rows.iter().map(Row::logical_bytes).sum::<u64>());
        }

        #[test]
        fn rows_left_in_place_are_the_same(rows in any_rows(), in_buffer in 1_usize..4, gap in 0_usize..5) {
            let collected = in_place(&rows, in_buffer, gap);
            prop_assert_eq!(&collected.to_vec(), &rows);
            prop_assert_eq!(&collected, &rows.iter().collect());
            let backwards: Vec<Row> = collected.iter().rev().map(|view| view.to_row()).collect();
            prop_assert!(backwards.iter().eq(rows.iter().rev()));
            let times: Vec<_> = (0..=rows.len()).map(|index| collected.time(index)).collect();
            let expect: Vec<_> = rows.iter().map(|row| Some(row.key.event_time)).chain([None]).collect();
            prop_assert_eq!(times, expect);
        }

        #[test]
        fn merging_into_the_last_row_merges_rows(rows in any_rows(), write_time in any::<i64>(), value in any::<[u8; 2]>()) {
            let Some(last) = rows.last().cloned() else { return Ok(()) };
            let other = Row { write_time, value: Bytes::copy_from_slice(&value), ..last.clone() };
            let mut builder = RowsBuilder::default();
            rows.iter().for_each(|row| builder.push(row.view()));
            prop_assert_eq!(builder.view(rows.len() - 1).map(|view| view.to_row()), Some(last.clone()));
            builder.merge_into_last(other.view());
            let bytes = builder.logical_bytes();
            let merged = builder.finish();
            prop_assert_eq!(merged.last(), Some(last.merge(other)));
            prop_assert_eq!(merged.len(), rows.len());
            prop_assert_eq!(bytes, merged.iter().map(|view| view.logical_bytes()).sum::<u64>());
        }
    }
}
