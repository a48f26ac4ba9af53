//! A page as its message, written straight from what was read into the buffer that is sent.
//!
//! Making messages first cost more than reading: a string per id and key, a list per event, and two walks over all of it. The
//! events are checked and measured once and written once, here; the few fields around them are an ordinary message.

use bytes::BufMut;
use engine::{Error, Event, Reason, Result};
use model::RowView;
use prost::bytes::Buf;
use prost::encoding::{DecodeContext, WireType};
use prost::{DecodeError, Message};

use crate::v1;

const NANOS_PER_SECOND: i64 = 1_000_000_000;
/// Bytes of what an event has beside its values, about.
const SMALL_BYTES_ABOUT: usize = 512;

/// Tags: the number of a field and how it is written.
const RECORDS: u8 = 0x0A;
const SERIES: u8 = 0x0A;
const TIME: u8 = 0x12;
const EVENT_ID: u8 = 0x1A;
const ITEMS: u8 = 0x22;
const CONTINUES: u8 = 0x28;
const SECONDS: u8 = 0x08;
const NANOS: u8 = 0x10;
const KEY: u8 = 0x0A;
const VALUE: u8 = 0x12;
const METADATA: u8 = 0x1A;

/// A `ReadEventRecordsResponse` whose records are events as they were read. Only for sending: it decodes like the message without
/// them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageToSend {
    /// The field `records`. All of their text is UTF-8, and their metadata can be read.
    events: Vec<Event>,
    /// What they take on the wire, every one with its tag.
    events_bytes: usize,
    /// All other fields.
    rest: v1::ReadEventRecordsResponse,
}

impl PageToSend {
    /// The events, and the fields around them.
    pub(super) fn new(events: Vec<Event>, rest: v1::ReadEventRecordsResponse) -> Result<Self> {
        let mut events_bytes = 0;
        for event in events.iter().filter_map(InRows::of) {
            event.check()?;
            let bytes = Measured::of(&event).bytes;
            events_bytes += 1 + varint_bytes(bytes) + bytes;
        }
        Ok(Self { events, events_bytes, rest })
    }
}

impl Message for PageToSend {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        let mut small = Vec::with_capacity(SMALL_BYTES_ABOUT);
        self.events.iter().filter_map(InRows::of).for_each(|event| put_event(buf, &mut small, &event));
        self.rest.encode_raw(buf);
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        context: DecodeContext,
    ) -> std::result::Result<(), DecodeError> {
        self.rest.merge_field(tag, wire_type, buf, context)
    }

    fn encoded_len(&self) -> usize {
        self.events_bytes + self.rest.encoded_len()
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}

impl prost::Name for PageToSend {
    const NAME: &'static str = v1::ReadEventRecordsResponse::NAME;
    const PACKAGE: &'static str = v1::ReadEventRecordsResponse::PACKAGE;
}

/// An event with its first row, which is all that most have: to find a row again costs more than what is done with it.
struct InRows<'a> {
    event: &'a Event,
    first: RowView<'a>,
}

impl<'a> InRows<'a> {
    fn of(event: &'a Event) -> Option<Self> {
        Some(Self { event, first: event.row(0)? })
    }

