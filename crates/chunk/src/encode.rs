//! Rows as one chunk. The caller has decided which rows; here they become columns.

use std::collections::BTreeMap;

use bytes::Bytes;
use model::id::{EVENT_ID_BYTES_MAX, ITEM_KEY_BYTES_MAX};
use model::{Row, RowKey, RowView};
use xxhash_rust::xxh3::xxh3_64;

use crate::codec::Compressor;
use crate::column::{Column, Columns, LENGTHS_BYTES};
use crate::varint::{put, zigzag};
use crate::{Codec, Error, Header, Limits, id};

/// A chunk that is ready to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// What is known without the body.
    pub header: Header,
    /// The greatest write time of its rows.
    pub write_time: i64,
    /// The body as it is stored.
    pub body: Bytes,
}

impl Packed {
    /// The stored row: keyed by the oldest event, the header as metadata, the body as value.
    pub fn to_row(&self) -> Row {
        Row {
            key: self.header.stored_key(),
            write_time: self.write_time,
            value: self.body.clone(),
            metadata: self.header.encode(),
        }
    }
}

/// Refuses what no chunk can hold.
pub(crate) fn fits(row: &RowView<'_>) -> Result<(), Error> {
    let parts = [
        ("bytes in an event id", row.event_id, EVENT_ID_BYTES_MAX),
        ("bytes in an item key", row.item_key, ITEM_KEY_BYTES_MAX),
    ];
    for (what, text, max) in parts {
        if text.is_empty() || std::str::from_utf8(text).is_err() {
            return Err(Error::Malformed("an id or key is empty or no text"));
        }
        if text.len() > max {
            return Err(Error::TooLarge { what, found: text.len() as u64, max: max as u64 });
        }
    }
    Ok(())
}

/// Makes chunks of rows; keeps its room from one to the next.
pub(crate) struct Encoder {
    compressor: Compressor,
    columns: Columns,
    body: Vec<u8>,
}

impl Encoder {
    pub(crate) fn new(codec: Codec) -> Self {
        Self { compressor: Compressor::new(codec), columns: Columns::default(), body: Vec::new() }
    }

    /// Packs rows, newest first and not none.
    pub(crate) fn encode<'a>(
        &mut self,
        rows: impl Iterator<Item = RowView<'a>> + Clone,
    ) -> Result<Packed, Error> {
        let (mut count, mut logical_bytes, mut write_time) = (0_u64, 0, i64::MIN);
        let mut ends: Option<(RowView<'a>, RowView<'a>)> = None;
        for row in rows.clone() {
            count += 1;
            logical_bytes += row.logical_bytes();
            write_time = write_time.max(row.write_time);
            ends = Some((ends.map_or(row, |(newest, _)| newest), row));
        }
        let Some((newest, oldest)) = ends else { return Err(Error::Malformed("it has no rows")) };
        // No column but values has more bytes than this allows for a row; so lengths fit in 32 bits.
        let max = LENGTHS_BYTES as u64 + logical_bytes + 32 * count;
        Limits::default().check(max, count)?;
        let events = fill(rows, &mut self.columns);
        self.columns.join(&mut self.body);
        let number = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
        let (codec, body) = self.compressor.compress(&self.body);
        let key = |row: RowView<'_>| -> RowKey { row.to_row().key };
        let header = Header {
            codec,
            rows: u32::try_from(count).unwrap_or(u32::MAX),
            events,
            logical_bytes,
            raw_bytes: number(self.body.len()),
            stored_bytes: number(body.len()),
            newest: key(newest),
            oldest: key(oldest),
            body_checksum: xxh3_64(&body),
        };
        Ok(Packed { header, write_time, body })
    }
}

/// Writes the columns; how many events they have.
fn fill<'a>(rows: impl Iterator<Item = RowView<'a>>, to: &mut Columns) -> u32 {
    to.clear();
    let (mut item_keys, mut metadata) = (Known::default(), Known::default());
    let mut before: Option<RowView<'a>> = None;
    let (mut events, mut items) = (0, 0);
    for row in rows {
        let same = before
            .is_some_and(|before| (before.event_time, before.event_id) == (row.event_time, row.event_id));
        if !same {
            if items > 0 {
                put(items, to.of(Column::ItemCounts));
            }
            (events, items) = (events + 1, 0);
            let newer = before.map_or(row.event_time, |before| before.event_time);
            put(newer.nanos().abs_diff(row.event_time.nanos()), to.of(Column::Times));
            event_id(row.event_id, to);
        }
        items += 1;
        item_keys.put(row.item_key, to, (Column::ItemKeys, Column::ItemKeyIndex));
        metadata.put(row.metadata, to, (Column::Metadata, Column::MetadataIndex));
        put(row.value.len() as u64, to.of(Column::ValueLengths));
        let written = before.map_or(0, |before| before.write_time);
        put(zigzag(row.write_time.wrapping_sub(written)), to.of(Column::WriteTimes));
        to.of(Column::Values).extend_from_slice(row.value);
        before = Some(row);
    }
    put(items, to.of(Column::ItemCounts));
    events
}

fn event_id(event_id: &[u8], to: &mut Columns) {
    match id::pack(event_id) {
        Some(packed) => {
            put(0, to.of(Column::IdLengths));
            to.of(Column::IdBytes).extend_from_slice(&packed);
        }
        None => {
            put(event_id.len() as u64, to.of(Column::IdLengths));
            to.of(Column::IdBytes).extend_from_slice(event_id);
        }
    }
}

/// The entries of a dictionary that were met so far.
#[derive(Default)]
struct Known<'a> {
    entries: BTreeMap<&'a [u8], u64>,
    /// The one of the row before, which most rows have too.
    last: Option<(&'a [u8], u64)>,
}

impl<'a> Known<'a> {
    /// Writes which entry a row has, and the entry itself when it is met first.
    fn put(&mut self, entry: &'a [u8], to: &mut Columns, (entries, index): (Column, Column)) {
        let found = match self.last {
            Some((last, found)) if last == entry => found,
            _ => self.find(entry, to.of(entries)),
        };
        self.last = Some((entry, found));
        put(found, to.of(index));
    }

    fn find(&mut self, entry: &'a [u8], entries: &mut Vec<u8>) -> u64 {
        let next = self.entries.len() as u64;
        let found = *self.entries.entry(entry).or_insert(next);
        if found == next {
            put(entry.len() as u64, entries);
            entries.extend_from_slice(entry);
        }
        found
    }
}