    /// Lets `look` look at each row. Not an iterator: those that are chained cost more than what is done with most rows.
    #[inline]
    fn each(&self, mut look: impl FnMut(&RowView<'a>)) {
        look(&self.first);
        (1..self.event.item_count()).filter_map(|index| self.event.row(index)).for_each(|row| look(&row));
    }

    /// Stored text was text when it was written, and metadata could be read.
    fn check(&self) -> Result<()> {
        text("event id", self.first.event_id)?;
        check_item(&self.first)?;
        (1..self.event.item_count())
            .filter_map(|index| self.event.row(index))
            .try_for_each(|row| check_item(&row))
    }
}

fn check_item(row: &RowView<'_>) -> Result<()> {
    text("item key", row.item_key)?;
    if !row.metadata.is_empty() {
        engine::metadata::decode(row.metadata)?;
    }
    Ok(())
}

/// What an event takes. Found out before it is written and again then, which is cheaper than to keep it: most events have one
/// item and no metadata.
struct Measured {
    seconds: u64,
    nanos: u64,
    time_bytes: usize,
    bytes: usize,
}

impl Measured {
    fn of(in_rows: &InRows<'_>) -> Self {
        let InRows { event, first } = in_rows;
        let mut items_bytes = 0;
        in_rows.each(|row| {
            let bytes = item_bytes(row, metadata_of(row).as_ref());
            items_bytes += 1 + varint_bytes(bytes) + bytes;
        });
        let nanos = event.time.nanos();
        // Times are from 1970 on, so neither is negative.
        let (seconds, nanos) = (
            nanos.div_euclid(NANOS_PER_SECOND).unsigned_abs(),
            nanos.rem_euclid(NANOS_PER_SECOND).unsigned_abs(),
        );
        let time_bytes = number_bytes(seconds) + number_bytes(nanos);
        let bytes = field_bytes(event.series.as_str().len())
            + 1
            + varint_bytes(time_bytes)
            + time_bytes
            + field_bytes(first.event_id.len())
            + items_bytes
            + if event.continues { 2 } else { 0 };
        Self { seconds, nanos, time_bytes, bytes }
    }
}

/// Writes an event. What is small is put together in `small` first, which is empty before and after: a buffer that is sent takes each
/// piece with some ceremony.
fn put_event(out: &mut impl BufMut, small: &mut Vec<u8>, in_rows: &InRows<'_>) {
    let Measured { seconds, nanos, time_bytes, bytes } = Measured::of(in_rows);
    let InRows { event, first } = in_rows;
    small.push(RECORDS);
    put_varint(small, bytes as u64);
    put_field(small, SERIES, event.series.as_str().as_bytes());
    small.push(TIME);
    put_varint(small, time_bytes as u64);
    put_number(small, SECONDS, seconds);
    put_number(small, NANOS, nanos);
    put_field(small, EVENT_ID, first.event_id);
    in_rows.each(|row| put_item(out, small, row));
    if event.continues {
        small.extend([CONTINUES, 1]);
    }
    out.put_slice(small);
    small.clear();
}

type Metadata = std::collections::BTreeMap<String, String>;

/// The metadata of an item that was checked; none for most.
fn metadata_of(row: &RowView<'_>) -> Option<Metadata> {
    (!row.metadata.is_empty()).then(|| engine::metadata::decode(row.metadata).unwrap_or_default())
}

#[inline]
fn item_bytes(row: &RowView<'_>, metadata: Option<&Metadata>) -> usize {
    let pairs = metadata.into_iter().flatten().map(pair_bytes).map(|bytes| 1 + varint_bytes(bytes) + bytes);
    field_bytes(row.item_key.len()) + field_bytes(row.value.len()) + pairs.sum::<usize>()
}

#[inline]
fn put_item(out: &mut impl BufMut, small: &mut Vec<u8>, row: &RowView<'_>) {
    let metadata = metadata_of(row);
    small.push(ITEMS);
    put_varint(small, item_bytes(row, metadata.as_ref()) as u64);
    put_field(small, KEY, row.item_key);
    if !row.value.is_empty() {
        small.push(VALUE);
        put_varint(small, row.value.len() as u64);
        out.put_slice(small);
        small.clear();
        out.put_slice(row.value);
    }
    for (key, value) in metadata.iter().flatten() {
        small.push(METADATA);
        put_varint(small, pair_bytes((key, value)) as u64);
        put_field(small, KEY, key.as_bytes());
        put_field(small, VALUE, value.as_bytes());
    }
}

fn pair_bytes((key, value): (&String, &String)) -> usize {
    field_bytes(key.len()) + field_bytes(value.len())
}

/// Bytes of a field with text or bytes; nothing where it is empty.
const fn field_bytes(length: usize) -> usize {
    if length == 0 { 0 } else { 1 + varint_bytes(length) + length }
}

fn put_field(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    if !bytes.is_empty() {
        out.push(tag);
        put_varint(out, bytes.len() as u64);
        out.extend_from_slice(bytes);
    }
}

fn number_bytes(number: u64) -> usize {
    if number == 0 { 0 } else { 1 + prost::encoding::encoded_len_varint(number) }
}

fn put_number(out: &mut Vec<u8>, tag: u8, number: u64) {
    if number != 0 {
        out.push(tag);
        put_varint(out, number);
    }
}

const fn varint_bytes(length: usize) -> usize {
    prost::encoding::encoded_len_varint(length as u64)
}

#[inline]
fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        let [low, ..] = number.to_le_bytes();
        out.push(low | 0x80);
        number >>= 7;
    }
    let [low, ..] = number.to_le_bytes();
    out.push(low);
}

fn text(what: &str, bytes: &[u8]) -> Result<()> {
    // Nearly all is ASCII, which is found out many bytes at a time.
    if bytes.is_ascii() || std::str::from_utf8(bytes).is_ok() {
        return Ok(());
    }
    let message = format!("a stored {what} is not UTF-8: the record was damaged; restore it from a copy");
    Err(Error::new(Reason::ChecksumMismatch, message))
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use model::{RowsBuilder, SeriesId, Timestamp};
    use proptest::prelude::{Just, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};

    use super::*;

    fn items() -> impl Strategy<Value = (String, Vec<u8>, BTreeMap<String, String>)> {
        let pairs = prop::collection::btree_map("\\PC{0,5}", "\\PC{0,200}", 0..3);
        ("\\PC{1,20}", prop::collection::vec(any::<u8>(), 0..300), pairs)
    }

    pub(in super::super) fn events() -> impl Strategy<Value = v1::Event> {
        let time = prop_oneof![Just((0, 0)), Just((0, 5)), (0_i64..9_000_000_000, 0_i32..1_000_000_000)];
        let items = prop::collection::vec(items(), 1..4);
        ("\\PC{1,50}", time, "\\PC{0,40}", items, any::<bool>()).prop_map(
            |(series, time, id, items, continues)| {
                let item = |(key, value, metadata): (String, Vec<u8>, _)| v1::EventItem {
                    event_item_key: key,
                    event_item_value: value.into(),
                    value_metadata: metadata,
                };
                v1::Event {
                    time_series_id: series,
                    event_time: Some(prost_types::Timestamp { seconds: time.0, nanos: time.1 }),
                    event_id: id,
                    event_items: items.into_iter().map(item).collect(),
                    continues,
                }
            },
        )
    }

    fn read(wire: &v1::Event) -> Event {
        let time = wire.event_time.unwrap();
        let mut rows = RowsBuilder::default();
        for item in &wire.event_items {
            rows.push(RowView {
                event_time: Timestamp::from_parts(time.seconds, time.nanos).unwrap(),
                event_id: wire.event_id.as_bytes(),
                item_key: item.event_item_key.as_bytes(),
                write_time: 0,
                value: &item.event_item_value,
                metadata: &engine::metadata::encode(&item.value_metadata).unwrap(),
            });
        }
        Event::new(SeriesId::new(&wire.time_series_id).unwrap(), rows, wire.continues).unwrap()
    }

    proptest! {
        /// Byte for byte what the ordinary message would be.
        #[test]
        fn a_page_is_encoded_as_its_message(records in prop::collection::vec(events(), 0..5), token in "[a-z]{0,9}") {
            let rest = v1::ReadEventRecordsResponse { next_page_token: token, ..Default::default() };
            let page = PageToSend::new(records.iter().map(read).collect(), rest.clone()).unwrap();
            let message = v1::ReadEventRecordsResponse { records, ..rest };
            prop_assert_eq!(page.encoded_len(), message.encoded_len());
            prop_assert_eq!(page.encode_to_vec(), message.encode_to_vec());
        }
    }
}
